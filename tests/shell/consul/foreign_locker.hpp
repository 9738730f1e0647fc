#pragma once

#include "consul/foreign_contender.hpp"

namespace tenure::shell {

/// `consul lock`: one slot.
class foreign_locker final : public foreign_contender {
 public:
  using foreign_contender::foreign_contender;

 private:
  void acquire() override;
  void release() override;
  void put(const char* verb, answer then);
};

}  // namespace tenure::shell
