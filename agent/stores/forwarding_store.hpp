#pragma once

#include <expected>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "stores/store.hpp"

namespace tenure::stores {

/// A store that passes every call on to another one. A store that looks at some of the calls on
/// their way derives from it.
class forwarding_store : public store {
 public:
  explicit forwarding_store(std::unique_ptr<store> of) : of_(std::move(of)) {}

  void open(handler<std::expected<description, open_error>> done) override {
    of_->open(std::move(done));
  }
  [[nodiscard]] description describe() const override { return of_->describe(); }
  void acquire(core::election_index which, core::version above, core::time_point deadline,
               handler<acquire_outcome> done) override {
    of_->acquire(which, above, deadline, std::move(done));
  }
  void renew(std::vector<core::renewal_item> items, core::time_point deadline,
             handler<renew_outcome> done) override {
    of_->renew(std::move(items), deadline, std::move(done));
  }
  void release(core::election_index which, core::version version, release_details how,
               core::time_point deadline, handler<release_outcome> done) override {
    of_->release(which, version, std::move(how), deadline, std::move(done));
  }
  void end_term(core::election_index which, const core::holder& whose, release_details how,
                core::time_point deadline, handler<release_outcome> done) override {
    of_->end_term(which, whose, std::move(how), deadline, std::move(done));
  }
  void read(core::election_index which, core::time_point deadline,
            handler<read_outcome> done) override {
    of_->read(which, deadline, std::move(done));
  }
  void watch(core::election_index which, watch_handler seen) override {
    of_->watch(which, std::move(seen));
  }
  void accept_versions(core::election_index which, core::time_point deadline,
                       handler<agree_outcome> done) override {
    of_->accept_versions(which, deadline, std::move(done));
  }
  void leave_order(core::election_index which, core::left_order what, core::time_point deadline,
                   handler<order_outcome> done) override {
    of_->leave_order(which, std::move(what), deadline, std::move(done));
  }
  void answer_order(core::election_index which, const std::string& id, core::order_reply reply,
                    core::time_point deadline, handler<order_outcome> done) override {
    of_->answer_order(which, id, std::move(reply), deadline, std::move(done));
  }
  void drop_order(core::election_index which, const std::string& id, core::time_point deadline,
                  handler<order_outcome> done) override {
    of_->drop_order(which, id, deadline, std::move(done));
  }
  void announce(core::election_index which, const core::readiness& says) override {
    of_->announce(which, says);
  }
  void stand_in_line(core::election_index which, bool stands) override {
    of_->stand_in_line(which, stands);
  }
  bool hear(const core::word& what) override { return of_->hear(what); }
  void leave(core::time_point deadline, handler<release_outcome> done) override {
    of_->leave(deadline, std::move(done));
  }
  void close() override { of_->close(); }

 protected:
  [[nodiscard]] store& inner() { return *of_; }

 private:
  std::unique_ptr<store> of_;
};

}  // namespace tenure::stores
