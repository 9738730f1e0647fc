#include "kube/traffic_driver.hpp"

#include <utility>

namespace tenure::kube {
namespace {

traffic_places places_of(const settings::kubernetes& its) {
  return {.pod = its.pod_name, .slices = its.slices};
}

}  // namespace

traffic_driver::traffic_driver(parts with)
    : with_(std::move(with)),
      terms_{.its = with_.by.its, .election = with_.by.who.election},
      switch_(places_of(with_.by.its)),
      timer_(with_.loop) {}

template <class Input>
void traffic_driver::step(Input input) {
  if (closed_) return;
  const core::moment at{.now = with_.loop.now(), .entropy = with_.loop.random_bits()};
  traffic_effects out;
  // First: nothing may be done for a term that is over.
  switch_.want(with_.wanted(), out);
  input(at, out);
  carry_out(out);
}

void traffic_driver::look() {
  step([](const core::moment&, traffic_effects&) {});
}

void traffic_driver::carry_out(const traffic_effects& what) {
  for (const traffic_notice& one : what.notices) {
    std::visit([this](const auto& said) { say(with_.to, with_.by, said); }, one);
  }
  for (std::uint32_t i = 0; i < what.failures; ++i) with_.failed();
  if (std::exchange(was_named_, switch_.is_named()) != was_named_) with_.named(was_named_);
  for (const traffic_request& one : what.requests) send(one);
  timer_.at(switch_.next_wake(), [this] {
    step([this](const core::moment& at, traffic_effects& out) { switch_.woke(at, out); });
  });
  if (stepped_) stepped_();
}

void traffic_driver::send(const traffic_request& what) {
  with_.through.call(request_for(what, terms_, with_.unix_ms()), with_.loop.now() + with_.patience,
                     [this, what](api_reply reply) { answered(what, std::move(reply)); });
}

void traffic_driver::answered(const traffic_request& asked, api_reply what) {
  traffic_reply shown = std::vector<marked_object>();
  if (what) {
    auto read = read_reply(asked, *what, terms_);
    if (read) {
      shown = std::move(*read);
    } else {
      shown = std::unexpected(
          api_failure{.why = "an answer of the API server cannot be used: " + read.error()});
    }
  } else {
    shown = std::unexpected(std::move(what.error()));
  }
  step([&](const core::moment& at, traffic_effects& out) {
    switch_.replied(at, asked.number, std::move(shown), out);
  });
}

void traffic_driver::close() {
  closed_ = true;
  timer_.cancel();
  stepped_ = nullptr;
}

}  // namespace tenure::kube
