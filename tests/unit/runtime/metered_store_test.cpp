#include "runtime/metered_store.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <memory>
#include <string>
#include <utility>

#include "core/timing.hpp"
#include "http/asio_loop.hpp"
#include "unit/runtime/unasked_store.hpp"

namespace tenure::runtime {
namespace {

using testing::HasSubstr;

constexpr core::election_index db{0};

/// A store that answers at once what the test has put here.
class scripted_store final : public unasked_store {
 public:
  [[nodiscard]] stores::description describe() const override {
    stores::description out;
    out.store = "scripted";
    return out;
  }
  void open(stores::handler<std::expected<stores::description, stores::open_error>> done) override {
    done(describe());
  }
  void acquire(core::election_index, core::version, core::time_point,
               stores::handler<stores::acquire_outcome> done) override {
    done(acquired);
  }
  void renew(std::vector<core::renewal_item>, core::time_point,
             stores::handler<stores::renew_outcome> done) override {
    done(renewed);
  }
  void release(core::election_index, core::version, stores::release_details, core::time_point,
               stores::handler<stores::release_outcome> done) override {
    done(released);
  }
  void end_term(core::election_index, const core::holder&, stores::release_details,
                core::time_point, stores::handler<stores::release_outcome> done) override {
    done(released);
  }
  void read(core::election_index, core::time_point,
            stores::handler<stores::read_outcome> done) override {
    done(seen);
  }
  void watch(core::election_index, stores::watch_handler shows) override {
    watcher = std::move(shows);
  }
  void close() override { closed = true; }

  stores::acquire_outcome acquired;
  stores::renew_outcome renewed;
  stores::release_outcome released;
  stores::read_outcome seen;
  stores::watch_handler watcher;
  bool closed = false;
};

struct metered {
  metered() {
    auto made = std::make_unique<scripted_store>();
    inner = made.get();
    store = make_metered_store(std::move(made), in, loop);
  }

  std::string page() {
    return in.page(published, [] { return api::instant{}; }, 0);
  }
  /// True if so many requests of this operation have ended so.
  bool counted(const std::string& operation, const std::string& outcome, int times) {
    return page().find("{operation=\"" + operation + "\",outcome=\"" + outcome + "\"} " +
                       std::to_string(times) + "\n") != std::string::npos;
  }

  boost::asio::io_context io;
  http::asio_loop loop{io.get_executor()};
  metrics::instruments in{{.when = *core::resolve({})}};
  api::published published;
  scripted_store* inner = nullptr;
  std::unique_ptr<stores::store> store;
};

TEST(MeteredStore, AnswersPassUnchanged) {
  metered m;
  m.inner->acquired = stores::unknown{"no route"};
  std::string why;
  m.store->acquire(
      db, {}, {}, [&](stores::acquire_outcome what) { why = std::get<stores::unknown>(what).why; });
  EXPECT_EQ(why, "no route");
  EXPECT_EQ(m.store->describe().store, "scripted");
  m.store->close();
  EXPECT_TRUE(m.inner->closed);
}

TEST(MeteredStore, EachOutcomeIsCountedOnce) {
  metered m;
  const auto acquire = [&](stores::acquire_outcome what) {
    m.inner->acquired = std::move(what);
    m.store->acquire(db, {}, {}, [](const stores::acquire_outcome&) {});
  };
  acquire(stores::grant{});
  acquire(stores::refusal{});
  acquire(stores::unknown{});
  EXPECT_TRUE(m.counted("acquire", "done", 1));
  EXPECT_TRUE(m.counted("acquire", "refused", 1));
  EXPECT_TRUE(m.counted("acquire", "unknown", 1));
  m.store->release(db, {}, {.clean = true}, {}, [](const stores::release_outcome&) {});
  EXPECT_TRUE(m.counted("release", "done", 1));
  m.store->end_term(db, {}, {.clean = true}, {}, [](const stores::release_outcome&) {});
  EXPECT_TRUE(m.counted("release", "done", 2)) << "also the end of another member's term";
  m.store->read(db, {}, [](const stores::read_outcome&) {});
  EXPECT_TRUE(m.counted("read", "done", 1));
}

TEST(MeteredStore, ARenewalThatLosesATermIsLostAndOnlyAcknowledgedOnesAreTimed) {
  metered m;
  const auto renew = [&](stores::renew_outcome what) {
    m.inner->renewed = std::move(what);
    m.store->renew({}, {}, [](const stores::renew_outcome&) {});
  };
  renew(stores::renewal{});
  renew(stores::renewal{.sent_at = {}, .ttl = {}, .lost = {{.which = db}}});
  renew(stores::renewal{.lost = {}, .unanswered = {{.which = db, .why = "forbidden"}}});
  renew(stores::unknown{});
  EXPECT_TRUE(m.counted("renew", "done", 1));
  EXPECT_TRUE(m.counted("renew", "lost", 1));
  EXPECT_TRUE(m.counted("renew", "unknown", 2));
  EXPECT_THAT(m.page(), HasSubstr("tenure_lease_renewal_duration_seconds_count 3\n"));
}

TEST(MeteredStore, AWatchAnswersWhenItFirstShowsSomethingAndWhenItBreaks) {
  metered m;
  int seen = 0;
  m.store->watch(db, [&](const auto&) { ++seen; });
  m.inner->watcher(core::observation{});
  m.inner->watcher(core::observation{});
  EXPECT_TRUE(m.counted("watch", "done", 1));
  m.inner->watcher(stores::unknown{});
  EXPECT_TRUE(m.counted("watch", "unknown", 1));
  EXPECT_EQ(seen, 3);
}

}  // namespace
}  // namespace tenure::runtime
