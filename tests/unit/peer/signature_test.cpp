#include <gtest/gtest.h>

#include "http/tls/tls_signature.hpp"

namespace tenure::http::ed25519 {
namespace {

const std::string seed(seed_bytes, '\x2a');

TEST(Signature, IsThatOfTheStandard) {
  // RFC 8032, 7.1, test 1: of an empty message.
  const std::string of_rfc =
      "\x9d\x61\xb1\x9d\xef\xfd\x5a\x60\xba\x84\x4a\xf4\x92\xec\x2c\xc4"
      "\x44\x49\xc5\x69\x7b\x32\x69\x19\x70\x3b\xac\x03\x1c\xae\x7f\x60";
  const std::string key =
      "\xd7\x5a\x98\x01\x82\xb1\x0a\xb7\xd5\x4b\xfe\xd3\xc9\x64\x07\x3a"
      "\x0e\xe1\x72\xf3\xda\xa6\x23\x25\xaf\x02\x1a\x68\xf7\x07\x51\x1a";
  EXPECT_EQ(public_key(of_rfc), key);
  EXPECT_EQ(sign(of_rfc, "").substr(0, 3), "\xe5\x56\x43");
  EXPECT_TRUE(is_signed(key, "", sign(of_rfc, "")));
}

TEST(Signature, IsOfOneMessageByOneKey) {
  const std::string key = public_key(seed);
  const std::string signature = sign(seed, "a message");
  EXPECT_EQ(key.size(), public_key_bytes);
  EXPECT_EQ(signature.size(), signature_bytes);
  EXPECT_TRUE(is_signed(key, "a message", signature));
  EXPECT_FALSE(is_signed(key, "another message", signature));
  EXPECT_FALSE(is_signed(public_key(std::string(seed_bytes, '\x2b')), "a message", signature));
  for (std::size_t i = 0; i < signature.size(); ++i) {
    std::string changed = signature;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    EXPECT_FALSE(is_signed(key, "a message", changed)) << i;
  }
}

TEST(Signature, OfAnyOtherLengthIsNone) {
  const std::string key = public_key(seed);
  const std::string signature = sign(seed, "m");
  EXPECT_FALSE(is_signed(key, "m", ""));
  EXPECT_FALSE(is_signed(key, "m", signature + "x"));
  EXPECT_FALSE(is_signed("", "m", signature));
  EXPECT_FALSE(is_signed(key + "x", "m", signature));
  EXPECT_FALSE(is_signed(std::string(public_key_bytes, '\xff'), "m", signature));
}

}  // namespace
}  // namespace tenure::http::ed25519
