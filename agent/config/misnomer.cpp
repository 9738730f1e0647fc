#include "config/misnomer.hpp"

#include <algorithm>
#include <array>

#include "config/suggest.hpp"

namespace tenure::config {
namespace {

/// Folded, like all names here. A name that ends with one of them names a secret.
constexpr std::array<std::string_view, 7> secrets{"password", "passwd", "passphrase", "pwd",
                                                  "secret",   "token",  "apikey"};

struct other_name {
  std::string_view name;
  setting ours;
};

/// Names of etcdctl, etcd, curl, psql and kubectl that are too different from ours to be compared
/// by letters.
constexpr std::array<other_name, 13> other_names{{{"cacert", setting::ca_file},
                                                  {"ca", setting::ca_file},
                                                  {"trustedcafile", setting::ca_file},
                                                  {"cert", setting::certificate_file},
                                                  {"certfile", setting::certificate_file},
                                                  {"clientcert", setting::certificate_file},
                                                  {"key", setting::key_file},
                                                  {"privatekey", setting::key_file},
                                                  {"clientkey", setting::key_file},
                                                  {"tlsservername", setting::server_name},
                                                  {"context", setting::kube_context},
                                                  {"username", setting::user},
                                                  {"passfile", setting::password_file}}};

}  // namespace

bool names_a_secret(std::string_view name) {
  const std::string word = folded(name);
  return word == "pass" || std::ranges::any_of(secrets, [&word](std::string_view secret) {
           return word.ends_with(secret);
         });
}

mistake misplaced_secret(std::string_view instead) {
  return {"a password or token given here can be read by others",
          "put the password into a file that only the agent can read, and name that with " +
              std::string(instead)};
}

const field* called_elsewhere(std::string_view name) {
  const auto* const found = std::ranges::find(other_names, folded(name), &other_name::name);
  return found == other_names.end() ? nullptr : &field_of(found->ours);
}

}  // namespace tenure::config
