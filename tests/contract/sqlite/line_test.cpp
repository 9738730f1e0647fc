// The place in line of the member that comes next.

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "base/boot_time.hpp"
#include "scene.hpp"
#include "stores/sqlite/connection.hpp"

namespace tenure::tests {
namespace {

constexpr core::election_index first{0};
constexpr core::duration long_ttl = std::chrono::seconds(10);

class SqliteLine : public testing::Test {
 protected:
  std::unique_ptr<member> join(const std::string& identity, core::duration ttl = long_ttl,
                               std::uint32_t slots = 1) {
    auto with = settings_for("sqlite", path_, identity, ttl, slots);
    with.announce = true;
    auto made = std::make_unique<member>(loop_, std::move(with));
    const auto opened = made->open();
    EXPECT_TRUE(opened) << opened.error().text;
    return made;
  }

  line_of_two stand_in_line(core::duration ttl_of_b = long_ttl) {
    line_of_two out{.a = join("a"), .b = join("b", ttl_of_b), .by_a = {}, .by_b = {}, .old = {}};
    out.by_a = out.a->watch();
    out.by_b = out.b->watch();
    out.old = out.a->hold();
    stand(*out.b, "b");
    return out;
  }

  void stand(member& one, const std::string& identity) {
    one->stand_in_line(first, true);
    EXPECT_TRUE(eventually(loop_, [&] { return place() == identity; }));
  }

  /// Who is in line by the file; empty: nobody.
  std::string place() { return text("SELECT identity FROM place WHERE election = 'db0'"); }

  std::string text(const char* query) {
    const auto db = stores::sqlite::connection::open(path_, {});
    (*db)->keep_wal_file();
    return (*db)->text(query);
  }

  /// Asks for the lease when the watch shows that this member holds it, before anything else can
  /// happen. Watches from now on.
  std::shared_ptr<std::optional<stores::acquire_outcome>> acquire_when_shown(
      member& one, const std::string& holder, std::function<void()> before) {
    auto out = std::make_shared<std::optional<stores::acquire_outcome>>();
    one->watch(first, [&one, holder, out, before = std::move(before), is_asked = false](
                          const std::variant<core::observation, stores::unknown>& what) mutable {
      const auto* seen = std::get_if<core::observation>(&what);
      if (is_asked || seen == nullptr || !held_by(holder)(*seen)) return;
      is_asked = true;
      EXPECT_TRUE(seen->holders.front().ours);
      before();
      one->acquire(first, core::no_version, base::boot_now() + long_ttl,
                   [out](stores::acquire_outcome of) { *out = std::move(of); });
    });
    return out;
  }

  std::string commits() { return text("SELECT commits FROM file"); }

  void change(const char* statement) {
    const auto db = stores::sqlite::connection::open(path_, {});
    (*db)->keep_wal_file();
    (*db)->run(statement);
  }

  bool shows(const sightings& what, const std::string& holder) {
    return loop_.run_until([&] { return what.shows(held_by(holder)); });
  }

  /// What the members' files say is of an earlier boot from now on.
  void starts_again(const std::string& boot) {
    std::string earlier = boot;
    std::ranges::reverse(earlier);
    for (const auto& one : std::filesystem::directory_iterator(path_ + "-members")) {
      std::ifstream in(one.path(), std::ios::binary);
      std::string said{std::istreambuf_iterator<char>(in), {}};
      const auto at = said.find(boot);
      if (at == std::string::npos) continue;
      said.replace(at, boot.size(), earlier);
      std::ofstream(one.path(), std::ios::binary) << said;
    }
  }

