#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <memory>
#include <optional>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "placed_members.hpp"

/// Complete incidents of real agents, compared with docs/log.md line by line.
namespace tenure::tests {
namespace {

using lines = std::vector<std::string>;
using testing::ElementsAreArray;

/// Durations, process ids, etcd's versions and the name of the store differ from run to run.
std::string without_figures(std::string line) {
  static const std::regex span(R"(\b\d+(\.\d+)? (ms|s|min)( \d+ s)?\b)");
  static const std::regex pid(R"(\(pid \d+\))");
  static const std::regex store("(SQLite|etcd|Consul|Kubernetes) (does not answer|answers)");
  static const std::regex version(R"(version \d+)");
  line = std::regex_replace(line, span, "<time>");
  line = std::regex_replace(line, version, "version <n>");
  line = std::regex_replace(line, pid, "(pid <pid>)");
  return std::regex_replace(line, store, "<store> $2");
}

/// The indented lines below this mark in docs/log.md.
lines wanted(const std::string& incident, const std::string& member) {
  std::ifstream page(LOG_PAGE);
  const std::string mark = "<!-- incident: " + incident + ", log of " + member + " -->";
  lines out;
  std::string line;
  while (std::getline(page, line) && line != mark) continue;
  while (std::getline(page, line) && (line.empty() || line.starts_with("    "))) {
    if (!line.empty()) out.push_back(without_figures(line.substr(4)));
  }
  EXPECT_FALSE(out.empty()) << "docs/log.md has no \"" << mark << "\"";
  return out;
}

/// Level and message of each line since the member became holder or standby.
lines written(const std::string& log) {
  constexpr std::size_t time_and_blank = 14;
  std::istringstream all(log);
  lines out;
  for (std::string line; std::getline(all, line);) {
    if (line.size() < time_and_blank || line[2] != ':') {
      ADD_FAILURE() << "not a line of the log: " << line;
      continue;
    }
    line = line.substr(time_and_blank);
    // Two blanks separate level and message, and precede each field.
    const auto fields = std::min(line.find("  election="), line.find("  identity="));
    line = without_figures(line.substr(0, fields));
    const bool begins = line.starts_with("info  active") || line.starts_with("info  standing by");
    if (begins || !out.empty()) out.push_back(line);
  }
  return out;
}

class Incident : public PlacedMembers {
 protected:
  std::unique_ptr<member> join(const std::string& identity, const std::string& ttl,
                               std::vector<std::string> more = {},
                               std::vector<std::string> command = {"sleep", "1000"}) {
    more.insert(more.end(), {"--log-format", "text"});
    // One that stands in line on etcd holds as soon as the holder's lease has ended, and nobody
    // knows whether it stands there by the time of the incident.
    if (GetParam().kind == "etcd") more.emplace_back("--unlisted");
    return member_of_store(
        {.identity = identity, .ttl = ttl, .more = std::move(more), .command = std::move(command)});
  }

  /// A member's log, once it contains `last` this many times.
  static lines told_by(member& who, const std::string& last, std::size_t times = 1) {
    const auto said = [&] {
      const lines all = written(who.process().err());
      return std::ranges::count_if(all, [&](const std::string& l) { return l.contains(last); });
    };
    EXPECT_TRUE(eventually([&] { return said() >= static_cast<std::ptrdiff_t>(times); }))
        << "never said: " << last << "\n"
        << who.process().err();
    return written(who.process().err());
  }

  /// The lines of docs/log.md.
  [[nodiscard]] lines wanted_here(const std::string& incident, const std::string& member) const {
    lines out = wanted(incident, member);
    // Members of SQLite and Kubernetes know themselves when a lease runs out, and take it then.
    if (GetParam().kind == "sqlite" || GetParam().kind == "kubernetes")
      std::erase(out, "info  nobody holds the lease: a has not renewed it");
    // Only a file shows the death of a member before its lease ends.
    if (GetParam().kind != "sqlite") std::erase_if(out, has_vanished);
    return out;
  }

  static bool has_vanished(const std::string& line) {
    return line.starts_with("warn  a has vanished while it held the lease");
  }

  /// The store does not answer until `store_is_back`.
  void silence_store() {
    if (store_->server() != nullptr) return store_->server()->freeze(0);
    lock_ = std::make_unique<program>(
        std::vector<std::string>{"sqlite3", in_ / "db", ".timeout 10000", "BEGIN EXCLUSIVE",
                                 ".shell touch " + (in_ / "locked").string(),
                                 ".shell exec sleep 1000"},
        in_ / "lock");
    ASSERT_TRUE(eventually([&] { return std::filesystem::exists(in_ / "locked"); }));
  }
  void store_is_back() {
    if (store_->server() != nullptr) return store_->server()->thaw(0);
    lock_.reset();
  }

