#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "base/wall_time.hpp"
#include "http/client/http_network.hpp"
#include "kube/announcer.hpp"
#include "runtime/kubernetes_api.hpp"
#include "scene.hpp"

namespace tenure::tests {

inline kube::traffic_wish standby() {
  return {.what = kube::traffic_wish::kind::standby};
}
inline kube::traffic_wish gaining(std::uint64_t version) {
  return {.what = kube::traffic_wish::kind::gaining, .version = core::version{version}};
}
inline kube::traffic_wish active(std::uint64_t version) {
  return {.what = kube::traffic_wish::kind::active, .version = core::version{version}};
}

/// An agent in a pod, as far as Kubernetes learns of it.
class announcing_pod {
 public:
  announcing_pod(loop& on, settings::agent with, core::duration patience = tests::patience)
      : loop_(on), settings_(std::move(with)) {
    auto api =
        runtime::make_kubernetes_api(loop_.events(), http::over_network(loop_.events().executor()),
                                     *settings_.kubernetes.cluster);
    EXPECT_TRUE(api) << api.error();
    api_ = std::move(*api);
    announcer_ = std::make_unique<kube::announcer>(
        kube::announcer::parts{.loop = loop_.events(),
                               .through = *api_,
                               .settings = settings_,
                               .to = log_,
                               .wanted = [this] { return wish_; },
                               .named = [this](bool is) { is_named_ = is; },
                               .failed = [this] { ++failures_; },
                               .unix_ms = base::wall_now_ms,
                               .patience = patience});
  }

  void want(const kube::traffic_wish& what) {
    wish_ = what;
    announcer_->look();
  }
  /// Wants it and waits until it is acknowledged.
  void show(const kube::traffic_wish& what) {
    want(what);
    const bool names = what.what == kube::traffic_wish::kind::active;
    EXPECT_TRUE(settles()) << said();
    EXPECT_EQ(is_named_, names) << said();
  }
  /// Everything that was to be told is told.
  bool settles() {
    bool done = false;
    announcer_->settle(soon(), [&done] { done = true; });
    return loop_.run_until([&done] { return done; });
  }

  kube::announcer* operator->() { return announcer_.get(); }
  [[nodiscard]] bool is_named() const { return is_named_; }
  [[nodiscard]] int failures() const { return failures_; }
  /// The log so far.
  [[nodiscard]] std::string said() const {
    std::string out;
    for (const std::string& one : lines_) out += one + "\n";
    return out;
  }
  /// How many lines have this in them.
  [[nodiscard]] int lines_with(const std::string& words) const {
    return static_cast<int>(
        std::ranges::count_if(lines_, [&](const auto& one) { return one.contains(words); }));
  }

 private:
  loop& loop_;
  settings::agent settings_;
  kube::traffic_wish wish_ = standby();
  bool is_named_ = false;
  int failures_ = 0;
  std::vector<std::string> lines_;
  log::logger log_{log::log_form::logfmt, log::log_level::debug,
                   [this](const std::string& line) { lines_.push_back(line); }};
  std::unique_ptr<kube::api_server> api_;
  std::unique_ptr<kube::announcer> announcer_;
};

inline settings::agent pod_settings(const std::string& pod, settings::traffic way,
                                    const settings::pod_cluster& in,
                                    const std::string& name_space = "team") {
  settings::agent out;
  out.store = "etcd";
  out.identity = pod;
  out.elections = {{.name = "db", .slots = 1}};
  out.kubernetes = {.traffic = way,
                    .pod_name = pod,
                    .pod_namespace = name_space,
                    .pod_uid = "uid-" + pod,
                    .pod_addresses = {"10.0.0." + pod.substr(pod.size() - 1)},
                    .cluster = in};
  if (way == settings::traffic::endpoints) out.kubernetes.slices = {"db"};
  return out;
}

}  // namespace tenure::tests
