#include "scene.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <utility>

#include "core/check.hpp"

namespace tenure::tests {

bool loop::run_until(const std::function<bool()>& condition) {
  const core::time_point deadline = base::boot_now() + patience;
  while (!condition()) {
    const core::duration left = deadline - base::boot_now();
    if (left <= core::duration::zero()) return false;
    context_.restart();
    if (context_.run_one_for(left) == 0 && !condition()) return false;
  }
  return true;
}

// A member -------------------------------------------------------------------------------------

member::member(loop& where, const stores::setup& with) : loop_(where) {
  auto made = stores::make_store(where.events(), with);
  if (!made) ADD_FAILURE() << made.error().text;
  TENURE_CHECK(made.has_value());
  store_ = std::move(*made);
}

member::~member() {
  close();
}

void member::close() {
  if (!store_) return;
  store_->close();
  store_.reset();
}

template <class Outcome, class Call>
Outcome member::wait_for(Call call) {
  // Shared, as the answer may come after the test has given up.
  const auto answer = std::make_shared<std::optional<Outcome>>();
  call([answer](Outcome outcome) { answer->emplace(std::move(outcome)); });
  EXPECT_FALSE(answer->has_value()) << "a handler was called from within the call";
  EXPECT_TRUE(loop_.run_until([&] { return answer->has_value(); })) << "no answer";
  TENURE_CHECK(answer->has_value());
  return std::move(**answer);
}

std::expected<stores::description, stores::open_error> member::open() {
  using outcome = std::expected<stores::description, stores::open_error>;
  return wait_for<outcome>([&](auto done) { store_->open(std::move(done)); });
}

stores::acquire_outcome member::acquire(std::uint32_t which, std::uint64_t above) {
  return wait_for<stores::acquire_outcome>([&](auto done) {
    store_->acquire(core::election_index{which}, core::version{above}, deadline(), std::move(done));
  });
}

stores::renew_outcome member::renew(std::vector<core::renewal_item> items) {
  return wait_for<stores::renew_outcome>(
      [&](auto done) { store_->renew(std::move(items), deadline(), std::move(done)); });
}

stores::release_outcome member::release(std::uint32_t which, core::version version, bool clean) {
  return wait_for<stores::release_outcome>([&](auto done) {
    store_->release(core::election_index{which}, version, {.clean = clean}, deadline(),
                    std::move(done));
  });
}

void member::release(core::version version, stores::release_details how) {
  const auto outcome = wait_for<stores::release_outcome>([&](auto done) {
    store_->release(core::election_index{0}, version, how, deadline(), std::move(done));
  });
  EXPECT_TRUE(std::holds_alternative<stores::released>(outcome));
}

stores::release_outcome member::end_term(const core::holder& whose, stores::release_details how) {
  return wait_for<stores::release_outcome>([&](auto done) {
    store_->end_term(core::election_index{0}, whose, how, deadline(), std::move(done));
  });
}

stores::agree_outcome member::accept_versions() {
  return wait_for<stores::agree_outcome>([&](auto done) {
    store_->accept_versions(core::election_index{0}, deadline(), std::move(done));
  });
}

bool member::leave_order(core::left_order what) {
  return written(wait_for<stores::order_outcome>([&](auto done) {
           store_->leave_order(core::election_index{0}, std::move(what), deadline(),
                               std::move(done));
         }))
      .done;
}

bool member::answer_order(const std::string& id, core::order_reply reply) {
  return written(wait_for<stores::order_outcome>([&](auto done) {
           store_->answer_order(core::election_index{0}, id, std::move(reply), deadline(),
                                std::move(done));
         }))
      .done;
}

stores::order_written member::drop_order(const std::string& id) {
  return written(wait_for<stores::order_outcome>([&](auto done) {
    store_->drop_order(core::election_index{0}, id, deadline(), std::move(done));
  }));
}

stores::order_written member::written(const stores::order_outcome& what) {
  if (const auto* failed = std::get_if<stores::unknown>(&what)) {
    ADD_FAILURE() << failed->why;
    return {.done = false};
  }
  return std::get<stores::order_written>(what);
}

void member::leave() {
  wait_for<stores::release_outcome>([&](auto done) { store_->leave(deadline(), std::move(done)); });
}

core::observation member::read(std::uint32_t which) {
  auto outcome = wait_for<stores::read_outcome>(
      [&](auto done) { store_->read(core::election_index{which}, deadline(), std::move(done)); });
  if (const auto* failed = std::get_if<stores::unknown>(&outcome)) {
    ADD_FAILURE() << failed->why;
    return {};
  }
  return std::get<core::observation>(outcome);
}

std::shared_ptr<sightings> member::watch(std::uint32_t which) {
  auto all = std::make_shared<sightings>();
  store_->watch(core::election_index{which}, [all](auto what) {
    if (auto* seen = std::get_if<core::observation>(&what)) all->seen.push_back(*seen);
    if (auto* broke = std::get_if<stores::unknown>(&what)) all->broken.push_back(broke->why);
  });
  EXPECT_TRUE(all->seen.empty() && all->broken.empty()) << "a watch was told from within the call";
  return all;
}

stores::grant member::hold(std::uint32_t which, std::uint64_t above) {
  auto outcome = acquire(which, above);
  if (const auto* failed = std::get_if<stores::unknown>(&outcome)) ADD_FAILURE() << failed->why;
  const auto* granted = std::get_if<stores::grant>(&outcome);
  EXPECT_NE(granted, nullptr) << "not granted";
  return granted != nullptr ? *granted : stores::grant{};
}

// Programs --------------------------------------------------------------------------

child::child(const std::vector<std::string>& command) {
  std::array<int, 2> ends{};
  TENURE_CHECK(::pipe2(ends.data(), O_CLOEXEC) == 0);
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  process_ = ::fork();
  TENURE_CHECK(process_ >= 0);
  if (process_ == 0) {
    ::dup2(ends[1], STDOUT_FILENO);
    ::execv(arguments.front(), arguments.data());
    ::_exit(127);
  }
  ::close(ends[1]);
  output_ = ends[0];
}

child::child(child&& other) noexcept
    : process_(std::exchange(other.process_, -1)),
      output_(std::exchange(other.output_, -1)),
      unread_(std::move(other.unread_)) {}

child::~child() {
  if (process_ > 0) {
    kill();
    wait();
  }
  if (output_ >= 0) ::close(output_);
}

std::optional<std::string> child::line() {
  for (;;) {
    if (const auto end = unread_.find('\n'); end != std::string::npos) {
      std::string found = unread_.substr(0, end);
      unread_.erase(0, end + 1);
      return found;
    }
    pollfd ready{.fd = output_, .events = POLLIN, .revents = 0};
    const auto limit = std::chrono::duration_cast<std::chrono::milliseconds>(patience).count();
    const int found = ::poll(&ready, 1, static_cast<int>(limit));
    if (found < 0 && errno == EINTR) continue;
    if (found <= 0) {
      ADD_FAILURE() << "the child process says nothing";
      return std::nullopt;
    }
    std::array<char, 4096> buffer{};
    const ssize_t size = ::read(output_, buffer.data(), buffer.size());
    if (size <= 0) return std::nullopt;
    unread_.append(buffer.data(), static_cast<std::size_t>(size));
  }
}

void child::kill() {
  ::kill(process_, SIGKILL);
}

void child::stop() {
  ::kill(process_, SIGSTOP);
  int status = 0;
  while (::waitpid(process_, &status, WUNTRACED) < 0 && errno == EINTR) {
  }
  EXPECT_TRUE(WIFSTOPPED(status));
}

int child::wait() {
  int status = 0;
  while (::waitpid(process_, &status, 0) < 0 && errno == EINTR) {
  }
  process_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

stores::setup settings_for(const std::string& kind, const std::string& endpoint,
                           const std::string& identity, core::duration ttl, std::uint32_t slots,
                           std::uint32_t elections) {
  stores::setup made;
  made.kind = kind;
  made.endpoints = {endpoint};
  made.identity = identity;
  made.session = "session of " + identity;
  made.ttl = ttl;
  for (std::uint32_t i = 0; i < elections; ++i) {
    made.elections.push_back({.name = "db" + std::to_string(i), .slots = slots});
  }
  return made;
}

std::string words(const stores::acquire_outcome& what) {
  if (std::holds_alternative<stores::grant>(what)) return "granted";
  if (std::holds_alternative<stores::refusal>(what)) return "refused";
  return "unknown: " + std::get<stores::unknown>(what).why;
}

std::string words(const stores::renew_outcome& what) {
  if (const auto* why = std::get_if<stores::unknown>(&what)) return "unknown: " + why->why;
  const auto& lost = std::get<stores::renewal>(what).lost;
  return lost.empty() ? "renewed" : "lost: " + std::string(core::name(lost.front().why));
}

std::string words(const stores::release_outcome& what) {
  if (const auto* why = std::get_if<stores::unknown>(&what)) return "unknown: " + why->why;
  return "released";
}

namespace {

/// Releases the term of a, and returns that of b; `no_version`: b has not come to hold.
core::version passed_on(loop& on, const line_of_two& in, stores::release_details how) {
  in.a->release(in.old.version, std::move(how));
  const bool holds = on.run_until([&] { return in.by_b->shows(held_by("b")); });
  EXPECT_TRUE(holds);
  return holds ? in.by_b->seen.back().holders.front().version : core::no_version;
}

}  // namespace

void expect_doubt_after_unclean_end(loop& on, const line_of_two& in) {
  ASSERT_NE(passed_on(on, in, {.clean = false}), core::no_version);
  EXPECT_FALSE(in.b->hold().released_cleanly);
}

void expect_named_member_before_line(loop& on, const line_of_two& in) {
  in.a->release(in.old.version, {.clean = true, .heir = "c"});
  // Before a's term nobody was shown, either.
  ASSERT_TRUE(on.run_until([&] {
    return in.by_b->shows([](const auto& now) { return nobody(now) && now.last_release; });
  }));
  EXPECT_EQ(in.by_b->seen.back().last_release->heir, "c");
}

void expect_term_for_named_member_in_line(loop& on, const line_of_two& in) {
  ASSERT_NE(passed_on(on, in, {.clean = true, .heir = "b"}), core::no_version);
  EXPECT_TRUE(in.b->hold().released_cleanly);
}

void expect_line_moves_on_without_the_holder(loop& on, const line_of_two& in, member& c) {
  const core::holder its = c.read().holders.at(0);
  in.a->close();
  EXPECT_EQ(words(c.end_term(its, {.clean = true, .why = core::loss_reason::container_died})),
            "released");
  ASSERT_TRUE(on.run_until([&] { return in.by_b->shows(held_by("b")); }));
  ASSERT_TRUE(in.by_b->seen.back().last_release);
  EXPECT_EQ(in.by_b->seen.back().last_release->holder, "a");
  const core::version shown = in.by_b->seen.back().holders.front().version;
  const stores::grant next = in.b->hold();
  EXPECT_EQ(next.version, shown);
  EXPECT_GT(next.version, in.old.version);
  EXPECT_TRUE(next.released_cleanly);
}

void expect_term_not_asked_for_is_over(loop& on, const line_of_two& in) {
  const core::version passed = passed_on(on, in, {.clean = true});
  ASSERT_NE(passed, core::no_version);
  EXPECT_EQ(words(in.b->release(0, passed)), "released");
  ASSERT_TRUE(on.run_until([&] { return in.by_a->shows(nobody); }));
  EXPECT_GT(in.b->hold().version, passed);
}

bool eventually(loop& on, const std::function<bool()>& what) {
  const core::time_point deadline = soon();
  while (!what()) {
    if (base::boot_now() > deadline) return false;
    on.context().restart();
    on.context().run_for(std::chrono::milliseconds(5));
  }
  return true;
}

}  // namespace tenure::tests
