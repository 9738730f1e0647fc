#include "guard/shared_page.hpp"

#include <new>
#include <utility>

namespace tenure::guard {

bool shared_page::make() {
  if (!memory_.make("tenure-guard", sizeof(guard_page))) return false;
  page_ = new (memory_.data()) guard_page;
  return true;
}

bool shared_page::map(base::unique_fd fd) {
  if (!memory_.map(std::move(fd), sizeof(guard_page))) return false;
  page_ = static_cast<guard_page*>(memory_.data());
  return page_->magic == guard_page_magic && page_->layout == guard_page_layout;
}

}  // namespace tenure::guard
