#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "config/yaml.hpp"
#include "unit/manifest/scene.hpp"

/// What inject adds is what the component k8s/components/guard adds, but for what is said here.
namespace tenure::manifest {
namespace {

using config::yaml_kind;
using config::yaml_node;
using testing::HasSubstr;

std::string content_of(const std::string& name) {
  std::ifstream from(std::filesystem::path(TENURE_K8S) / name, std::ios::binary);
  return {std::istreambuf_iterator<char>(from), {}};
}

/// The tree in one line, with mappings in the order of their keys.
std::string shown(const yaml_node& of) {
  std::string out;
  if (of.kind == yaml_kind::list) {
    for (const auto& one : of.items) out += (out.empty() ? "" : ", ") + shown(*one);
    return "[" + out + "]";
  }
  if (of.kind != yaml_kind::mapping) return of.scalar;
  std::vector<std::string> all;
  for (const auto& [key, value] : of.members) all.push_back(key->scalar + ": " + shown(*value));
  std::ranges::sort(all);
  for (const std::string& one : all) out += (out.empty() ? "" : ", ") + one;
  return "{" + out + "}";
}

const yaml_node& pod_in(const config::yaml_node_ptr& root) {
  return *member_of(*member_of(*member_of(*root, "spec"), "template"), "spec");
}

config::yaml_node_ptr parsed(const std::string& text) {
  const auto out = config::parse_yaml({"pod.yaml", text}, {.nesting = max_manifest_nesting});
  EXPECT_TRUE(out) << (out ? "" : config::render(out.error()));
  return out ? *out : nullptr;
}

void replace(std::string& in, std::string_view what, std::string_view with) {
  const std::size_t at = in.find(what);
  ASSERT_NE(at, std::string::npos) << what << " is not in " << in;
  in.replace(at, what.size(), with);
}

TEST(Components, InjectedPodIsThatOfTheComponentGuard) {
  std::string base = content_of("base/deployment.yaml");
  replace(base, "args: [/bin/work]", "command: [/bin/work]");
  injection how = usual();
  how.choices.user.reset();
  how.what.image = "tenure";
  const auto injected = parsed(injected_text(base, how));
  const auto component = parsed(content_of("components/guard/pod.yaml"));
  ASSERT_TRUE(injected && component);
  const yaml_node& ours = pod_in(injected);
  const yaml_node& theirs = pod_in(component);

  // Settings are arguments, and not in a ConfigMap.
  std::string wanted = shown(*member_of(theirs, "initContainers"));
  replace(wanted, "--config=/etc/tenure/tenure.yaml", "--store=kubernetes, --election=db");
  replace(wanted, "envFrom: [{configMapRef: {name: tenure-env}}], ", "");
  replace(wanted, "{fieldPath: status.podIPs}}}]",
          "{fieldPath: status.podIPs}}}, {name: TENURE_RUNTIME_DIR, value: /run/tenure/agent}]");
  EXPECT_THAT(content_of("base/kustomization.yaml"),
              HasSubstr("- TENURE_RUNTIME_DIR=/run/tenure/agent\n"));
  replace(wanted, "{mountPath: /etc/tenure, name: tenure-config, readOnly: true}, ", "");
  EXPECT_EQ(shown(*member_of(ours, "initContainers")), wanted);

  wanted = shown(*member_of(theirs, "volumes"));
  replace(wanted, ", {configMap: {name: tenure}, name: tenure-config}", "");
  EXPECT_EQ(shown(*member_of(ours, "volumes")), wanted);

  const yaml_node& our_main = *member_of(ours, "containers")->items[0];
  const yaml_node& their_main = *member_of(theirs, "containers")->items[0];
  EXPECT_EQ(shown(*member_of(our_main, "volumeMounts")),
            shown(*member_of(their_main, "volumeMounts")));
  wanted = shown(*member_of(their_main, "command"));
  replace(wanted, "]", ", /bin/work]");
  EXPECT_EQ(shown(*member_of(our_main, "command")), wanted);
}

TEST(Components, RightsAreThoseOfTheBase) {
  injection how = usual();
  how.choices.user.reset();
  how.what.adds_rights = true;
  std::string base = content_of("base/deployment.yaml");
  replace(base, "args: [/bin/work]", "command: [/bin/work]");
  const config::file out{"out.yaml", injected_text(base, how)};
  const config::file account{"account.yaml", content_of("base/account.yaml")};
  const auto ours = documents_of(out);
  const auto theirs = documents_of(account);
  ASSERT_TRUE(ours && theirs);
  ASSERT_EQ(ours->size(), 3U);
  ASSERT_EQ(theirs->size(), 3U);
  EXPECT_EQ(shown(*member_of(*(*ours)[0].root, "rules")),
            shown(*member_of(*(*theirs)[1].root, "rules")));
  EXPECT_EQ(shown(*member_of(*(*ours)[1].root, "subjects")),
            shown(*member_of(*(*theirs)[2].root, "subjects")));
}

}  // namespace
}  // namespace tenure::manifest
