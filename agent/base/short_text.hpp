#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tenure::base {

/// Text of at most `Most` bytes; the rest is cut off. Allocates nothing.
template <std::size_t Most>
class short_text {
 public:
  void append(std::string_view more) {
    const std::size_t fits = std::min(more.size(), Most - size_);
    std::copy_n(more.begin(), fits, bytes_.begin() + static_cast<std::ptrdiff_t>(size_));
    size_ += fits;
  }

  void append_number(std::int64_t number) {
    std::array<char, 20> digits{};
    std::size_t begin = digits.size();
    auto rest = static_cast<std::uint64_t>(number);
    if (number < 0) rest = 0 - rest;
    do {
      digits[--begin] = static_cast<char>('0' + rest % 10);
      rest /= 10;
    } while (rest > 0);
    if (number < 0) append("-");
    append({digits.data() + begin, digits.size() - begin});
  }

  [[nodiscard]] std::string_view view() const { return {bytes_.data(), size_}; }
  [[nodiscard]] std::size_t size() const { return size_; }
  void clear() { size_ = 0; }

 private:
  std::array<char, Most> bytes_{};
  std::size_t size_ = 0;
};

}  // namespace tenure::base
