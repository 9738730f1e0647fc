// Every state x every event. A pair that the table does not list changes nothing: no command, no
// phase.
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <tuple>

#include "unit/core/conversation.hpp"
#include "unit/core/election_table.hpp"

namespace tenure::core::testing {
namespace {

struct state {
  const char* name;
  conversation (*reach)();  ///< now is 1 s after the start
};

struct input {
  const char* name;
  std::string (*say)(conversation&);
};

conversation talk() {
  conversation c;
  c.starts();
  c.at(1s);
  return c;
}

conversation changed(conversation c, auto change) {
  change(c);
  return c;
}

conversation observing() {
  conversation c(with(member(), [](auto& s) { s.campaigns = false; }));
  c.starts();
  c.at(1s);
  return c;
}

/// The workload of term five is found; it must stop at 10 s, or is stopping already.
event::workload_found workload(bool stopping) {
  return {.version = five,
          .stop_at = start_of_talk + 10s,
          .kill_at = start_of_talk + 12s,
          .stopping = stopping};
}

conversation found(bool stopping) {
  conversation c;
  c.says(workload(stopping));
  c.starts();
  c.at(1s);
  return c;
}

conversation refused() {
  return changed(talk(), [](auto& c) { c.is_refused(); });
}

conversation active() {
  conversation c;
  c.becomes_active();
  return c;
}

/// Each with its lease sent at 0 s, and its workload, if any, running since 0.6 s.
constexpr std::array states{
    state{"new", [] { return changed(conversation(), [](auto& c) { c.at(1s); }); }},
    state{"unseeing",
          [] {
            return changed(conversation(), [](auto& c) { c.says(event::started{}), c.at(1s); });
          }},
    state{"observer", observing},
    state{"adopting", [] { return found(false); }},
    state{"dying", [] { return found(true); }},
    state{"asking", talk},
    state{"refused", refused},
    state{"retrying", [] { return changed(talk(), [](auto& c) { c.acquire_is_unknown(); }); }},
    state{"aside", [] { return changed(refused(), [](auto& c) { c.resigns(1h); }); }},
    state{"sick",
          [] { return changed(refused(), [](auto& c) { c.says(event::workload_unhealthy{}); }); }},
    state{"unguarded",
          [] { return changed(refused(), [](auto& c) { c.says(event::guard_away{}); }); }},
    state{"pending", [] { return changed(talk(), [](auto& c) { c.is_granted(); }); }},
    state{"starting",
          [] { return changed(talk(), [](auto& c) { c.is_granted(five, 0s, 15s, true); }); }},
    state{"running", active},
    state{"readers",
          [] {
            conversation c(with(member(), [](auto& s) { s.owns_workload = false; }));
            c.starts();
            c.at(1s).is_granted(five, 0s, 15s, true);
            return c;
          }},
    state{"stopping", [] { return changed(active(), [](auto& c) { c.resigns(1h); }); }},
    state{"stopping lost", [] { return changed(active(), [](auto& c) { c.is_lost(); }); }},
    state{"releasing",
          [] {
            return changed(active(), [](auto& c) {
              c.resigns(1h);
              c.workload_exits();
            });
          }},
    state{"releasing again",
          [] {
            return changed(active(), [](auto& c) {
              c.resigns(1h);
              c.workload_exits();
              c.release_is_unknown();
            });
          }},
    state{"ending", [] { return changed(talk(), [](auto& c) { c.shuts_down(); }); }},
    state{"stopped", [] { return changed(refused(), [](auto& c) { c.shuts_down(); }); }},
};

constexpr std::array inputs{
    input{"found", [](conversation& c) { return c.says(workload(false)); }},
    input{"started", [](conversation& c) { return c.says(event::started{}); }},
    input{"granted", [](conversation& c) { return c.is_granted(); }},
    input{"granted clean", [](conversation& c) { return c.is_granted(five, 0s, 15s, true); }},
    input{"granted late",
          [](conversation& c) {
            return c.says(event::granted{
                .number = attempt{999}, .version = five, .ttl = 15s, .sent_at = start_of_talk});
          }},
    input{"refused", [](conversation& c) { return c.is_refused(); }},
    input{"refused late",
          [](conversation& c) { return c.says(event::refused{.number = attempt{999}}); }},
    input{"acquire unknown", [](conversation& c) { return c.acquire_is_unknown(); }},
    input{"renewed", [](conversation& c) { return c.is_renewed(500ms); }},
    input{"renewed other",
          [](conversation& c) { return c.is_renewed(500ms, 15s, core::version{4}); }},
    input{"lost", [](conversation& c) { return c.is_lost(); }},
    input{"lost other",
          [](conversation& c) { return c.is_lost(loss_reason::revoked, core::version{4}); }},
    input{"shows us", [](conversation& c) { return c.says(shows({mine()}, five)); }},
    input{"shows other", [](conversation& c) { return c.says(shows_other()); }},
    input{"shows free", [](conversation& c) { return c.says(shows_free(core::version{6})); }},
    input{"watch failed", [](conversation& c) { return c.says(event::watch_failed{}); }},
    input{"released", [](conversation& c) { return c.is_released(); }},
    input{"released late", [](conversation& c) { return c.says(event::released{attempt{999}}); }},
    input{"release unknown", [](conversation& c) { return c.release_is_unknown(); }},
    input{"workload started", [](conversation& c) { return c.workload_starts(); }},
    input{"workload exited", [](conversation& c) { return c.workload_exits(); }},
    input{"unhealthy", [](conversation& c) { return c.says(event::workload_unhealthy{}); }},
    input{"healthy", [](conversation& c) { return c.says(event::workload_healthy{}); }},
    input{"workload stuck", [](conversation& c) { return c.says(event::workload_stuck{}); }},
    input{"workload unseen", [](conversation& c) { return c.says(event::workload_unseen{}); }},
    input{"guard away", [](conversation& c) { return c.says(event::guard_away{}); }},
    input{"guard back", [](conversation& c) { return c.says(event::guard_back{}); }},
    input{"resign", [](conversation& c) { return c.resigns(1h); }},
    input{"resume", [](conversation& c) { return c.says(event::resume{}); }},
    input{"shutdown", [](conversation& c) { return c.shuts_down(); }},
    input{"woke", [](conversation& c) { return c.wakes(); }},
    input{"slept", [](conversation& c) { return c.says(event::slept{500ms}); }},
    input{"overslept", [](conversation& c) { return c.at(1h).says(event::slept{1h - 1s}); }},
};

std::string said(std::size_t s, std::size_t i) {
  const auto row = answers().find(states[s].name);
  if (row == answers().end()) return {};
  const auto cell = row->second.find(inputs[i].name);
  return cell == row->second.end() ? std::string() : cell->second;
}

/// The phase after these commands.
std::string last_phase(const std::string& commands, const std::string& before) {
  const std::size_t arrow = commands.rfind(" > ");
  if (arrow == std::string::npos) return before;
  return commands.substr(arrow + 3, commands.find_first_of(":,", arrow) - arrow - 3);
}

class EveryCell : public ::testing::TestWithParam<std::tuple<std::size_t, std::size_t>> {};

TEST_P(EveryCell, IsAnswered) {
  const auto [s, i] = GetParam();
  conversation c = states[s].reach();
  const std::string before(name(c.now_in()));
  const std::string expected = said(s, i);
  EXPECT_EQ(inputs[i].say(c), expected);
  EXPECT_EQ(name(c.now_in()), last_phase(expected, before));
}

std::string as_name(std::string words) {
  std::erase(words, ' ');
  return words;
}

INSTANTIATE_TEST_SUITE_P(Election, EveryCell,
                         ::testing::Combine(::testing::Range<std::size_t>(0, states.size()),
                                            ::testing::Range<std::size_t>(0, inputs.size())),
                         [](const auto& one) {
                           return as_name(states[std::get<0>(one.param)].name) + "_" +
                                  as_name(inputs[std::get<1>(one.param)].name);
                         });

TEST(ElectionTable, NamesNoStateAndNoEventThatThereIsNot) {
  std::size_t found = 0;
  for (std::size_t s = 0; s < states.size(); ++s) {
    for (std::size_t i = 0; i < inputs.size(); ++i) found += said(s, i).empty() ? 0 : 1;
  }
  std::size_t listed = 0;
  for (const auto& [state, row] : answers()) listed += row.size();
  EXPECT_EQ(found, listed);
}

}  // namespace
}  // namespace tenure::core::testing
