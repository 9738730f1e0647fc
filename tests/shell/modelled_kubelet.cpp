#include "modelled_kubelet.hpp"

#include <nlohmann/json.hpp>
#include <utility>

namespace tenure::shell {

using namespace std::chrono_literals;

namespace {

using nlohmann::json;

constexpr std::uint32_t is_asked_ppm = 500'000;
constexpr std::uint32_t loses_sight_ppm = 100'000;
constexpr std::uint32_t stream_breaks_ppm = 50'000;
constexpr std::uint32_t half = 500'000;
/// From the end of a container until the kubelet has looked, and has written it.
constexpr core::duration kubelet_takes = 3s;

std::string name_in(const std::string& query) {
  const std::string before = "metadata.name%3D";
  const auto begin = query.find(before) + before.size();
  return query.substr(begin, query.find('&', begin) - begin);
}

/// A container, before which another one has ended, or which has itself.
std::string document(const std::string& pod, const json& state, const json& last) {
  const json status{{"name", "main"}, {"state", state}, {"lastState", last}};
  return json{{"type", "MODIFIED"},
              {"object",
               {{"kind", "Pod"},
                {"metadata", {{"name", pod}}},
                {"status", {{"containerStatuses", json::array({status})}}}}}}
      .dump();
}

}  // namespace

class modelled_api_server final : public kube::api_server {
 public:
  modelled_api_server(modelled_kubelet& of, const std::shared_ptr<process>& agent)
      : of_(of), agent_(agent) {}

  void call(kube::api_request, core::time_point, handler done) override {
    if (const auto on = agent_.lock()) {
      on->post([done = std::move(done)]() mutable {
        done(std::unexpected(kube::api_failure{.why = "it answers nothing but watches"}));
      });
    }
  }

  std::unique_ptr<kube::api_stream> follow(kube::api_request what, core::time_point,
                                           kube::stream_handlers on) override {
    struct stream final : kube::api_stream {
      std::shared_ptr<modelled_kubelet::follower> its;
    };
    auto out = std::make_unique<stream>();
    out->its =
        std::make_shared<modelled_kubelet::follower>(agent_, name_in(what.query), std::move(on));
    of_.followers_.push_back(out->its);
    of_.show(out->its);
    return out;
  }

  void close() override {}

 private:
  modelled_kubelet& of_;
  std::weak_ptr<process> agent_;
};

modelled_kubelet::modelled_kubelet(world& in, std::uint64_t seed)
    : world_(in), dice_(seed), is_asked_(dice_.chance(is_asked_ppm)) {}

std::unique_ptr<kube::api_server> modelled_kubelet::open(const std::shared_ptr<process>& agent) {
  return std::make_unique<modelled_api_server>(*this, agent);
}

void modelled_kubelet::speaks(const std::string& pod, const std::string& words) {
  if (words.empty() || !dice_.chance(loses_sight_ppm)) return;
  world_.after(dice_.spread(1ms, 20s), [this, pod, words] {
    dice_.chance(half) ? write(pod, words, "Error", 255)
                       : write(pod, "", "ContainerStatusUnknown", 137);
  });
}

void modelled_kubelet::has_ended(const std::string& pod, const std::string& words) {
  write(pod, words, dice_.chance(half) ? "OOMKilled" : "Error", 137);
}

void modelled_kubelet::write(const std::string& pod, const std::string& words, const char* reason,
                             int exit_code) {
  const json running{{"running", json::object()}};
  const json ended{
      {"terminated", {{"exitCode", exit_code}, {"reason", reason}, {"message", words}}}};
  const bool runs_again = dice_.chance(half);
  world_.after(dice_.spread(5ms, kubelet_takes), [this, pod, ended, running, runs_again] {
    documents_[pod] =
        runs_again ? document(pod, running, ended) : document(pod, ended, json::object());
    std::erase_if(followers_, [](const auto& one) { return one.expired(); });
    for (const std::weak_ptr<follower>& one : followers_) {
      if (one.lock()->pod == pod) show(one);
    }
  });
}

void modelled_kubelet::show(const std::weak_ptr<follower>& to) {
  const bool breaks = dice_.chance(stream_breaks_ppm);
  world_.after(dice_.spread(100us, 300ms), [this, to, breaks] {
    const auto one = to.lock();
    const auto on = one ? one->agent.lock() : nullptr;
    if (!on) return;
    const auto known = documents_.find(one->pod);
    const std::string what = known == documents_.end() ? std::string() : known->second;
    on->post([to, what, breaks] {
      const auto its = to.lock();
      if (!its) return;
      const auto handlers = its->on;  // It may end the stream.
      if (breaks) return handlers.ended({.why = "the watch has broken"});
      if (!what.empty()) handlers.shows(what);
    });
  });
}

}  // namespace tenure::shell
