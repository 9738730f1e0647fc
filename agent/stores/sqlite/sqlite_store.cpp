#include "stores/sqlite/sqlite_store.hpp"

#include <atomic>
#include <optional>
#include <utility>

#include "core/check.hpp"
#include "stores/sqlite/file_watch.hpp"
#include "stores/sqlite/lease_file.hpp"
#include "stores/sqlite/line.hpp"
#include "stores/sqlite/pending_calls.hpp"
#include "stores/sqlite/subscriptions.hpp"
#include "stores/sqlite/surroundings.hpp"

namespace tenure::stores {
namespace {

using namespace sqlite;

/// How long `open` waits for programs that hold the file's locks.
constexpr core::duration open_patience = std::chrono::seconds(2);
/// The time limit for one read for the watches. In WAL mode, a reader hardly ever waits.
constexpr core::duration look_patience = std::chrono::seconds(2);
/// The same for one write of our places in line, which nobody waits for.
constexpr core::duration line_patience = std::chrono::seconds(2);
/// An election has at most one acquire, one release or end of another's term, and one read under
/// way, and one change of what is said of us. Beside those there are the opening, the renewal and
/// the look, each of which may be followed by the next before it is over; and orders, of which few
/// wait at a time.
constexpr std::size_t calls_per_election = 4;
constexpr std::size_t other_calls = 8 + 64;

not_agreed versions_are_taken_as_they_are() {
  return {.why =
              "the versions of a SQLite file go back only if it is lost or replaced while no "
              "member runs, and then members take them as they are",
          .action =
              "leave that out, it is for a restored etcd, Consul or Kubernetes; to raise the "
              "versions, end all members and say: sqlite3 FILE \"UPDATE election SET version "
              "= N WHERE name = 'ELECTION'\""};
}

/// The asynchronous shell: sends calls to one worker thread, brings answers back to the loop, and
/// looks at the file when it changes.
class sqlite_store final : public store {
 public:
  sqlite_store(std::unique_ptr<surroundings> in, setup with, std::string path)
      : surroundings_(std::move(in)),
        loop_(surroundings_->loop()),
        clock_(surroundings_->clock()),
        hears_(std::move(with.hears)),
        notes_(std::move(with.notes)),
        contact_(with.ttl),
        look_every_(with.ttl / core::store_looks_per_ttl),
        look_timer_(loop_),
        path_(std::move(path)),
        file_(path_,
              member{.identity = with.identity,
                     .session = with.session,
                     .boot_id = surroundings_->boot_id(),
                     .ttl = with.ttl,
                     .clock = [this] { return clock_.now(); }},
              with.elections, with.announce, stopping_, clock_),
        is_listed_(with.announce && with.elections.size() <= membership::most_announced),
        watches_(with.elections.size()),
        own_(with.elections.size()),
        line_([this](const line::request& what, std::function<void(bool)> done) {
          line_up(what, std::move(done));
        }),
        calls_(loop_),
        worker_(
            surroundings_->make_runner(with.elections.size() * calls_per_election + other_calls)) {}

  ~sqlite_store() override { close(); }

  void open(handler<std::expected<description, open_error>> done) override;

  [[nodiscard]] description describe() const override { return self_; }

  void acquire(core::election_index which, core::version above, core::time_point deadline,
               handler<acquire_outcome> done) override {
    TENURE_CHECK(core::place(which) < watches_.size());
    if (auto own = take_up(which, above)) {
      return loop_.post(
          [own = std::move(*own), done = std::move(done), alive = std::weak_ptr(alive_)]() mutable {
            if (!alive.expired()) done(std::move(own));
          });
    }
    auto heard = [this, which, done = std::move(done)](acquire_outcome outcome) mutable {
      if (const auto* granted = std::get_if<grant>(&outcome)) {
        own_[core::place(which)].granted = granted->version;
      }
      done(std::move(outcome));
    };
    call<acquire_outcome>("acquire a lease", deadline, job_runner::place::last, std::move(heard),
                          [=, this] { return file_.acquire(which, above, deadline); });
  }

