#include "config/suggest.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "settings/mistake.hpp"

namespace tenure::config {
namespace {

/// Longer words are not compared: the cost grows with the square of the length.
constexpr std::size_t max_compared_bytes = 64;

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

/// Letters to insert, delete, replace or swap with their neighbour to get from one to the other.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> above(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) above[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = a[i - 1] == b[j - 1] ? 0 : 1;
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + change});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before.swap(above);
    above.swap(row);
  }
  return above[b.size()];
}

}  // namespace

std::string folded(std::string_view word) {
  std::string out;
  for (const char c : word) {
    if (c != '_' && c != '-' && c != ' ') out += lower(c);
  }
  return out;
}

std::string_view closest(std::string_view given, std::span<const std::string_view> known) {
  if (given.empty() || given.size() > max_compared_bytes) return {};
  const std::string wanted = folded(given);
  std::string_view best;
  std::size_t best_distance = max_compared_bytes;
  for (const std::string_view candidate : known) {
    const std::string name = folded(candidate);
    const std::size_t d = distance(wanted, name);
    if (d <= std::max(wanted.size(), name.size()) / 3 && d < best_distance) {
      best = candidate;
      best_distance = d;
    }
  }
  return best;
}

std::string did_you_mean(std::string_view given, std::span<const std::string_view> known) {
  const std::string_view meant = closest(given, known);
  return meant.empty() ? "" : "did you mean " + settings::quote(meant) + "?";
}

std::vector<std::string_view> nearest(std::string_view given,
                                      std::span<const std::string_view> known, std::size_t most) {
  const std::string wanted = folded(given.substr(0, max_compared_bytes));
  std::vector<std::pair<std::size_t, std::string_view>> by_distance;
  for (const std::string_view one : known) {
    by_distance.emplace_back(distance(wanted, folded(one)), one);
  }
  std::ranges::sort(by_distance);
  std::vector<std::string_view> out;
  for (const auto& [far, one] : by_distance) {
    if (out.size() < most) out.push_back(one);
  }
  return out;
}

std::string choices(std::span<const std::string_view> words) {
  std::string out;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) out += i + 1 == words.size() ? " or " : ", ";
    out += words[i];
  }
  return out;
}

}  // namespace tenure::config
