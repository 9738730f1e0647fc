#include "support.hpp"

namespace tenure::config::test {
namespace {

using namespace std::string_view_literals;

/// Anything that a loader may meet, in few bytes.
constexpr std::string_view seed = R"(%YAML 1.2
--- # comment
store: sqlite
endpoint: ["/t.db"]
elections:
  - &a db
  - {name: 'x', slots: 3}
grace: &g 1.5s
lock_delay: *g
identity: "\u00e9\n"
drift: |
  1%
? listen
: >-
  off
)";

/// Every input must end in settings or in problems that can be shown.
void expect_an_answer(const inputs& in) {
  const result r = load(in);
  if (r) {
    EXPECT_FALSE(effective(*r).empty());
    return;
  }
  EXPECT_FALSE(r.error().empty());
  for (const problem& p : r.error()) {
    const std::string line = render(p);
    EXPECT_FALSE(p.what.empty());
    EXPECT_EQ(line.find('\n'), std::string::npos) << quote(line);
  }
}

TEST(Robustness, EveryPrefixOfAFileHasAnAnswer) {
  for (std::size_t n = 0; n <= seed.size(); ++n) {
    expect_an_answer(with_file(std::string(seed.substr(0, n))));
  }
}

TEST(Robustness, EveryByteReplacedHasAnAnswer) {
  constexpr std::string_view bytes = "\0\t\n\r &*!|>%@`'\"#{}[],:?-~0\x7f\x80\xff"sv;
  for (std::size_t at = 0; at < seed.size(); ++at) {
    for (const char c : bytes) {
      std::string text(seed);
      text[at] = c;
      expect_an_answer(with_file(std::move(text)));
    }
  }
}

/// Of a kubeconfig, in few bytes.
constexpr std::string_view kubeconfig_seed = R"(current-context: c
contexts: [{name: c, context: {cluster: k, user: u, namespace: n}}]
clusters:
- {name: k, cluster: {server: "https://a", certificate-authority-data: LS0=}}
users:
- {name: u, user: {client-certificate: c, client-key: k, token: t, as: ~}}
)";

void expect_an_answer_to_kubeconfig(const std::string& text) {
  inputs in;
  in.flags = {{"--store", "kubernetes"}, {"--election", "db"}, {"--kubeconfig", "/k"}};
  in.host_name = "host-1";
  in.read = [&text](const std::string& path) -> file_result { return file{path, text}; };
  expect_an_answer(in);
}

TEST(Robustness, EveryPrefixOfAKubeconfigHasAnAnswer) {
  for (std::size_t n = 0; n <= kubeconfig_seed.size(); ++n) {
    expect_an_answer_to_kubeconfig(std::string(kubeconfig_seed.substr(0, n)));
  }
}

TEST(Robustness, EveryByteOfAKubeconfigReplacedHasAnAnswer) {
  constexpr std::string_view bytes = "\0\t\n\r &*!|>%@`'\"#{}[],:?-~0=\x7f\x80\xff"sv;
  for (std::size_t at = 0; at < kubeconfig_seed.size(); ++at) {
    for (const char c : bytes) {
      std::string text(kubeconfig_seed);
      text[at] = c;
      expect_an_answer_to_kubeconfig(text);
    }
  }
}

TEST(Robustness, AnyByteInAFlagOrVariableHasAnAnswer) {
  for (const field& f : fields()) {
    if (f.flag.empty()) continue;
    for (int byte = 0; byte < 256; ++byte) {
      const std::string text(3, static_cast<char>(byte));
      expect_an_answer(with_flags({{std::string(f.flag), text}}));
      expect_an_answer(with_environment({{std::string(f.environment), text}}));
    }
  }
}

TEST(Robustness, ALongValueIsNotRepeated) {
  const std::string secret(5000, 's');
  for (const field& f : fields()) {
    for (const inputs& in :
         {with_file(std::string(f.key) + ": " + secret + "\n"), with_file(secret + ": 1\n"),
          with_flags({{std::string(f.flag), secret}}),
          with_environment({{std::string(f.environment), secret}})}) {
      for (const std::string& line : problems_of(in)) EXPECT_LT(line.size(), 1000U) << line;
    }
  }
}

}  // namespace
}  // namespace tenure::config::test