  /// Goes ahead of what waits: ten thousand elections that acquire at a start must not cost the
  /// leases that are held.
  void renew(std::vector<core::renewal_item> items, core::time_point deadline,
             handler<renew_outcome> done) override {
    for (const auto& item : items) TENURE_CHECK(core::place(item.which) < watches_.size());
    call<renew_outcome>(
        "renew leases", deadline, job_runner::place::first, std::move(done),
        [=, this, items = std::move(items)] { return file_.renew(items, deadline); });
  }

  void release(core::election_index which, core::version version, release_details how,
               core::time_point deadline, handler<release_outcome> done) override {
    TENURE_CHECK(core::place(which) < watches_.size());
    own_[core::place(which)].from_turn = ++turn_;
    call<release_outcome>("release a lease", deadline, job_runner::place::last, std::move(done),
                          [=, this] { return file_.release(which, version, how, deadline); });
  }

  void end_term(core::election_index which, const core::holder& whose, release_details how,
                core::time_point deadline, handler<release_outcome> done) override {
    TENURE_CHECK(core::place(which) < watches_.size());
    call<release_outcome>("end the term of another member", deadline, job_runner::place::last,
                          std::move(done),
                          [=, this] { return file_.end_term(which, whose, how, deadline); });
  }

  void read(core::election_index which, core::time_point deadline,
            handler<read_outcome> done) override {
    TENURE_CHECK(core::place(which) < watches_.size());
    call<read_outcome>("read a lease", deadline, job_runner::place::last, std::move(done),
                       [=, this]() -> read_outcome {
                         auto seen = file_.read(std::span(&which, 1), deadline);
                         if (!seen) return std::move(seen.error());
                         return std::move(seen->front().seen);
                       });
  }

  void watch(core::election_index which, watch_handler seen) override {
    TENURE_CHECK(core::place(which) < watches_.size());
    watches_.add(which, std::move(seen));
    if (changes_stale_) {
      if (auto started = watch_file(); !started) return fail_soon(std::move(started.error()));
    }
    look();
  }

  void leave_order(core::election_index which, core::left_order what, core::time_point deadline,
                   handler<order_outcome> done) override {
    call<order_outcome>("leave an order", deadline, job_runner::place::last, std::move(done),
                        [this, which, what = std::move(what), deadline] {
                          return file_.leave_order(which, what, deadline);
                        });
  }

  void answer_order(core::election_index which, const std::string& id, core::order_reply reply,
                    core::time_point deadline, handler<order_outcome> done) override {
    call<order_outcome>("answer an order", deadline, job_runner::place::last, std::move(done),
                        [this, which, id, reply = std::move(reply), deadline] {
                          return file_.answer_order(which, id, reply, deadline);
                        });
  }

  void drop_order(core::election_index which, const std::string& id, core::time_point deadline,
                  handler<order_outcome> done) override {
    call<order_outcome>("drop an order", deadline, job_runner::place::last, std::move(done),
                        [=, this] { return file_.drop_order(which, id, deadline); });
  }

  void accept_versions(core::election_index which, core::time_point,
                       handler<agree_outcome> done) override {
    TENURE_CHECK(core::place(which) < watches_.size());
    loop_.post([done = std::move(done), alive = std::weak_ptr(alive_)]() mutable {
      if (!alive.expired()) done(versions_are_taken_as_they_are());
    });
  }

  void announce(core::election_index which, const core::readiness& says) override {
    if (!is_listed_) return;
    run(
        job_runner::place::last,
        [this, which, says] {
          file_.say(which, says);
          return std::monostate();
        },
        [](std::monostate) {});
  }

  void stand_in_line(core::election_index which, bool stands) override {
    if (is_listed_) line_.want(which, stands);
  }

