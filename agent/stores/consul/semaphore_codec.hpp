#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// The value of the lock key of an election with several slots. Pure.
namespace tenure::stores::consul {

/// Who holds a semaphore. A holder counts only while its contender's key is locked by its session.
struct semaphore {
  std::uint32_t limit = 0;
  std::vector<std::string> holders;  ///< sessions, in the order of the text, each once
  /// The guide's pages write a list of holders, the official client a map; each reads only its own
  /// form.
  bool as_list = false;
  /// How often agents of ours have written it: shows those who watch whether they have seen every
  /// holder. Nothing: another program, which drops what it does not know, wrote it last.
  std::optional<std::uint64_t> changes{};

  friend bool operator==(const semaphore&, const semaphore&) = default;
};

/// `{"Limit":N,"Holders":{"SESSION":true},"Changes":N}`, or with a list.
std::string semaphore_text(const semaphore& what);

/// Nothing if `text` is neither.
std::optional<semaphore> parse_semaphore(std::string_view text);

}  // namespace tenure::stores::consul
