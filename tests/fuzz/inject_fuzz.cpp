// Any bytes may be a manifest: `inject` refuses it with reasons in printable lines, or adds what
// `uninject` takes out byte for byte, and what a second time leaves as it is.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/check.hpp"
#include "manifest/inject.hpp"
#include "manifest/json_form.hpp"

namespace {

using namespace tenure;

manifest::injection usual(bool adds_rights) {
  manifest::injection out{.what = {.image = "tenure:1", .settings = {"--election=db"}}};
  out.what.needs.leases = true;
  out.what.adds_rights = adds_rights;
  out.choices.user = 1000;
  return out;
}

void check(const config::file& of, const manifest::injection& how) {
  const auto done = manifest::inject(of, how);
  const auto plain = manifest::uninject(of, "");
  if (!done) {
    TENURE_CHECK(!done.error().empty());
    for (const config::problem& p : done.error()) TENURE_CHECK(!config::render(p).empty());
    return;
  }
  if (manifest::is_json(of.text)) {
    TENURE_CHECK(!manifest::uninject({of.name, done->text}, "").has_value());
    return;
  }
  const auto again = manifest::inject({of.name, done->text}, how);
  TENURE_CHECK(again.has_value() && again->text == done->text);
  // Marks of other workloads may not fit together; only who takes all out looks at them.
  if (!plain) return;
  const auto back = manifest::uninject({of.name, done->text}, "");
  TENURE_CHECK(back.has_value() && *back == *plain);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const config::file of{"web.yaml", std::string(reinterpret_cast<const char*>(data), size)};
  check(of, usual(false));
  check(of, usual(true));
  return 0;
}
