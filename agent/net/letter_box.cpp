#include "net/letter_box.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <utility>

#include "core/check.hpp"

namespace tenure::net {

letter_box::letter_box() : event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  TENURE_CHECK(event_);
}

void letter_box::news() {
  if (!news_.exchange(true)) ring();
}

void letter_box::answered(std::uint64_t connection) {
  const std::lock_guard lock(mutex_);
  answered_.push_back(connection);
  ring();
}

void letter_box::end() {
  const std::lock_guard lock(mutex_);
  end_ = true;
  ring();
}

letter_box::letters letter_box::take() {
  std::uint64_t count = 0;
  [[maybe_unused]] const ssize_t size = ::read(event_.get(), &count, sizeof count);
  letters out;
  // Before anybody looks: what happens from now on is said again.
  out.news = news_.exchange(false);
  const std::lock_guard lock(mutex_);
  out.end = std::exchange(end_, false);
  out.answered = std::exchange(answered_, {});
  return out;
}

void letter_box::ring() const {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t size = ::write(event_.get(), &one, sizeof one);
}

}  // namespace tenure::net