  /// The machine fails after a release: nothing is lost of what was on the disk before, and all of
  /// the release. The members' files are there as they were last, or not.
  void expect_no_version_twice(bool has_members) {
    const auto copy = [](const std::string& from, const std::string& to) {
      std::filesystem::copy_file(from, to, std::filesystem::copy_options::overwrite_existing);
    };
    core::version passed = core::no_version;
    {
      const auto [a, b, by_a, by_b, old] = stand_in_line();
      for (const char* part : {"", "-wal"}) copy(path_ + part, path_ + part + ".disk");
      a->release(old.version, {.clean = true});
      ASSERT_TRUE(shows(*by_b, "b"));
      passed = b->hold().version;
    }
    for (const char* part : {"", "-wal"}) copy(path_ + part + ".disk", path_ + part);
    std::filesystem::remove(path_ + "-shm");
    if (!has_members) std::filesystem::remove_all(path_ + "-members");
    if (has_members) starts_again(text("SELECT boot_id FROM file"));
    for (const char* table : {"lease", "place", "file"}) {
      change((std::string("UPDATE ") + table + " SET boot_id = 'before'").c_str());
    }
    EXPECT_GT(join("c")->hold().version, passed);
  }

  loop loop_;
  temporary_directory directory_;
  std::string path_ = directory_ / "leases.db";
};

TEST_F(SqliteLine, TheReleaseIsTheGrantToWhoStandsInLine) {
  const auto [a, b, by_a, by_b, old] = stand_in_line();
  std::string written;
  const auto outcome = acquire_when_shown(*b, "b", [&] { written = commits(); });
  a->release(old.version, {.clean = true});
  ASSERT_TRUE(loop_.run_until([&] { return outcome->has_value(); }));
  const auto next = std::get<stores::grant>(**outcome);
  EXPECT_EQ(next.version, core::version{core::number(old.version) + 1});
  EXPECT_TRUE(next.released_cleanly);
  const std::string until = text("SELECT expires_ns FROM lease");
  EXPECT_EQ(std::to_string((next.sent_at + next.ttl).time_since_epoch().count()), until);
  EXPECT_EQ(commits(), written) << "nothing was written";
  EXPECT_EQ(place(), "");
  EXPECT_EQ(words(b->renew(term(next.version))), "renewed");
}

TEST_F(SqliteLine, ThePlaceSetsTheVersionAside) {
  const auto [a, b, by_a, by_b, old] = stand_in_line();
  const std::uint64_t aside = std::stoull(text("SELECT version FROM place"));
  EXPECT_GT(aside, core::number(old.version));
  EXPECT_LT(core::number(b->read().as_of), aside) << "it has not been granted";
  a->release(old.version, {.clean = true});
  ASSERT_TRUE(shows(*by_b, "b"));
  EXPECT_EQ(core::number(by_b->seen.back().holders.front().version), aside);
  EXPECT_EQ(core::number(by_b->seen.back().as_of), aside);
}

TEST_F(SqliteLine, AfterAGrantToAnotherMemberThePlaceHasALargerVersion) {
  const auto [a, b, by_a, by_b, old] = stand_in_line();
  const auto c = join("c");
  change("DELETE FROM lease");
  const stores::grant other = c->hold();
  ASSERT_TRUE(eventually(loop_, [&] {
    return std::stoull(text("SELECT version FROM place")) > core::number(other.version);
  }));
  EXPECT_EQ(place(), "b");
  c->release(other.version, {.clean = true});
  ASSERT_TRUE(shows(*by_b, "b"));
  EXPECT_GT(by_b->seen.back().holders.front().version, other.version);
}

TEST_F(SqliteLine, AVersionThatIsTooSmallIsNotGranted) {
  // As of an earlier release, or from before the term of this holder.
  for (const char* version : {"0", "1"}) {
    const auto [a, b, by_a, by_b, old] = stand_in_line();
    change((std::string("UPDATE place SET version = ") + version).c_str());
    a->release(old.version, {.clean = true});
    ASSERT_TRUE(shows(*by_b, "b")) << version;
    EXPECT_GT(by_b->seen.back().holders.front().version, old.version) << version;
    const stores::grant next = b->hold();
    EXPECT_EQ(words(b->release(0, next.version)), "released");
  }
}

TEST_F(SqliteLine, AVersionThatWasGrantedIsNotGrantedAgainAfterAPowerFailure) {
  expect_no_version_twice(true);
}

TEST_F(SqliteLine, NorIfTheMembersFilesAreLostWithIt) {
  expect_no_version_twice(false);
}

TEST_F(SqliteLine, ALookFromBeforeTheReleaseShowsNothingToTakeUp) {
  const auto a = join("a");
  const stores::grant old = a->hold();
  const auto outcome = acquire_when_shown(*a, "a", [] {});  // asks for a look
  a->release(old.version, {.clean = true});
  ASSERT_TRUE(loop_.run_until([&] { return outcome->has_value(); }));
  EXPECT_GT(std::get<stores::grant>(**outcome).version, old.version);
}

TEST_F(SqliteLine, ATermThatWasAskedForIsNotTakenUpFromALook) {
  // It may have been lost since the look, and the loss may have been heard.
  const auto a = join("a");
  const stores::grant old = a->hold();
  std::string written;
  const auto outcome = acquire_when_shown(*a, "a", [&] { written = commits(); });
  ASSERT_TRUE(loop_.run_until([&] { return outcome->has_value(); }));
  EXPECT_EQ(std::get<stores::grant>(**outcome).version, old.version);
  EXPECT_NE(commits(), written) << "the file was asked";
}

TEST_F(SqliteLine, ATermThatIsAskedForLaterIsExtended) {
  const auto [a, b, by_a, by_b, old] = stand_in_line();
  a->release(old.version, {.clean = true});
  ASSERT_TRUE(shows(*by_b, "b"));
  const core::version passed = by_b->seen.back().holders.front().version;
  const core::time_point asked_at = base::boot_now();
  const stores::grant next = b->hold();
  EXPECT_EQ(next.version, passed);
  EXPECT_GE(next.sent_at, asked_at);
  EXPECT_TRUE(next.released_cleanly);
}

TEST_F(SqliteLine, ATermLastsAsLongAsItsOwnMemberWants) {
  const auto [a, b, by_a, by_b, old] = stand_in_line(std::chrono::seconds(3));
  const core::time_point released_at = base::boot_now();
  a->release(old.version, {.clean = true});
  ASSERT_TRUE(shows(*by_b, "b"));
  EXPECT_LE(by_b->seen.back().expires_at, base::boot_now() + std::chrono::seconds(3));
  EXPECT_GE(by_b->seen.back().expires_at, released_at + std::chrono::seconds(3));
}

TEST_F(SqliteLine, AReleaseThatIsNotCleanLeavesADoubt) {
  expect_doubt_after_unclean_end(loop_, stand_in_line());
}

TEST_F(SqliteLine, AHolderWhoseTermIsEndedByAnotherMemberIsFollowedByWhoStandsInLine) {
  const line_of_two two = stand_in_line();
  expect_line_moves_on_without_the_holder(loop_, two, *join("c"));
}

TEST_F(SqliteLine, WhoStandsInLineMayEndTheTermItself) {
  const auto [a, b, by_a, by_b, old] = stand_in_line();
  const core::holder its = b->read().holders.at(0);
  a->close();
  EXPECT_EQ(words(b->end_term(its, {.clean = true})), "released");
  const stores::grant next = b->hold();
  EXPECT_GT(next.version, old.version);
  EXPECT_TRUE(next.released_cleanly);
}

TEST_F(SqliteLine, AHolderThatIsDeletedIsFollowedByNobodyAtOnce) {
  const auto [a, b, by_a, by_b, old] = stand_in_line();
  change("DELETE FROM lease");
  EXPECT_TRUE(b->read().holders.empty());
  EXPECT_FALSE(b->hold().released_cleanly);
}

TEST_F(SqliteLine, TheWatchShowsWhetherThereIsAPlace) {
  const auto [a, b, by_a, by_b, old] = stand_in_line();
  const auto last_says = [&](bool in_line) {
    return loop_.run_until(
        [&] { return !by_b->seen.empty() && by_b->seen.back().in_line == in_line; });
  };
  EXPECT_TRUE(last_says(true));
  (*b)->stand_in_line(first, false);
  EXPECT_TRUE(last_says(false));
  EXPECT_EQ(place(), "");
  stand(*b, "b");
  EXPECT_TRUE(last_says(true));
  a->release(old.version, {.clean = true});
  ASSERT_TRUE(shows(*by_b, "b"));
  EXPECT_FALSE(by_b->seen.back().in_line) << "it is a term";
}

TEST_F(SqliteLine, WhoHasLeftTheLineIsPassedNothing) {
  const auto [a, b, by_a, by_b, old] = stand_in_line();
  (*b)->stand_in_line(first, false);
  EXPECT_TRUE(eventually(loop_, [&] { return place().empty(); }));
  EXPECT_EQ(words(a->release(0, old.version)), "released");
  EXPECT_TRUE(a->read().holders.empty());
}

TEST_F(SqliteLine, WhoHasLeftIsPassedNothing) {
  auto [a, b, by_a, by_b, old] = stand_in_line();
  b->leave();
  EXPECT_EQ(place(), "b") << "its place is there, but nobody is behind it";
  EXPECT_EQ(words(a->release(0, old.version)), "released");
  EXPECT_TRUE(a->read().holders.empty());
}

TEST_F(SqliteLine, WhoHasCrashedIsPassedNothing) {
  auto [a, b, by_a, by_b, old] = stand_in_line();
  b.reset();
  EXPECT_EQ(place(), "b");
  EXPECT_EQ(words(a->release(0, old.version)), "released");
  EXPECT_TRUE(a->read().holders.empty());
}

TEST_F(SqliteLine, AMemberThatIsNamedComesBeforeTheOneInLine) {
  expect_named_member_before_line(loop_, stand_in_line());
}

TEST_F(SqliteLine, TheOneInLineIsPassedTheTermIfItIsNamed) {
  expect_term_for_named_member_in_line(loop_, stand_in_line());
}

TEST_F(SqliteLine, WhoComesNextNowTakesThePlaceOfTheOther) {
  const auto [a, b, by_a, by_b, old] = stand_in_line();
  const auto c = join("c");
  const auto by_c = c->watch();
  stand(*c, "c");
  a->release(old.version, {.clean = true});
  ASSERT_TRUE(shows(*by_c, "c"));
  EXPECT_TRUE(c->hold().released_cleanly);
}

TEST_F(SqliteLine, APlaceOfAnEarlierBootIsPassedOver) {
  const auto [a, b, by_a, by_b, old] = stand_in_line();
  // Also when b has written it again.
  for (const std::string event : {"INSERT", "UPDATE"}) {
    change(("CREATE TRIGGER of_" + event + " AFTER " + event +
            " ON place BEGIN UPDATE place SET boot_id = 'another'; END")
               .c_str());
  }
  change("UPDATE place SET boot_id = 'another'");
  EXPECT_EQ(words(a->release(0, old.version)), "released");
  EXPECT_TRUE(a->read().holders.empty());
}

TEST_F(SqliteLine, APlaceThatSomebodyHasDeletedIsWrittenAgain) {
  const auto [a, b, by_a, by_b, old] = stand_in_line();
  change("DELETE FROM place");
  EXPECT_EQ(words(a->renew(term(old.version))), "renewed");
  EXPECT_TRUE(eventually(loop_, [&] { return place() == "b"; }));
}

TEST_F(SqliteLine, ATermThatNobodyHasAskedForIsReleased) {
  expect_term_not_asked_for_is_over(loop_, stand_in_line());
}

TEST_F(SqliteLine, WithSeveralSlotsThereIsNoLine) {
  const auto a = join("a", long_ttl, 2);
  const auto b = join("b", long_ttl, 2);
  const stores::grant old = a->hold();
  (*b)->stand_in_line(first, true);
  const auto by_b = b->watch();
  ASSERT_TRUE(loop_.run_until([&] { return by_b->shows(held_by("a")); }));
  EXPECT_EQ(words(a->release(0, old.version)), "released");
  EXPECT_TRUE(b->read().holders.empty());
}

}  // namespace
}  // namespace tenure::tests
