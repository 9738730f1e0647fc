#include "hooked_workload.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/number_text.hpp"

namespace tenure::shell {

using namespace std::chrono_literals;

namespace {

constexpr std::uint32_t half = 500'000;
/// A program that was killed is dead by then, and has done what it was about to do, or not.
constexpr core::duration dies_within = 50ms;
/// A call that is not under a fault.
constexpr core::duration longest_call = 200ms;
/// For two ways of stopping to be tried, each with the time that it has at the least.
constexpr core::duration stops_within = 2s;

std::string value_of(std::string_view name, const std::vector<std::string>& environment) {
  const std::string start = std::string(name) + "=";
  const auto found = std::ranges::find_if(
      environment, [&](const std::string& one) { return one.starts_with(start); });
  return found == environment.end() ? std::string() : found->substr(start.size());
}

}  // namespace

/// A request, whose reader may act upon it late, or a program, which is killed.
class modelled_hook final : public workload::hook {
 public:
  modelled_hook(const std::shared_ptr<process>& loop, hooked_workload& to, bool is_program)
      : loop_(loop), to_(to), is_program_(is_program) {}
  ~modelled_hook() override {
    if (call_) call_->dead = true;
  }

  void call(const workload::hook_order& what, core::time_point, handler done) override {
    const bool is_gain = value_of("TENURE_EVENT", what.environment) == "gain";
    const auto version =
        base::read_number<std::uint64_t>(value_of("TENURE_VERSION", what.environment)).value_or(0);
    call_ = std::make_shared<one_call>();
    call_->done = std::move(done);
    world& in = to_.stage_.in;
    const core::duration hears_in = in.dice.spread(1ms, longest_call);
    in.after(hears_in, [this, c = call_, is_gain, version] {
      if (c->dead) return;
      const bool deaf = to_.is_deaf();
      // It may act, and not be able to say so.
      const bool heard = !deaf || to_.stage_.in.dice.chance(half);
      const bool agrees = heard && to_.hears(is_gain, version);
      if (deaf && !is_gain) to_.not_stopped();
      if (deaf && to_.stage_.in.dice.chance(half)) return;  // it never answers
      answer(c, agrees && !deaf, heard);
    });
  }

  void cancel() override {
    if (!call_ || call_->cancelled) return;
    call_->cancelled = true;
    call_->done = nullptr;
    world& in = to_.stage_.in;
    in.after(in.dice.spread(1ms, dies_within), [c = call_] {
      c->dead = true;
      if (const auto then = std::exchange(c->when_dead, nullptr)) then();
    });
  }

  bool settled(std::function<void()> then) override {
    if (!is_program_ || !call_ || !call_->cancelled || call_->dead) return true;
    call_->when_dead = [noted = std::weak_ptr(loop_), then = std::move(then)] {
      if (const auto loop = noted.lock()) loop->post(then);
    };
    return false;
  }

  [[nodiscard]] const std::string& subject() const override { return subject_; }

 private:
  struct one_call {
    handler done;
    std::function<void()> when_dead;
    bool cancelled = false;
    bool dead = false;  ///< nothing more comes of it
  };

  void answer(const std::shared_ptr<one_call>& c, bool is_yes, bool in_doubt) const {
    loop_->post([c, is_yes, in_doubt] {
      if (c->dead || c->cancelled) return;
      c->dead = true;
      auto done = std::exchange(c->done, nullptr);
      if (is_yes) return done(std::nullopt);
      done(workload::hook_failure{.why = "it does not answer well", .in_doubt = in_doubt});
    });
  }

  std::shared_ptr<process> loop_;
  hooked_workload& to_;
  bool is_program_;
  std::string subject_ = "modelled hook";
  std::shared_ptr<one_call> call_;
};

workload::hooks hooked_workload::make_hooks(const std::shared_ptr<process>& loop) {
  workload::hooks out;
  out.gain.push_back(std::make_unique<modelled_hook>(loop, *this, false));
  out.gain.push_back(std::make_unique<modelled_hook>(loop, *this, true));
  out.stop_http = std::make_unique<modelled_hook>(loop, *this, false);
  out.stop_command = std::make_unique<modelled_hook>(loop, *this, true);
  return out;
}

bool hooked_workload::hears(bool is_gain, std::uint64_t version) {
  // After a restore, whoever checks versions is reset (docs/safety.md): what was stopped before it,
  // and known here only since, is not compared with what is granted now.
  const std::uint64_t newest = stage_.referee.newest_version();
  if (is_gain && stage_.referee.was_restored() && version <= newest && newest < stopped_) {
    stopped_ = 0;
  }
  if (is_gain && version <= stopped_) return false;
  stopped_ = is_gain ? stopped_ : std::max(stopped_, version);
  left_alone_at_.reset();
  acts_under(is_gain ? version : 0);
  return true;
}

void hooked_workload::acts_under(std::uint64_t version) {
  const std::uint64_t before = std::exchange(acts_, version);
  if (before == version) return;
  const std::string& which = stage_.elections.front();
  const auto judged = [&](std::uint64_t number) { return stage_.judged(0, core::version{number}); };
  if (before != 0) stage_.referee.ends(on_.number, which, judged(before));
  if (version != 0) stage_.referee.starts(on_.number, which, judged(version));
}

void hooked_workload::go_deaf(core::duration lasts) {
  deaf_until_ = std::max(deaf_until_, stage_.in.now + lasts);
}

void hooked_workload::mend() {
  deaf_until_ = std::min(deaf_until_, stage_.in.now);
  if (std::exchange(left_alone_at_, std::nullopt)) restart();
  if (stage_.referee.was_restored()) stopped_ = 0;
}

bool hooked_workload::lives_by_mistake(world_time well_since) const {
  if (left_alone_at_ || well_since == sim::world_never) return false;
  const core::duration lease = on_.clock.takes(stage_.when.ttl + stage_.when.drain) + stops_within;
  return std::max(well_since, deaf_until_) + lease < stage_.in.now;
}

bool hooked_workload::outlives_news(world_time well_since, world_time heard_at) const {
  if (left_alone_at_ || well_since == sim::world_never || deaf_until_ >= heard_at) return false;
  return std::max(well_since, heard_at) + stops_within < stage_.in.now;
}

}  // namespace tenure::shell
