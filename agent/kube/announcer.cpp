#include "kube/announcer.hpp"

#include <utility>

#include "kube/codec.hpp"
#include "kube/event_note.hpp"
#include "kube/lines.hpp"
#include "kube/right.hpp"
#include "settings/kubernetes_names.hpp"

namespace tenure::kube {

announcer::announcer(parts with) : with_(std::move(with)), patience_(with_.loop) {
  const settings::agent& s = with_.settings;
  const settings::kubernetes& its = s.kubernetes;
  if (its.writes_traffic()) {
    traffic_.emplace(traffic_driver::parts{
        .loop = with_.loop,
        .through = with_.through,
        .to = with_.to,
        .by = {.who = {.election = s.elections.front().name, .identity = s.identity}, .its = its},
        .wanted = with_.wanted,
        .named = with_.named,
        .failed = with_.failed,
        .unix_ms = with_.unix_ms,
        .patience = with_.patience});
  }
  if (its.events) {
    events_.emplace(event_recorder::parts{.loop = with_.loop,
                                          .through = with_.through,
                                          .its = its,
                                          .lease_namespace = s.name_space,
                                          .identity = s.identity,
                                          .to = with_.to,
                                          .unix_ms = with_.unix_ms,
                                          .patience = with_.patience});
  }
}

announcer::~announcer() {
  close();
}

void announcer::begin() {
  check_rights();
  look();
}

void announcer::check_rights() {
  const settings::agent& s = with_.settings;
  for (const right& one : rights_for(s.kubernetes, s.name_space)) {
    with_.through.call(review_of(one), with_.loop.now() + with_.patience,
                       [this, one](const api_reply& reply) {
                         const auto has_it = reply ? read_review(*reply) : std::nullopt;
                         if (has_it && !*has_it) {
                           say_right_missing(with_.to, with_.settings.identity, one);
                         }
                       });
  }
}

void announcer::look() {
  if (traffic_) traffic_->look();
}

void announcer::phase_changed(core::election_index which, const core::election& one,
                              const core::command::transition& what) {
  look();
  if (!events_) return;
  const std::string& name = with_.settings.elections[core::place(which)].name;
  const core::election_view& view = one.view();
  const std::string lease = settings::slot_name(name, view.slot);
  if (what.to == core::phase::active && view.lease) {
    active_[which] = view.lease->version;
    // The transition starts our own workload, which cannot run yet.
    events_->record(gain_of(name, view.lease->version, view.workload_running), lease);
  } else if (what.from == core::phase::active) {
    const auto told = active_.find(which);
    if (told == active_.end()) return;
    events_->record(loss_of(name, told->second, what.why), lease);
    active_.erase(told);
  }
}

bool announcer::is_settled() const {
  return (!traffic_ || traffic_->is_settled()) && (!events_ || events_->is_settled());
}

void announcer::settle(core::time_point deadline, std::function<void()> done) {
  when_settled_ = std::move(done);
  patience_.at(deadline, [this] { settled(); });
  const auto look_again = [this] {
    with_.loop.post([this] {
      if (is_settled()) settled();
    });
  };
  if (traffic_) traffic_->on_step(look_again);
  if (events_) events_->on_answer(look_again);
  look_again();
}

void announcer::settled() {
  patience_.cancel();
  if (traffic_) traffic_->on_step(nullptr);
  if (events_) events_->on_answer(nullptr);
  if (when_settled_) std::exchange(when_settled_, {})();
}

void announcer::close() {
  when_settled_ = nullptr;
  patience_.cancel();
  if (traffic_) traffic_->close();
  if (events_) events_->on_answer(nullptr);
}

}  // namespace tenure::kube
