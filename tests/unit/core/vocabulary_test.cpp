#include "core/vocabulary.hpp"

#include <gtest/gtest.h>

#include <array>
#include <set>
#include <string>

namespace tenure::core {
namespace {

constexpr std::array every_phase{phase::observer, phase::candidate, phase::pending,
                                 phase::active,   phase::draining,  phase::stopped};
constexpr std::array every_reason{
    loss_reason::none,           loss_reason::renew_timeout,     loss_reason::taken_over,
    loss_reason::suspended,      loss_reason::revoked,           loss_reason::session_invalid,
    loss_reason::unhealthy,      loss_reason::resigned,          loss_reason::preempted,
    loss_reason::shutdown,       loss_reason::workload_exited,   loss_reason::guard_gone,
    loss_reason::container_died, loss_reason::version_regressed, loss_reason::ttl_too_short};

TEST(Vocabulary, EveryPhaseHasANameOfItsOwn) {
  std::set<std::string_view> names;
  for (const phase p : every_phase) names.insert(name(p));
  EXPECT_EQ(names.size(), every_phase.size());
  EXPECT_FALSE(names.contains("unknown"));
}

TEST(Vocabulary, EveryReasonHasANameOfItsOwn) {
  std::set<std::string_view> names;
  for (const loss_reason r : every_reason) names.insert(name(r));
  EXPECT_EQ(names.size(), every_reason.size());
  EXPECT_FALSE(names.contains("unknown"));
}

TEST(Vocabulary, NamesAreTheOnesThatUsersWriteInTheirAlerts) {
  EXPECT_EQ(name(phase::active), "active");
  EXPECT_EQ(name(loss_reason::renew_timeout), "renew_timeout");
  EXPECT_EQ(name(loss_reason::version_regressed), "version_regressed");
}

TEST(Vocabulary, WhatSomebodyHereAskedForIsNoLoss) {
  for (const loss_reason asked :
       {loss_reason::none, loss_reason::unhealthy, loss_reason::resigned, loss_reason::preempted,
        loss_reason::shutdown, loss_reason::workload_exited, loss_reason::guard_gone,
        loss_reason::container_died}) {
    EXPECT_FALSE(is_loss(asked)) << name(asked);
  }
  for (const loss_reason loss :
       {loss_reason::renew_timeout, loss_reason::taken_over, loss_reason::session_invalid,
        loss_reason::revoked, loss_reason::suspended, loss_reason::version_regressed,
        loss_reason::ttl_too_short}) {
    EXPECT_TRUE(is_loss(loss)) << name(loss);
  }
}

TEST(Vocabulary, NoVersionIsSmallerThanEveryVersion) {
  EXPECT_LT(no_version, core::version{1});
  EXPECT_EQ(number(core::version{18'446'744'073'709'551'615U}), 18'446'744'073'709'551'615U);
}

}  // namespace
}  // namespace tenure::core
