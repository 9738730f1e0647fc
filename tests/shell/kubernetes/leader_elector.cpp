#include "kubernetes/leader_elector.hpp"

#include <utility>

#include "base/time_text.hpp"

namespace tenure::shell {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;

constexpr std::string_view leases = "/apis/coordination.k8s.io/v1/namespaces/default/leases";
/// client-go's defaults are 15 s, 10 s and 2 s.
constexpr int retries_per_duration = 7;
constexpr core::duration long_ago = 10'000h;
/// "2026-01-31T12:00:00"
constexpr std::size_t whole_seconds_bytes = 19;

std::string text_in(const json& spec, const char* name) {
  const auto found = spec.find(name);
  return found == spec.end() || !found->is_string() ? "" : found->get<std::string>();
}

/// What client-go compares: its record has times in whole seconds.
std::string record_of(const json& lease) {
  const json spec = lease.value("spec", json::object());
  std::string out = text_in(spec, "holderIdentity");
  for (const char* name : {"leaseDurationSeconds", "leaseTransitions"}) {
    out += " " + spec.value(name, json()).dump();
  }
  for (const char* name : {"acquireTime", "renewTime"}) {
    out += " " + text_in(spec, name).substr(0, whole_seconds_bytes);
  }
  return out + " " + text_in(spec, "strategy") + " " + text_in(spec, "preferredHolder");
}

}  // namespace

leader_elector::leader_elector(stage& s, std::size_t number, std::string election,
                               std::uint64_t seed)
    : foreign_program(s, number, std::move(election), seed),
      duration_s_(dice_.between(std::int64_t{2}, 8)),
      wall_off_(dice_.between(core::duration(-2s), 2s)) {
  start();
}

/// A new process, which has read nothing.
void leader_elector::start() {
  identity_ = name() + "_" + std::to_string(++runs_);
  lease_.reset();
  observed_.clear();
  turn();
}

bool leader_elector::holds() const {
  return lease_ && text_in(lease_->at("spec"), "holderIdentity") == identity_;
}

/// True until the record has not changed for as long as it says.
bool leader_elector::others_wait() const {
  const json& spec = lease_->at("spec");
  const auto found = spec.find("leaseDurationSeconds");
  const std::int64_t seconds = found == spec.end() ? 0 : found->get<std::int64_t>();
  return stage_.in.now < observed_at_ + std::chrono::seconds(seconds);
}

std::string leader_elector::time_now() const {
  return base::micro_time(std::chrono::duration_cast<std::chrono::milliseconds>(
                              long_ago + stage_.in.now.time_since_epoch() + wall_off_)
                              .count());
}

/// `tryAcquireOrRenew`: who holds writes what it knows; if that fails it looks.
void leader_elector::turn() {
  if (holds() && others_wait()) return write(*lease_, false);
  look();
}

void leader_elector::look() {
  call({.method = "GET", .target = std::string(leases) + "/" + election_},
       [this](const reply& found) {
         if (found && found->status == 404) return make();
         if (!found || found->status != 200) return turn_later();
         judge(json::parse(found->body));
       });
}

void leader_elector::observe(const json& lease) {
  std::string now = record_of(lease);
  if (now != observed_) observed_at_ = stage_.in.now;
  observed_ = std::move(now);
  lease_ = lease;
  if (!lease_->contains("spec")) (*lease_)["spec"] = json::object();
}

void leader_elector::judge(const json& lease) {
  observe(lease);
  const std::string holder = text_in(lease_->at("spec"), "holderIdentity");
  if (holder == identity_) return write(*lease_, false);
  stop_acting();
  if (!holder.empty() && others_wait()) return turn_later();
  write(*lease_, true);
}

void leader_elector::make() {
  stop_acting();
  const std::string now = time_now();
  const json lease{{"apiVersion", "coordination.k8s.io/v1"},
                   {"kind", "Lease"},
                   {"metadata", {{"name", election_}}},
                   {"spec",
                    {{"holderIdentity", identity_},
                     {"leaseDurationSeconds", duration_s_},
                     {"acquireTime", now},
                     {"renewTime", now},
                     {"leaseTransitions", 0}}}};
  call({.method = "POST", .target = std::string(leases), .body = lease.dump()},
       [this, sent_at = stage_.in.now](const reply& found) { wrote(found, sent_at); });
}

void leader_elector::write(const json& lease, bool is_new_term) {
  json next = lease;
  json& spec = next["spec"];
  spec["holderIdentity"] = identity_;
  spec["leaseDurationSeconds"] = duration_s_;
  spec["renewTime"] = time_now();
  if (is_new_term) {
    spec["acquireTime"] = time_now();
    const auto found = spec.find("leaseTransitions");
    spec["leaseTransitions"] = (found == spec.end() ? 0 : found->get<std::int64_t>()) + 1;
  }
  // Its record has no choice of a holder.
  spec.erase("strategy");
  spec.erase("preferredHolder");
  call({.method = "PUT", .target = std::string(leases) + "/" + election_, .body = next.dump()},
       [this, sent_at = stage_.in.now, is_new_term](const reply& found) {
         const bool is_overtaken = found && found->status == 409;
         if (is_overtaken && !is_new_term) return look();
         wrote(found, sent_at);
       });
}

void leader_elector::wrote(const reply& found, world_time sent_at) {
  if (found && (found->status == 200 || found->status == 201)) renewed(found->body, sent_at);
  if (acts() && !may_act()) return over();
  turn_later();
}

void leader_elector::renewed(const std::string& body, world_time sent_at) {
  const json lease = json::parse(body);
  observe(lease);
  if (!holds()) return;
  // Its renew deadline, which is shorter than the Lease.
  may_act_until(sent_at + std::chrono::seconds(duration_s_) * 2 / 3);
  once_over([this] {
    if (acts()) over();
  });
  if (!acts()) act_by(lease);
}

void leader_elector::act_by(const json& lease) {
  if (!may_act() || has_stopped()) return;
  act(election_ + "/" + election_ + "/" + lease.at("metadata").at("uid").get<std::string>(),
      name());
  const bool releases = dice_.chance(500'000);
  later(dice_.spread(50ms, std::chrono::seconds(4 * duration_s_)), [this, releases] {
    if (!acts()) return;
    if (!releases || !holds()) return over();
    stop_acting();
    begin_attempt();
    release([this](const reply&) { over(); });
  });
}

/// As with ReleaseOnCancel.
void leader_elector::release(answer then) {
  json next = *lease_;
  json& spec = next["spec"];
  spec["holderIdentity"] = "";
  spec["leaseDurationSeconds"] = 1;
  spec["acquireTime"] = spec["renewTime"] = time_now();
  call({.method = "PUT", .target = std::string(leases) + "/" + election_, .body = next.dump()},
       std::move(then));
}

void leader_elector::turn_later() {
  later(std::chrono::seconds(duration_s_) / retries_per_duration, [this] { turn(); });
}

/// It leaves its Lease to run out, and is started again later.
void leader_elector::over() {
  begin_anew([this] { start(); });
}

void leader_elector::retire() {
  const bool had_it = holds();
  stop_for_good();
  if (had_it) release([](const reply&) {});
}

}  // namespace tenure::shell
