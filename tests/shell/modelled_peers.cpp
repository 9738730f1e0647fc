#include "modelled_peers.hpp"

#include <optional>
#include <utility>

#include "judge.hpp"
#include "stage.hpp"

namespace tenure::shell {
namespace {

using namespace std::chrono_literals;

std::optional<std::size_t> pod_at(const std::string& address) {
  constexpr std::string_view scheme = "peer-";
  if (!address.starts_with(scheme)) return {};
  return static_cast<std::size_t>(std::stoul(address.substr(scheme.size())));
}

}  // namespace

class modelled_channel final : public peer::channel {
 public:
  modelled_channel(modelled_peers& of, std::size_t pod,
                   std::shared_ptr<modelled_peers::receiver> at)
      : peers_(of), pod_(pod), receiver_(std::move(at)) {}

  [[nodiscard]] std::string address() const override { return "peer-" + std::to_string(pod_); }
  void tell(const std::string& to, const core::word& what) override { peers_.tell(pod_, to, what); }

 private:
  modelled_peers& peers_;
  std::size_t pod_;
  std::shared_ptr<modelled_peers::receiver> receiver_;
};

modelled_peers::modelled_peers(world& in, modelled_network& beside, judge& referee,
                               std::uint64_t seed, core::duration ttl)
    : world_(in), network_(beside), referee_(referee), dice_(seed), ttl_(ttl) {
  const bool is_used = dice_.chance(400'000);
  for (bool& one : has_channel_) one = dice_.chance(850'000) && is_used;
}

std::unique_ptr<peer::channel> modelled_peers::open(std::size_t pod,
                                                    const std::shared_ptr<process>& agent,
                                                    peer::channel::handler heard) {
  const auto made = std::make_shared<receiver>(agent, std::move(heard));
  receivers_[pod] = made;
  return std::make_unique<modelled_channel>(*this, pod, made);
}

void modelled_peers::tell(std::size_t from, const std::string& to, const core::word& what) {
  const auto pod = pod_at(to);
  if (!pod) return;
  referee_.tells(from, what.election, core::number(what.ended), *pod);
  overheard_.push_back(what);
  if (dice_.chance(600'000)) hold_back_release(from);
  if (dice_.chance(150'000)) return;
  const bool is_late = dice_.chance(250'000);
  carry(*pod, what, is_late ? dice_.spread(1ms, 2 * ttl_) : dice_.spread(100us, 3ms));
  if (dice_.chance(200'000)) carry(*pod, what, dice_.spread(1ms, 4 * ttl_));
}

/// The release that follows comes to the store late, or never.
void modelled_peers::hold_back_release(std::size_t of) {
  const bool is_lost = dice_.chance(300'000);
  const core::duration lasts = dice_.spread(5ms, 3 * ttl_);
  for (std::size_t s = 0; s < modelled_cluster::most_servers; ++s) {
    is_lost ? network_.cut(of, s) : network_.slow(of, s, lasts);
  }
  world_.after(lasts, [this, of] {
    for (std::size_t s = 0; s < modelled_cluster::most_servers; ++s) {
      network_.heal(of, s);
      network_.slow(of, s, 2ms);
    }
  });
}

void modelled_peers::carry(std::size_t to, core::word what, core::duration delay) {
  world_.after(delay, [this, to, what = std::move(what)] {
    const auto at = receivers_[to].lock();
    if (!at) return;
    at->agent->post([of = std::weak_ptr(at), what] {
      if (const auto open = of.lock()) open->heard(what);
    });
  });
}

void modelled_peers::plan_forgeries(world_time quiet) {
  for (auto times = dice_.between(std::int64_t{0}, 60); times > 0; --times) {
    world_.after(dice_.between(core::duration{}, quiet - world_.now), [this] { forge(); });
  }
}

/// Somebody who knows every word that was told, and every version, says that the present term is
/// over.
void modelled_peers::forge() {
  if (overheard_.empty()) return;
  core::word lie = overheard_[dice_.below(overheard_.size())];
  const auto present = referee_.in_line(lie.election);
  if (!present.empty()) lie.ended = core::version{present.front()};
  if (present.size() > 1) lie.told = core::version{present[1]};
  carry(dice_.below(most_pods), std::move(lie), {});
}

}  // namespace tenure::shell
