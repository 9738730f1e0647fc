#include "stores/sqlite/thread_clock.hpp"

#include <thread>

#include "base/boot_time.hpp"

namespace tenure::stores::sqlite {
namespace {

class clock_of_the_kernel final : public thread_clock {
 public:
  [[nodiscard]] core::time_point now() const override { return base::boot_now(); }
  void pause(core::duration how_long) const override { std::this_thread::sleep_for(how_long); }
};

}  // namespace

const thread_clock& kernel_clock() {
  static const clock_of_the_kernel only;
  return only;
}

}  // namespace tenure::stores::sqlite
