#include "core/election_state.hpp"

namespace tenure::core {

phase phase_of(const election_state& s) {
  return std::visit([](const auto& of) { return of.is; }, s);
}

namespace state {

bool awaits(const acquire_try& acquire, attempt number) {
  const auto* in_flight = std::get_if<acquiring>(&acquire);
  return in_flight != nullptr && in_flight->sent.number == number;
}

bool awaits(const std::optional<request>& acquire, attempt number) {
  return acquire && acquire->number == number;
}

bool awaits(const release_try& release, attempt number) {
  const auto* sent = std::get_if<request>(&release);
  return sent != nullptr && sent->number == number;
}

time_point due(const release_try& release) {
  if (const auto* next = std::get_if<pause>(&release)) return next->until;
  const auto* sent = std::get_if<request>(&release);
  return sent != nullptr ? sent->deadline : never;
}

std::uint32_t failures_of(const release_try& release) {
  if (const auto* next = std::get_if<pause>(&release)) return next->failures;
  const auto* sent = std::get_if<request>(&release);
  return sent != nullptr ? sent->failures : 0;
}

}  // namespace state

}  // namespace tenure::core