  std::unique_ptr<program> lock_;
};

INSTANTIATE_TEST_SUITE_P(On, Incident, ::testing::ValuesIn(places()),
                         [](const auto& one) { return one.param.name; });

/// Only a release can move such a lease within the patience of a test.
constexpr const char* long_ttl = "10m";

TEST_P(Incident, HolderVanishes) {
  auto a = join("a", "3s");
  told_by(*a, "workload started");
  auto b = join("b", "3s");
  told_by(*b, "standing by");
  // One that has just started may not be known to be ready yet.
  const auto is_next = [&] { return b->get("/v1/elections/test").contains(R"("next":"b")"); };
  if (GetParam().kind == "sqlite") ASSERT_TRUE(eventually(is_next)) << b->process().err();
  a->pull_the_plug();
  lines said = told_by(*b, "workload started");
  // The list of members and the lease may lose it one after the other.
  if (GetParam().kind != "sqlite") std::erase_if(said, has_vanished);
  EXPECT_THAT(said, ElementsAreArray(wanted_here("vanished", "b")));
}

TEST_P(Incident, HolderHangsAndComesBack) {
  auto a = join("a", "3s");
  told_by(*a, "workload started");
  auto b = join("b", "3s");
  told_by(*b, "standing by");
  const auto agent = a->agent();
  ASSERT_TRUE(agent);
  ::kill(*agent, SIGSTOP);
  told_by(*b, "workload started");
  told_by(*a, "the workload was ended");
  ::kill(*agent, SIGCONT);
  auto said = told_by(*a, "standing by");
  // The end of its term and the next term may arrive together or one after the other.
  std::erase(said, "info  nobody holds the lease");
  EXPECT_THAT(said, ElementsAreArray(wanted_here("hung", "a")));
}

TEST_P(Incident, StoreIsSilentForAMoment) {
  auto a = join("a", long_ttl, {"--renew", "1s"});
  told_by(*a, "workload started");
  silence_store();
  told_by(*a, "does not answer");
  store_is_back();
  EXPECT_THAT(told_by(*a, "answers again"), ElementsAreArray(wanted_here("silent", "a")));
}

TEST_P(Incident, StoreIsSilentForLongerThanTheLease) {
  auto a = join("a", "3s", {}, {"sh", "-c", "trap '' TERM; while :; do sleep 0.05; done"});
  told_by(*a, "workload started");
  silence_store();
  told_by(*a, "was ended by SIGKILL");
  store_is_back();
  lines all = told_by(*a, "workload started", 2);
  lines outage = wanted_here("outage", "a");
  // The lease may have run out at the store by then or may be released, and the watch may show that
  // before or after a request is answered.
  for (lines* const one : {&all, &outage}) std::erase(*one, "info  nobody holds the lease");
  const auto luck = std::ranges::find(outage, "...");
  ASSERT_NE(luck, outage.end());
  const lines begin(outage.begin(), luck);
  const lines end(luck + 1, outage.end());
  ASSERT_GE(all.size(), begin.size() + end.size());
  EXPECT_THAT(lines(all.begin(), all.begin() + std::ssize(begin)), ElementsAreArray(begin));
  EXPECT_THAT(lines(all.end() - std::ssize(end), all.end()), ElementsAreArray(end));
}

TEST_P(Incident, GuardIsKilled) {
  auto a = join("a", long_ttl);
  told_by(*a, "workload started");
  a->process().send(SIGKILL);
  EXPECT_THAT(told_by(*a, "info  ended"), ElementsAreArray(wanted_here("guard", "a")));
}

TEST_P(Incident, HolderGivesTheLeaseUp) {
  auto a = join("a", long_ttl);
  told_by(*a, "workload started");
  auto b = join("b", long_ttl);
  told_by(*b, "standing by");
  a->process().send(SIGTERM);
  EXPECT_THAT(told_by(*b, "workload started"), ElementsAreArray(wanted_here("handover", "b")));
  a->process().wait();
  EXPECT_THAT(told_by(*a, "info  ended"), ElementsAreArray(wanted_here("handover", "a")));
}

}  // namespace
}  // namespace tenure::tests
