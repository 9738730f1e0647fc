#pragma once

#include <gmock/gmock.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hostile_kubernetes.hpp"
#include "stores/kubernetes/kubernetes_store.hpp"
#include "stores/printable_store.hpp"
#include "virtual_kubernetes.hpp"

namespace tenure::tests {

/// Members of a Kubernetes in hand-moved time.
class VirtualKubernetes : public testing::Test {
 protected:
  using store_ptr = std::unique_ptr<stores::store>;

  [[nodiscard]] stores::setup settings(const std::string& identity, core::duration ttl,
                                       std::uint32_t slots = 1) {
    stores::setup made = settings_for("kubernetes", "http://10.0.0.1:6443", identity, ttl, slots);
    made.wall_ms = [this] { return api_.wall_ms(); };
    return made;
  }

  /// An agent that has opened the store.
  store_ptr join(const stores::setup& with) {
    auto made = stores::make_printable_store(with, [this](stores::setup what) {
      return stores::make_kubernetes_store(loop_, api_.connector(), std::move(what));
    });
    EXPECT_TRUE(made);
    std::optional<std::string> opened;
    (*made)->open([&](const auto& what) { opened = what ? "" : what.error().text; });
    loop_.pass(std::chrono::seconds(1));
    EXPECT_EQ(opened, "");
    return std::move(*made);
  }

  /// Passes up to a second, until it is answered.
  std::string acquire(stores::store& who, std::uint32_t which = 0) {
    std::string out;
    who.acquire(core::election_index{which}, core::no_version,
                loop_.now() + std::chrono::seconds(1), [&](const stores::acquire_outcome& what) {
                  out = words(what);
                  if (const auto* held = std::get_if<stores::grant>(&what)) held_ = *held;
                });
    wait_for(out);
    return out;
  }
  std::string renew(stores::store& who) {
    std::string out;
    who.renew(term(held_.version), loop_.now() + std::chrono::seconds(1),
              [&](const stores::renew_outcome& what) { out = words(what); });
    wait_for(out);
    return out;
  }

  /// Another program holds the first Lease.
  void hold_as_another(core::duration for_so_long, int renewal = 0) {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(for_so_long).count();
    api_.model().put("db0",
                     {{"holderIdentity", "go-program"},
                      {"leaseDurationSeconds", seconds},
                      {"leaseTransitions", 1},
                      {"acquireTime", "2026-01-31T12:00:00.000000Z"},
                      {"renewTime", "2026-01-31T12:00:0" + std::to_string(renewal) + ".000000Z"}});
    api_.show();
    loop_.run();
  }

  void wait_for(const std::string& out) {
    for (int i = 0; i < 2000 && out.empty(); ++i) loop_.pass(std::chrono::milliseconds(1));
    EXPECT_FALSE(out.empty()) << "no answer";
  }

  hand_loop loop_;
  virtual_kubernetes api_{loop_};
  stores::grant held_;  ///< of the last `acquire` that was granted
};

}  // namespace tenure::tests
