#include "stores/records/release_record_text.hpp"

#include <cstddef>
#include <utility>
#include <vector>

#include "base/number_text.hpp"
#include "base/percent_text.hpp"
#include "stores/records/record_words.hpp"

namespace tenure::stores {
namespace {

constexpr std::string_view clean_word = "clean";
constexpr std::string_view unclean_word = "unclean";
constexpr std::size_t words_without_heir = 5;
constexpr std::size_t words_with_heir = 6;
constexpr std::size_t words_with_told = 7;

}  // namespace

std::string release_record_text(core::version version, const std::string& holder,
                                const release_details& how, core::version told) {
  std::string out = std::to_string(core::number(version));
  out.append(" ").append(how.clean ? clean_word : unclean_word);
  out.append(" ").append(core::name(how.why));
  out.append(" ").append(std::to_string(how.at_unix_ms));
  out.append(" ").append(word_of(holder));
  const bool was_told = told != core::no_version;
  if (!how.heir.empty() || was_told) out.append(" ").append(word_of(how.heir));
  if (was_told) out.append(" ").append(std::to_string(core::number(told)));
  return out;
}

std::optional<stored_release> parse_release_record(std::string_view record) {
  const std::vector<std::string_view> words = words_of(record);
  const auto version = base::read_number<std::uint64_t>(words[0]);
  if (!version || *version == 0) return std::nullopt;
  stored_release out{.said = {.version = core::version{*version}}, .clean = true};
  if (words.size() == 1) return out;
  if (words.size() < words_without_heir || words.size() > words_with_told) return std::nullopt;
  if (words[1] != clean_word && words[1] != unclean_word) return std::nullopt;
  out.clean = words[1] == clean_word;
  out.said.why = core::loss_reason_named(words[2]).value_or(core::loss_reason::none);
  const auto at = base::read_number<std::int64_t>(words[3]);
  auto holder = base::percent_decoded(words[4]);
  auto heir = base::percent_decoded(words.size() >= words_with_heir ? words[5] : "");
  const auto told =
      base::read_number<std::uint64_t>(words.size() == words_with_told ? words[6] : "0");
  if (!at || !holder || !heir || !told) return std::nullopt;
  out.told = core::version{*told};
  out.said.at_unix_ms = *at;
  out.said.holder = std::move(*holder);
  out.said.heir = std::move(*heir);
  return out;
}

}  // namespace tenure::stores
