#include "http/tls/tls_signature.hpp"

#include <openssl/evp.h>

#include <memory>

#include "core/check.hpp"

namespace tenure::http::ed25519 {
namespace {

struct free_key {
  void operator()(EVP_PKEY* one) const { ::EVP_PKEY_free(one); }
};
struct free_context {
  void operator()(EVP_MD_CTX* one) const { ::EVP_MD_CTX_free(one); }
};
using key = std::unique_ptr<EVP_PKEY, free_key>;
using context = std::unique_ptr<EVP_MD_CTX, free_context>;

const unsigned char* bytes_of(std::string_view text) {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): bytes are bytes
  return reinterpret_cast<const unsigned char*>(text.data());
}

unsigned char* bytes_of(std::string& text) {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): bytes are bytes
  return reinterpret_cast<unsigned char*>(text.data());
}

key private_key(std::string_view seed) {
  TENURE_CHECK(seed.size() == seed_bytes);
  return key(
      ::EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nullptr, bytes_of(seed), seed.size()));
}

}  // namespace

std::string public_key(std::string_view seed) {
  const key ours = private_key(seed);
  std::string out(public_key_bytes, '\0');
  std::size_t size = out.size();
  const bool is_made =
      ours != nullptr && ::EVP_PKEY_get_raw_public_key(ours.get(), bytes_of(out), &size) == 1;
  return is_made && size == out.size() ? out : std::string();
}

std::string sign(std::string_view seed, std::string_view message) {
  const key ours = private_key(seed);
  const context with(::EVP_MD_CTX_new());
  std::string out(signature_bytes, '\0');
  std::size_t size = out.size();
  const bool is_made =
      ours != nullptr && with != nullptr &&
      ::EVP_DigestSignInit(with.get(), nullptr, nullptr, nullptr, ours.get()) == 1 &&
      ::EVP_DigestSign(with.get(), bytes_of(out), &size, bytes_of(message), message.size()) == 1;
  return is_made && size == out.size() ? out : std::string();
}

bool is_signed(std::string_view public_key, std::string_view message, std::string_view signature) {
  if (public_key.size() != public_key_bytes || signature.size() != signature_bytes) return false;
  const key theirs(::EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, bytes_of(public_key),
                                                 public_key.size()));
  const context with(::EVP_MD_CTX_new());
  return theirs != nullptr && with != nullptr &&
         ::EVP_DigestVerifyInit(with.get(), nullptr, nullptr, nullptr, theirs.get()) == 1 &&
         ::EVP_DigestVerify(with.get(), bytes_of(signature), signature.size(), bytes_of(message),
                            message.size()) == 1;
}

}  // namespace tenure::http::ed25519