  void leave(core::time_point deadline, handler<release_outcome> done) override {
    line_.close();
    call<release_outcome>("leave", deadline, job_runner::place::last, std::move(done), [this] {
      file_.leave();
      return release_outcome(released{});
    });
  }

  void close() override {
    alive_.reset();
    stopping_ = true;
    look_timer_.cancel();
    line_.close();
    changes_.reset();
    calls_.clear();
    worker_->stop();
  }

 private:
  /// Runs `work` on the worker and calls `done` with its result, or with `unknown` at the deadline.
  /// `work` does not start after the deadline: a call that was given up must not be executed
  /// unnoticed.
  template <class Outcome, class Work>
  void call(const char* what, core::time_point deadline, job_runner::place where,
            handler<Outcome> done, Work work);

  /// Calls `then(result of work)` on the loop, unless the store is closed by then.
  template <class Work, class Then>
  bool run(job_runner::place where, Work work, Then then);

  void line_up(const line::request& what, std::function<void(bool)> done);
  void look();
  void look_later();
  void showed(const std::vector<core::election_index>& watched, std::uint64_t turn,
              core::time_point asked_at, std::expected<std::vector<looked>, unknown> seen);
  std::optional<grant> take_up(core::election_index which, core::version above);
  void fail_watches(const std::string& why);
  void fail_soon(std::string why);
  std::expected<void, std::string> watch_file();
  std::expected<description, open_error> opened(
      std::expected<std::vector<std::string>, std::string> warnings, std::string cluster_id);

  /// While another program keeps a lock, the file can be read but not written. Then a look does not
  /// count as an answer: the silence is that of the calls.
  void tell(const core::contact_event& what) {
    const core::time_point now = loop_.now();
    contact_.take(now, what);
    if (std::holds_alternative<core::contact::showed>(what) && !contact_.reachable(now)) return;
    if (hears_) hears_(what);
  }

  /// A term of ours that was not asked for: it was passed to our place in line.
  struct own_term {
    std::optional<grant> shown{};  ///< while the watch shows it
    std::uint64_t from_turn = 0;   ///< earlier looks may show a term that was released since
    core::version granted = core::no_version;  ///< the newest; it may be over by now
  };

