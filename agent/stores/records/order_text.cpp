#include "stores/records/order_text.hpp"

#include <cstddef>
#include <utility>
#include <vector>

#include "base/number_text.hpp"
#include "base/percent_text.hpp"
#include "stores/records/record_words.hpp"

namespace tenure::stores {
namespace {

constexpr std::string_view accepted_reply = "accepted";
constexpr std::string_view refused_reply = "refused";
constexpr std::size_t words_of_order = 5;
constexpr std::size_t words_of_acceptance = words_of_order + 2;
constexpr std::size_t words_of_refusal = words_of_order + 5;
/// Encoded names never look like this.
constexpr std::string_view nothing = "*";

std::string word_or_nothing(const std::string& name) {
  return name.empty() ? std::string(nothing) : word_of(name);
}

std::optional<std::string> name_in(std::string_view word) {
  return word == nothing ? std::optional(std::string()) : base::percent_decoded(word);
}

std::optional<core::order_reply> reply_in(const std::vector<std::string_view>& words) {
  if (words.size() == words_of_acceptance && words[words_of_order] == accepted_reply) {
    return core::order_reply{.accepted = true};
  }
  if (words.size() != words_of_refusal || words[words_of_order] != refused_reply) {
    return std::nullopt;
  }
  auto code = name_in(words[words_of_order + 2]);
  auto message = name_in(words[words_of_order + 3]);
  auto action = name_in(words[words_of_order + 4]);
  if (!code || !message || !action) return std::nullopt;
  return core::order_reply{
      .code = std::move(*code), .message = std::move(*message), .action = std::move(*action)};
}

}  // namespace

std::string order_text(const core::left_order& what, const std::string& by) {
  const core::order& wanted = what.wanted;
  std::string out(core::name(wanted.what));
  out.append(" ").append(word_or_nothing(wanted.member));
  out.append(" ").append(std::to_string(core::number(what.version)));
  out.append(" ").append(wanted.aside ? std::to_string(wanted.aside->count()) : nothing);
  out.append(" ").append(word_or_nothing(wanted.heir));
  if (!what.reply) return out;
  out.append(" ").append(what.reply->accepted ? accepted_reply : refused_reply);
  out.append(" ").append(word_or_nothing(by));
  if (what.reply->accepted) return out;
  for (const std::string* part : {&what.reply->code, &what.reply->message, &what.reply->action}) {
    out.append(" ").append(word_or_nothing(*part));
  }
  return out;
}

std::optional<core::left_order> parse_order(std::string id, std::string_view text) {
  const std::vector<std::string_view> words = words_of(text);
  if (words.size() < words_of_order) return std::nullopt;
  const auto action = core::order_action_named(words[0]);
  auto member = name_in(words[1]);
  const auto version = base::read_number<std::uint64_t>(words[2]);
  const auto aside = base::read_number<std::int64_t>(words[3]);
  auto heir = name_in(words[4]);
  const bool has_aside = words[3] != nothing;
  if (!action || !member || member->empty() || !version || !heir) return std::nullopt;
  if (has_aside && (!aside || *aside < 0)) return std::nullopt;
  core::left_order out{.id = std::move(id),
                       .wanted = {.what = *action, .member = std::move(*member), .heir = *heir},
                       .version = core::version{*version}};
  if (has_aside) out.wanted.aside = core::duration(*aside);
  if (words.size() == words_of_order) return out;
  out.reply = reply_in(words);
  return out.reply ? std::optional(std::move(out)) : std::nullopt;
}

bool is_text_of(std::string_view text, const core::left_order& what) {
  auto there = parse_order(what.id, text);
  if (!there) return false;
  there->reply = what.reply;
  return *there == what;
}

std::string written_again_and_again(const std::string& id, const std::string& where) {
  return "the order " + id + " was written again and again at " + where;
}

}  // namespace tenure::stores
