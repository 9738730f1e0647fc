#include "process/cgroup_text.hpp"

#include <gtest/gtest.h>

#include <string>

namespace tenure::process {
namespace {

const std::string id_a(64, 'a');
const std::string id_b = "3f2a9c0b1d2e" + std::string(52, '7');
const std::string id_node(64, 'e');

std::string v2(const std::string& path) {
  return "0::" + path + "\n";
}

/// The cgroups of a kubelet with the cgroupfs driver on version 1, with containerd.
std::string v1(const std::string& id, const std::string& below = "") {
  const std::string path = "/kubepods/besteffort/pod8a1b2c3d-0000-4e5f-9a6b-7c8d9e0f1a2b/" + id;
  return "12:pids:" + path + below + "\n11:cpuset:" + path + below + "\n10:memory:" + path + below +
         "\n2:cpu,cpuacct:" + path + below + "\n1:name=systemd:" + path + below +
         "\n0::/system.slice/containerd.service\n";
}

std::string container(const std::string& theirs, const std::string& ours) {
  const cgroup_verdict verdict = container_of(theirs, ours);
  EXPECT_EQ(verdict.relation, cgroup_relation::separate) << theirs;
  return std::string(verdict.container);
}

cgroup_relation relation(const std::string& theirs, const std::string& ours) {
  const cgroup_verdict verdict = container_of(theirs, ours);
  EXPECT_EQ(verdict.container.empty(), verdict.relation != cgroup_relation::separate);
  return verdict.relation;
}

TEST(CgroupText, APrivateNamespaceShowsTheContainerBesideUsAboveUs) {
  const std::string main = v2("/../cri-containerd-" + id_b + ".scope");
  EXPECT_EQ(container(main, v2("/")), ":/../cri-containerd-" + id_b + ".scope");
  EXPECT_EQ(container(v2("/../" + id_b), v2("/")), ":/../" + id_b);
  EXPECT_EQ(container(v2("/../crio-" + id_b + ".scope/container"), v2("/")),
            ":/../crio-" + id_b + ".scope");
  EXPECT_TRUE(is_in_container(main, container(main, v2("/"))));
  EXPECT_FALSE(
      is_in_container(v2("/../cri-containerd-" + id_a + ".scope"), container(main, v2("/"))));
  EXPECT_FALSE(is_in_container(v2("/"), container(main, v2("/"))));
}

TEST(CgroupText, OneNamespaceForAllShowsWholePaths) {
  const std::string pod = "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod0a.slice";
  for (const std::string prefix : {"/cri-containerd-", "/crio-", "/docker-"}) {
    const std::string ours = v2(pod + prefix + id_a + ".scope");
    const std::string theirs = v2(pod + prefix + id_b + ".scope");
    EXPECT_EQ(container(theirs, ours), ":" + pod + prefix + id_b + ".scope");
  }
  // containerd with the systemd driver on version 1, without delegation.
  const std::string odd =
      "5:memory:/system.slice/containerd.service/kubepods-pod0a.slice:"
      "cri-containerd:";
  EXPECT_EQ(container(odd + id_b + "\n", odd + id_a + "\n"), (odd + id_b).substr(2));
}

TEST(CgroupText, Version1TellsByAnyHierarchy) {
  const std::string main = container(v1(id_b), v1(id_a));
  EXPECT_TRUE(main.starts_with("pids:/kubepods/besteffort/pod")) << main;
  EXPECT_TRUE(main.ends_with(id_b));
  EXPECT_TRUE(is_in_container(v1(id_b), main));
  EXPECT_FALSE(is_in_container(v1(id_a), main));
}

TEST(CgroupText, WhatIsNestedInAContainerIsInIt) {
  const std::string main = container(v1(id_b, "/docker/" + id_a), v1(id_a));
  EXPECT_TRUE(main.ends_with(id_b)) << main;
  EXPECT_TRUE(is_in_container(v1(id_b, "/init.scope"), main));
  EXPECT_TRUE(is_in_container(v1(id_b), main));
  // A name with the same beginning is a different container.
  EXPECT_FALSE(is_in_container(v1(id_b + "0"), main));
}

TEST(CgroupText, AContainerAroundAllOfThemIsNotTheirs) {
  const std::string node = "/docker/" + id_node + "/kubelet/kubepods/pod0a/";
  EXPECT_EQ(container(v2(node + id_b), v2(node + id_a)), ":" + node + id_b);
  EXPECT_EQ(relation(v2("/docker/" + id_node), v2(node + id_a)), cgroup_relation::unclear);
}

TEST(CgroupText, OurOwnContainerIsNotAnotherOne) {
  EXPECT_EQ(relation(v2("/"), v2("/")), cgroup_relation::same);
  EXPECT_EQ(relation(v1(id_a), v1(id_a)), cgroup_relation::same);
  EXPECT_EQ(relation(v1(id_a, "/workers"), v1(id_a, "/agent")), cgroup_relation::same);
  EXPECT_EQ(relation(v1(id_a, "/workers"), v1(id_a)), cgroup_relation::same);
}

TEST(CgroupText, AboveUsThereIsNoContainerToName) {
  // Process 1 of a Debian 12 machine (version 1 and 2 mounted), seen from a private namespace.
  const std::string machine =
      "9:name=systemd:/\n8:pids:/..\n7:blkio:/\n4:memory:/../..\n3:cpuset:/\n0::/..\n";
  const std::string ours = "9:name=systemd:/\n8:pids:/\n7:blkio:/\n4:memory:/\n3:cpuset:/\n0::/\n";
  EXPECT_EQ(relation(machine, ours), cgroup_relation::unclear);
  EXPECT_EQ(relation(v2("/"), v2("/system.slice/tenure.service")), cgroup_relation::unclear);
}

TEST(CgroupText, AUnitIsAContainerButTheSliceAboveItIsNot) {
  const std::string ours =
      "9:memory:/system.slice/tenure.service\n8:blkio:/system.slice\n"
      "1:name=systemd:/system.slice/tenure.service\n";
  // If a controller is off for the unit, version 1 shows the slice.
  const std::string theirs =
      "9:memory:/user.slice\n8:blkio:/user.slice\n"
      "1:name=systemd:/user.slice/user-0.slice/session-4.scope\n";
  const std::string session = container(theirs, ours);
  EXPECT_EQ(session, "name=systemd:/user.slice/user-0.slice/session-4.scope");
  EXPECT_TRUE(is_in_container(theirs, session));
  const std::string slice = container(v2("/user.slice"), v2("/system.slice/tenure.service"));
  EXPECT_TRUE(is_in_container(v2("/user.slice"), slice));
  EXPECT_FALSE(is_in_container(v2("/user.slice/user-0.slice/session-4.scope"), slice));
}

TEST(CgroupText, AnIdHasSixtyFourDigits) {
  // A static pod's directory has a hash of 32 in its name; it holds several containers.
  const std::string pod = "/kubepods/pod" + std::string(32, '1') + "/";
  EXPECT_EQ(container(v2(pod + id_b + "/x"), v2("/kubepods/podffff/" + id_a)), ":" + pod + id_b);
  const std::string long_name = "/x/" + id_b + "9/y";
  EXPECT_EQ(container(v2(long_name), v2("/z")), ":" + long_name);
}

TEST(CgroupText, ARemovedCgroupIsStillTheOne) {
  const std::string main = container(v2("/../" + id_b), v2("/"));
  EXPECT_TRUE(is_in_container(v2("/../" + id_b + " (deleted)"), main));
}

TEST(CgroupText, WhatCannotBeComparedIsUnclearAndNeverOurs) {
  for (const char* text :
       {"", "\n", "0", "0:", "::", "0:/", "x\ny\n", ":", "0::\n", "5:pids:/\n"}) {
    EXPECT_EQ(relation(text, v2("/")), cgroup_relation::unclear) << text;
    EXPECT_EQ(relation(v2("/a"), text), cgroup_relation::unclear) << text;
    EXPECT_FALSE(is_in_container(text, ":/a")) << text;
    EXPECT_FALSE(is_in_container(v2("/a"), text)) << text;
  }
}

TEST(CgroupText, PeopleKnowAContainerByTwelveDigits) {
  EXPECT_EQ(short_name(":/../cri-containerd-" + id_b + ".scope"), "3f2a9c0b1d2e");
  EXPECT_EQ(short_name("pids:/kubepods/pod0a/" + id_b), "3f2a9c0b1d2e");
  EXPECT_EQ(short_name(":/system.slice/orders.service"), "orders.service");
  EXPECT_EQ(short_name(""), "");
}

TEST(CgroupText, WhatIsWithinIsThereOrBelowInEachHierarchy) {
  const std::string unit = v2("/system.slice/tenure.service");
  EXPECT_TRUE(is_within(unit, unit));
  EXPECT_TRUE(is_within(v2("/system.slice/tenure.service/of-its-own"), unit));
  EXPECT_FALSE(is_within(v2("/system.slice/tenure.service.d"), unit));
  EXPECT_FALSE(is_within(v2("/system.slice"), unit));
  EXPECT_FALSE(is_within(v2("/user.slice"), unit));
  // In a private namespace.
  EXPECT_TRUE(is_within(v2("/"), v2("/")));
  EXPECT_TRUE(is_within(v2("/below"), v2("/")));
  EXPECT_FALSE(is_within(v2("/../other"), v2("/")));
  EXPECT_FALSE(is_within(v2("/.."), v2("/")));
  // A process that is elsewhere in one hierarchy was moved or started there.
  EXPECT_TRUE(is_within("2:pids:/a/b\n1:cpu:/\n", "2:pids:/a\n1:cpu:/\n"));
  EXPECT_FALSE(is_within("2:pids:/c\n1:cpu:/\n", "2:pids:/a\n1:cpu:/\n"));
}

}  // namespace
}  // namespace tenure::process
