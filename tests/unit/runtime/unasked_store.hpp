#pragma once

#include <gtest/gtest.h>

#include "stores/store.hpp"

namespace tenure::runtime {

/// A store that fails the test whatever it is asked, and hears what members say of themselves.
/// Tests override what they are about.
class unasked_store : public stores::store {
 public:
  [[nodiscard]] stores::description describe() const override { return {}; }
  void open(stores::handler<std::expected<stores::description, stores::open_error>>) override {
    ADD_FAILURE();
  }
  void acquire(core::election_index, core::version, core::time_point,
               stores::handler<stores::acquire_outcome>) override {
    ADD_FAILURE();
  }
  void renew(std::vector<core::renewal_item>, core::time_point,
             stores::handler<stores::renew_outcome>) override {
    ADD_FAILURE();
  }
  void release(core::election_index, core::version, stores::release_details, core::time_point,
               stores::handler<stores::release_outcome>) override {
    ADD_FAILURE();
  }
  void end_term(core::election_index, const core::holder&, stores::release_details,
                core::time_point, stores::handler<stores::release_outcome>) override {
    ADD_FAILURE();
  }
  void read(core::election_index, core::time_point,
            stores::handler<stores::read_outcome>) override {
    ADD_FAILURE();
  }
  void watch(core::election_index, stores::watch_handler) override { ADD_FAILURE(); }
  void accept_versions(core::election_index, core::time_point,
                       stores::handler<stores::agree_outcome>) override {
    ADD_FAILURE();
  }
  void leave_order(core::election_index, core::left_order, core::time_point,
                   stores::handler<stores::order_outcome>) override {
    ADD_FAILURE();
  }
  void answer_order(core::election_index, const std::string&, core::order_reply, core::time_point,
                    stores::handler<stores::order_outcome>) override {
    ADD_FAILURE();
  }
  void drop_order(core::election_index, const std::string&, core::time_point,
                  stores::handler<stores::order_outcome>) override {
    ADD_FAILURE();
  }
  /// Every candidate says whether it is ready.
  void announce(core::election_index, const core::readiness&) override {}
  void leave(core::time_point, stores::handler<stores::release_outcome>) override { ADD_FAILURE(); }
  void close() override { ADD_FAILURE(); }
};

}  // namespace tenure::runtime
