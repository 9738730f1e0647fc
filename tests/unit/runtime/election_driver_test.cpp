#include "runtime/election_driver.hpp"

#include <gmock/gmock.h>

#include <boost/asio/io_context.hpp>
#include <string>
#include <vector>

#include "http/asio_loop.hpp"
#include "unasked_store.hpp"

namespace tenure::runtime {
namespace {

using namespace std::chrono_literals;

/// Notes the order in which the driver carries commands out, and feeds it from within.
struct scene final : election_workload, election_listener, election_host, unasked_store {
  void granted(core::version) override {}
  void show(const core::lease_group&) override {}
  void arm(const core::command::arm&) override {}
  void start(core::election_index, const core::election_view&) override {}
  void stop(const core::command::stop_workload&) override {}
  void forget_grants(const core::command::forget_grants&) override {}
  void renewed() override {}

  void store_answered(store_request) override {}
  void store_failed(store_request, const std::string&) override {}
  void watch_shows(core::election_index, const core::observation&) override {}
  void watch_broke(core::election_index, const std::string&) override {}
  void renewed(std::optional<core::duration>) override {}
  void held_back(core::election_index, const core::held_back&) override {}
  void releasing(core::election_index) override {}
  void release_failed(core::election_index) override {}
  void clocks_jumped(const clock_news&) override {}
  void workload_is_next() override {}
  void turned(core::time_point) override {}
  void phase_changed(core::election_index, const core::command::transition& what,
                     const core::command::stop_workload*) override {
    note(std::string("phase ") + std::string(core::name(what.to)));
  }
  void view_changed(core::election_index) override {}
  void step_ended() override { note("step ended"); }

  void phase_changed(core::election_index, const core::command::transition&) override {}
  void shown(core::election_index, const std::vector<core::holder>&,
             const std::vector<core::left_order>&) override {}
  void lost_sight(core::election_index) override {}
  void finished(core::election_index, core::loss_reason) override { note("finished"); }

  void watch(core::election_index, stores::watch_handler) override {
    note("watch");
    driver.feed_all(core::event::shutdown{core::loss_reason::shutdown});
  }

  void note(const std::string& what) { notes.push_back(what); }

  std::vector<std::string> notes;
  boost::asio::io_context io;
  http::asio_loop loop{io.get_executor()};
  election_driver driver{loop,
                         [this] { return base::clock_reading{.boot = loop.now()}; },
                         {},
                         {.workload = *this, .listener = *this, .host = *this}};
};

TEST(ElectionDriver, CarriesAStepOutBeforeAnEventThatIsFedFromWithin) {
  scene s;
  s.driver.begin(s, {{.identity = "a", .when = {}, .campaigns = false}}, {core::event::started{}});
  EXPECT_THAT(s.notes, testing::ElementsAre("watch", "step ended", "phase draining",
                                            "phase stopped", "finished", "step ended"));
}

TEST(ElectionDriver, TakesEventsThatComeBeforeItBeginsAfterTheFirst) {
  scene s;
  s.driver.feed_all(core::event::shutdown{core::loss_reason::shutdown});
  s.driver.begin(s, {{.identity = "a", .when = {}}}, {core::event::started{}});
  EXPECT_THAT(s.notes, testing::Contains("finished"));
}

}  // namespace
}  // namespace tenure::runtime
