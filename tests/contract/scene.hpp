#pragma once

#include <gmock/gmock.h>

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/boot_time.hpp"
#include "core/vocabulary.hpp"
#include "http/asio_loop.hpp"
#include "stores/store.hpp"
#include "support/patience.hpp"
#include "support/temporary_directory.hpp"

/// What the tests of stores are played with: a loop, members that call a store and wait for the
/// answer, and places that vanish with the test.
namespace tenure::tests {

/// The executor of a test. Runs until a condition holds, never for a time.
class loop {
 public:
  /// False if the condition did not come true within `patience`.
  [[nodiscard]] bool run_until(const std::function<bool()>& condition);
  boost::asio::io_context& context() { return context_; }
  http::asio_loop& events() { return events_; }

 private:
  boost::asio::io_context context_;
  http::asio_loop events_{context_.get_executor()};
};

/// What the store shows of a holder, besides its sequencer: to itself, and to others.
inline testing::Matcher<core::holder> shown(const std::string& identity, core::version version,
                                            bool ours, std::uint32_t slot) {
  return testing::AllOf(testing::Field("identity", &core::holder::identity, identity),
                        testing::Field("version", &core::holder::version, version),
                        testing::Field("ours", &core::holder::ours, ours),
                        testing::Field("slot", &core::holder::slot, slot));
}
inline testing::Matcher<core::holder> own(const std::string& identity, core::version version,
                                          std::uint32_t slot = 0) {
  return shown(identity, version, true, slot);
}
inline testing::Matcher<core::holder> other(const std::string& identity, core::version version,
                                            std::uint32_t slot = 0) {
  return shown(identity, version, false, slot);
}

/// What a watch has shown so far.
struct sightings {
  std::vector<core::observation> seen;
  std::vector<std::string> broken;

  [[nodiscard]] bool shows(const std::function<bool(const core::observation&)>& what) const {
    return !seen.empty() && what(seen.back());
  }
};

/// One agent's use of a store. Each call waits for its answer, which is due within `patience`
/// unless a test says otherwise.
class member {
 public:
  member(loop& where, const stores::setup& with);
  ~member();

  /// What the store has for each call from now on.
  void answer_within(core::duration time) { time_ = time; }

  std::expected<stores::description, stores::open_error> open();
  stores::acquire_outcome acquire(std::uint32_t which = 0, std::uint64_t above = 0);
  stores::renew_outcome renew(std::vector<core::renewal_item> items);
  stores::release_outcome release(std::uint32_t which = 0, core::version version = core::no_version,
                                  bool clean = true);
  /// Releases the term of `version` of the first election, and fails the test if that does not
  /// work.
  void release(core::version version, stores::release_details how);
  /// Ends a term of another member in the first election.
  stores::release_outcome end_term(const core::holder& whose, stores::release_details how);
  /// Orders of the first election. False, or not done, if the store says that there is none to be
  /// answered or dropped; fails the test if it does not answer.
  bool leave_order(core::left_order what);
  bool answer_order(const std::string& id, core::order_reply reply);
  stores::order_written drop_order(const std::string& id);
  stores::agree_outcome accept_versions();
  void leave();
  core::observation read(std::uint32_t which = 0);
  /// Collects what the watch shows from now on.
  std::shared_ptr<sightings> watch(std::uint32_t which = 0);

  /// Acquires, and fails the test if that is not granted.
  stores::grant hold(std::uint32_t which = 0, std::uint64_t above = 0);

  /// The store itself; null after `close`.
  stores::store* operator->() { return store_.get(); }
  /// Ends it as a crash would: nothing is released.
  void close();

 private:
  template <class Outcome, class Call>
  Outcome wait_for(Call call);

  stores::order_written written(const stores::order_outcome& what);
  [[nodiscard]] core::time_point deadline() const { return base::boot_now() + time_; }

  loop& loop_;
  core::duration time_ = patience;
  std::unique_ptr<stores::store> store_;
};

/// Another program, whose standard output can be read. Killed at the end if it still runs.
class child {
 public:
  explicit child(const std::vector<std::string>& command);
  ~child();
  child(child&& other) noexcept;
  child& operator=(child&&) = delete;

  /// The next line that it prints; nothing once it has ended.
  std::optional<std::string> line();
  void kill();
  /// Stops it (SIGSTOP), and returns once it is.
  void stop();
  /// Waits for its end. The exit code, or minus the signal that ended it.
  int wait();

 private:
  int process_ = -1;
  int output_ = -1;
  std::string unread_;
};

stores::setup settings_for(const std::string& kind, const std::string& endpoint,
                           const std::string& identity,
                           core::duration ttl = std::chrono::seconds(10), std::uint32_t slots = 1,
                           std::uint32_t elections = 1);

/// The same settings, for a member that is in the list of members.
inline stores::setup announced(stores::setup with) {
  with.announce = true;
  return with;
}

inline core::time_point soon() {
  return base::boot_now() + patience;
}

/// What came of a call, in a word: "granted", "refused", "renewed", "lost: REASON", "released", or
/// "unknown: WHY".
std::string words(const stores::acquire_outcome& what);
std::string words(const stores::renew_outcome& what);
std::string words(const stores::release_outcome& what);

/// A term of the first election, to be renewed.
inline std::vector<core::renewal_item> term(core::version version) {
  return {{.which = core::election_index{0}, .version = version}};
}

inline bool nobody(const core::observation& seen) {
  return seen.holders.empty();
}

/// One member holds, and this one.
inline auto held_by(const std::string& identity) {
  return [identity](const core::observation& seen) {
    return seen.holders.size() == 1 && seen.holders[0].identity == identity;
  };
}

/// a holds, and b stands in line; both watch.
struct line_of_two {
  std::unique_ptr<member> a;
  std::unique_ptr<member> b;
  std::shared_ptr<sightings> by_a;
  std::shared_ptr<sightings> by_b;
  stores::grant old;  ///< the term of a
};

// Rules that are the same on every store with a line. Each ends the term of a.

/// A release that is not clean leaves a doubt to b.
void expect_doubt_after_unclean_end(loop& on, const line_of_two& in);
/// Another member is named as the next holder: b is passed nothing.
void expect_named_member_before_line(loop& on, const line_of_two& in);
/// b is named, and is passed the term.
void expect_term_for_named_member_in_line(loop& on, const line_of_two& in);
/// c, which holds nothing, ends the term of a, which is dead: b holds cleanly, without a write of
/// its own.
void expect_line_moves_on_without_the_holder(loop& on, const line_of_two& in, member& c);
/// b releases a term that it has not asked for, and takes nothing of it up afterwards.
void expect_term_not_asked_for_is_over(loop& on, const line_of_two& in);

/// Polls, while the loop runs: others than the loop may make it true.
[[nodiscard]] bool eventually(loop& on, const std::function<bool()>& what);

}  // namespace tenure::tests