  std::unique_ptr<surroundings> surroundings_;
  base::event_loop& loop_;
  const thread_clock& clock_;
  std::function<void(const core::contact_event&)> hears_;
  std::function<void(const notice&)> notes_;
  core::store_contact contact_;  ///< as reported to `hears_`
  core::duration look_every_;
  base::timer look_timer_;
  std::string path_;
  std::atomic<bool> stopping_ = false;
  lease_file file_;  // used on the worker
  bool is_listed_;
  subscriptions watches_;
  std::vector<own_term> own_;  ///< by election
  std::uint64_t turn_ = 0;     ///< the number of looks and releases that were asked for
  line line_;
  pending_calls calls_;
  description self_;
  std::optional<file_watch> changes_;
  bool look_failed_ = false;    ///< the last look
  bool changes_stale_ = false;  ///< it broke, and starts again with the next watch
  /// Owned by this object alone; handlers check through it whether this object still exists.
  std::shared_ptr<const bool> alive_ = std::make_shared<const bool>(true);
  std::unique_ptr<job_runner>
      worker_;  // last member: it stops before anything that it uses is destroyed
};

template <class Work, class Then>
bool sqlite_store::run(job_runner::place where, Work work, Then then) {
  return worker_->add(
      [this, work = std::move(work), then = std::move(then),
       alive = std::weak_ptr(alive_)]() mutable -> job_runner::task {
        auto result = work();
        return [this, result = std::move(result), notices = file_.take_notices(),
                then = std::move(then), alive = std::move(alive)]() mutable {
          if (alive.expired()) return;
          // Notices first: they may be the reason for the result.
          for (const notice& one : notices) {
            if (notes_) notes_(one);
          }
          then(std::move(result));
        };
      },
      where);
}

template <class Outcome, class Work>
void sqlite_store::call(const char* what, core::time_point deadline, job_runner::place where,
                        handler<Outcome> done, Work work) {
  const auto give_up = [what, path = path_](const char* why) {
    return unknown{std::string("cannot ") + what + " in " + path + ": " + why};
  };
  const auto too_late = [give_up] {
    return give_up(
        "not done by its deadline; see whether the disk is slow or another program holds the "
        "file");
  };
  handler<Outcome> heard = [this, asked_at = loop_.now(),
                            done = std::move(done)](Outcome outcome) mutable {
    if (const auto* none = std::get_if<unknown>(&outcome)) {
      tell(core::contact::failed{.asked_at = asked_at, .why = none->why});
    } else {
      tell(core::contact::answered{});
    }
    done(std::move(outcome));
  };
  const auto finish = calls_.add<Outcome>(deadline, std::move(heard), too_late);
  const bool queued = run(
      where,
      [work = std::move(work), too_late, deadline, &clock = clock_]() -> Outcome {
        if (clock.now() >= deadline) return too_late();
        return work();
      },
      finish);
  if (queued) return;
  loop_.post([finish, give_up, alive = std::weak_ptr(alive_)] {
    if (!alive.expired()) finish(give_up("too many calls are waiting for the disk"));
  });
}

void sqlite_store::open(handler<std::expected<description, open_error>> done) {
  const auto fail = [&](std::string text) {
    loop_.post(
        [done = std::move(done), text = std::move(text), alive = std::weak_ptr(alive_)]() mutable {
          if (!alive.expired()) done(std::unexpected(open_error{std::move(text)}));
        });
  };
  if (const auto shared = surroundings_->shares_its_clock(); !shared) {
    return fail("cannot keep leases in " + path_ + ": " + shared.error());
  }
  if (!worker_->start()) {
    return fail("cannot open " + path_ + ": no thread can be started; raise the limit of tasks");
  }
  struct result {
    std::expected<std::vector<std::string>, std::string> warnings;
    std::string cluster_id;
  };
  const bool queued = run(
      job_runner::place::first,
      [this] {
        auto warnings = file_.open(clock_.now() + open_patience);
        return result{std::move(warnings), file_.cluster_id()};
      },
      [this, done = std::move(done)](result r) mutable {
        done(opened(std::move(r.warnings), std::move(r.cluster_id)));
      });
  TENURE_CHECK(queued);
}

std::expected<description, open_error> sqlite_store::opened(
    std::expected<std::vector<std::string>, std::string> warnings, std::string cluster_id) {
  if (!warnings) return std::unexpected(open_error{std::move(warnings.error())});
  if (auto started = watch_file(); !started) {
    return std::unexpected(open_error{std::move(started.error())});
  }
  self_.store = "sqlite";
  self_.server_version = library_version();
  self_.cluster_id = std::move(cluster_id);
  // A watched election may have changed before the file was watched.
  look();
  self_.warnings = std::move(*warnings);
  return self_;
}

/// A term that the watch shows at this moment and that lasts long enough: nothing is written.
std::optional<grant> sqlite_store::take_up(core::election_index which, core::version above) {
  own_term& ours = own_[core::place(which)];
  auto own = std::exchange(ours.shown, std::nullopt);
  const bool is_fresh = own && own->version >= above && loop_.now() < own->sent_at + own->ttl / 2;
  if (!is_fresh) return std::nullopt;
  ours.granted = own->version;
  return own;
}

// Places in line -------------------------------------------------------------------------------

/// What has failed is tried again after the next look, which is not now.
void sqlite_store::line_up(const line::request& what, std::function<void(bool)> done) {
  const core::time_point deadline = loop_.now() + line_patience;
  const bool queued = run(
      job_runner::place::last,
      [this, what, deadline] { return file_.line_up(what.stand, what.leave, deadline); },
      [this, done](const std::optional<unknown>& failure) {
        done(!failure);
        if (!failure) look();
      });
  if (queued) return;
  loop_.post([done, alive = std::weak_ptr(alive_)] {
    if (!alive.expired()) done(false);
  });
}

// Watches --------------------------------------------------------------------------------------

/// Looks again later although nobody writes to a file whose holders are dead: standbys need to know
/// that the file can still be read.
void sqlite_store::look_later() {
  look_timer_.after(look_every_, [this] {
    line_.try_again();
    look();
  });
}

/// Reads all watched elections at once, after the calls that wait already.
void sqlite_store::look() {
  std::vector<core::election_index> watched = watches_.begin_look();
  if (watched.empty()) return;
  const std::uint64_t turn = ++turn_;
  const bool queued = run(
      job_runner::place::last,
      [this, watched] { return file_.read(watched, clock_.now() + look_patience); },
      [this, watched, turn,
       asked_at = loop_.now()](std::expected<std::vector<looked>, unknown> seen) {
        showed(watched, turn, asked_at, std::move(seen));
      });
  if (queued) return;
  watches_.end_look();
  fail_soon("cannot read leases in " + path_ + ": too many calls are waiting for the disk");
}

void sqlite_store::fail_soon(std::string why) {
  loop_.post([this, why = std::move(why), alive = std::weak_ptr(alive_)] {
    if (!alive.expired()) fail_watches(why);
  });
}

void sqlite_store::showed(const std::vector<core::election_index>& watched, std::uint64_t turn,
                          core::time_point asked_at,
                          std::expected<std::vector<looked>, unknown> seen) {
  if (!seen) {
    tell(core::contact::failed{.asked_at = asked_at, .why = seen.error().why});
  } else {
    // A look that works does not prove that the file can be written.
    if (look_failed_) tell(core::contact::answered{});
    tell(core::contact::showed{});
  }
  look_failed_ = !seen;
  look_later();
  const std::weak_ptr alive = alive_;
  for (std::size_t i = 0; i < watched.size(); ++i) {
    if (!watches_.concerned(watched[i])) continue;
    if (seen) {
      looked& one = (*seen)[i];
      one.seen.in_line = one.seen.in_line || line_.is_busy(watched[i]);
      line_.saw(watched[i], one.place);
      own_term& ours = own_[core::place(watched[i])];
      const bool is_new = one.own && turn > ours.from_turn && one.own->version > ours.granted;
      if (is_new) ours.shown = std::move(one.own);
      watches_.show(watched[i], one.seen);
      if (alive.expired()) return;  // the handler has closed the store
      ours.shown.reset();
    } else {
      watches_.fail(watched[i], seen.error());
    }
    if (alive.expired()) return;  // the handler has closed the store
  }
  if (watches_.end_look()) look();
}

std::expected<void, std::string> sqlite_store::watch_file() {
  changes_.emplace(
      *surroundings_, path_, [this] { look(); },
      [this](const std::string& why) {
        changes_stale_ = true;
        fail_watches(why);
      });
  auto started = changes_->start();
  changes_stale_ = !started;
  return started;
}

void sqlite_store::fail_watches(const std::string& why) {
  const std::weak_ptr alive = alive_;
  for (std::size_t i = 0; i < watches_.size(); ++i) {
    watches_.fail(core::election_index{static_cast<std::uint32_t>(i)}, unknown{why});
    if (alive.expired()) return;
  }
}

}  // namespace

std::expected<std::unique_ptr<store>, open_error> make_sqlite_store(
    std::unique_ptr<surroundings> in, setup with) {
  auto path = path_of(with.endpoints);
  if (!path) return std::unexpected(open_error{std::move(path.error())});
  return std::make_unique<sqlite_store>(std::move(in), std::move(with), std::move(*path));
}

}  // namespace tenure::stores
