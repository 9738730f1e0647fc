// Any bytes may come instead of a reply of the API server about pods, slices, rights and Leases:
// they are refused, or shown as objects that were asked for, on which a write can rely.
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "core/check.hpp"
#include "kube/codec.hpp"
#include "kube/pod_view.hpp"

namespace {

using namespace tenure;
using namespace tenure::kube;
using nlohmann::json;
using settings::traffic;

constexpr std::size_t longest_refusal = 300;

settings::kubernetes settings_for(traffic way) {
  settings::kubernetes out{.traffic = way,
                           .pod_name = "db-0",
                           .pod_namespace = "team",
                           .pod_uid = "u-0",
                           .pod_node = "n1",
                           .pod_addresses = {"10.0.0.9", "fd00::9"}};
  if (way == traffic::endpoints) out.slices = {"db-0"};
  return out;
}

void check_write(const marked_object& one, bool names_us, const traffic_terms& of) {
  const traffic_request what{.what = traffic_request::kind::write,
                             .object = one.name,
                             .seen = one,
                             .names_us = names_us,
                             .version = core::version{7}};
  const json sent = json::parse(request_for(what, of, 0).body);
  TENURE_CHECK(sent.at("metadata").at("uid") == one.uid);
  TENURE_CHECK(sent.at("metadata").at("resourceVersion") == one.resource_version);
}

void check(const marked_object& one, const traffic_terms& of) {
  TENURE_CHECK(!one.name.empty() && !one.uid.empty() && !one.resource_version.empty());
  // A slice may name any pod; a pod only itself.
  if (of.its.traffic != traffic::endpoints && one.who == named::us) {
    TENURE_CHECK(one.name == of.its.pod_name);
  }
  TENURE_CHECK(!one.flaw.contains('\n'));
  check_write(one, true, of);
  check_write(one, false, of);
}

void read_as_every_reply(std::string_view body, traffic way) {
  const settings::kubernetes its = settings_for(way);
  const traffic_terms of{.its = its, .election = "db"};
  for (const auto what : {traffic_request::kind::list, traffic_request::kind::read}) {
    const auto shown = read_reply({.what = what, .object = "db-0"}, body, of);
    if (!shown) {
      TENURE_CHECK(!shown.error().empty() && shown.error().size() <= longest_refusal);
      TENURE_CHECK(!shown.error().contains('\n'));
      continue;
    }
    if (what == traffic_request::kind::read) {
      TENURE_CHECK(shown->size() == 1 && shown->front().name == "db-0");
    }
    for (const marked_object& one : *shown) check(one, of);
  }
}

void check_refusal(const std::string& why) {
  TENURE_CHECK(!why.empty() && why.size() <= longest_refusal && !why.contains('\n'));
}

void read_as_pod_and_owner(std::string_view body) {
  if (const auto pod = read_pod(body, "db-0")) {
    TENURE_CHECK(json::parse(body).at("metadata").at("name") == "db-0");
  } else {
    check_refusal(pod.error());
  }
  if (const auto read = read_owner(body, {.kind = "Deployment", .name = "db"})) {
    TENURE_CHECK(json::parse(body).at("kind") == "Deployment");
  } else {
    check_refusal(read.error());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view body(reinterpret_cast<const char*>(data), size);
  for (const traffic way : {traffic::label, traffic::gate, traffic::endpoints}) {
    read_as_every_reply(body, way);
  }
  read_as_pod_and_owner(body);
  const std::string uid = read_uid(body, "db");
  if (!uid.empty()) TENURE_CHECK(json::parse(body).at("metadata").at("uid") == uid);
  if (const auto may = read_review(body)) {
    TENURE_CHECK(json::parse(body).at("status").at("allowed") == *may);
  }
  return 0;
}
