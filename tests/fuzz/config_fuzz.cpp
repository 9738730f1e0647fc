// Any bytes may be a configuration file: `load` answers with settings or with problems, and what
// it accepts is shown by `effective` as a file that loads again.
#include <cstddef>
#include <cstdint>
#include <string>

#include "config/load.hpp"
#include "core/check.hpp"

namespace {

using namespace tenure::config;

inputs around(std::string text) {
  inputs in;
  in.host_name = "host";
  in.file = file{"fuzz.yaml", std::move(text)};
  return in;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  inputs in = around(std::string(reinterpret_cast<const char*>(data), size));
  in.flags = {{"--store", "sqlite"}, {"--endpoint", "/t"}, {"--election", "a"}};
  const auto loaded = load(in);
  if (loaded) {
    TENURE_CHECK(load(around(effective(*loaded))).has_value());
  } else {
    TENURE_CHECK(!loaded.error().empty());
    for (const problem& p : loaded.error()) TENURE_CHECK(!render(p).empty());
  }
  return 0;
}
