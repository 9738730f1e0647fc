// Any bytes may be a kubeconfig: `load` answers with settings or with problems in printable lines,
// and none of them shows a token or a key.
#include <cstddef>
#include <cstdint>
#include <string>

#include "config/load.hpp"
#include "core/check.hpp"

namespace {

using namespace tenure::config;

constexpr const char* path = "/home/u/.kube/config";

inputs around(std::string text) {
  inputs in;
  in.host_name = "host";
  in.flags = {{"--store", "kubernetes"}, {"--election", "db"}, {"--kubeconfig", path}};
  in.read = [text = std::move(text)](const std::string& name) -> file_result {
    if (name == path) return file{name, text};
    return std::unexpected(problem{name, "the file cannot be read: no such file", ""});
  };
  return in;
}

/// In the corpus, each secret has this word in it, as itself or in base64.
bool shows_secret(const std::string& text) {
  return text.contains("sesame") || text.contains("c2VzYW1l");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto loaded = load(around(std::string(reinterpret_cast<const char*>(data), size)));
  if (loaded) {
    TENURE_CHECK(!shows_secret(effective(*loaded)));
    return 0;
  }
  TENURE_CHECK(!loaded.error().empty());
  for (const problem& p : loaded.error()) TENURE_CHECK(!render(p).empty());
  return 0;
}
