#include "store.hpp"

namespace tenure::sim {

void store::receive(const message& m) {
  switch (m.kind) {
    case mail::read:
      read(m);
      break;
    case mail::acquire:
      acquire(m);
      break;
    case mail::renew:
      renew(m);
      break;
    case mail::ask_own:
      tell_own(m);
      break;
    case mail::release:
      release(m);
      break;
    case mail::open_watch:
      network_.stream_opened(m);
      show(m.election, m.pod);
      break;
    case mail::say:
      members_[m.election][m.pod] = m.members[0];
      for (std::size_t pod = 0; pod < stage_.drawn.pods; ++pod) show(m.election, pod);
      break;
    default:
      break;
  }
}

void store::show(std::size_t election, std::size_t pod) {
  if (!network_.streaming(pod, election)) return;
  message m;
  m.kind = mail::shown;
  m.pod = static_cast<std::uint8_t>(pod);
  m.election = static_cast<std::uint8_t>(election);
  fill(m, election);
  m.members = members_[election];
  network_.stream(m);
}

}  // namespace tenure::sim
