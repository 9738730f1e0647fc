#include "manifest/marks.hpp"

#include <algorithm>
#include <optional>

#include "config/yaml.hpp"
#include "settings/mistake.hpp"

namespace tenure::manifest {
namespace {

constexpr std::string_view begin_word = "begin ";
constexpr std::string_view end_word = "end ";
constexpr std::string_view was_word = "was ";
constexpr std::string_view next_line_word = "next line ";
constexpr std::string_view between_words = ", ";

/// What stands behind `word` in the mark on this line.
std::optional<std::string_view> after(std::string_view line, std::string_view word) {
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  if (!line.starts_with(mark_prefix)) return std::nullopt;
  line.remove_prefix(mark_prefix.size());
  if (!line.starts_with(word)) return std::nullopt;
  return without_end(line.substr(word.size()));
}

/// A mark of the form "WORKLOAD: WORDS", split.
struct added_words {
  std::string_view workload;
  std::string_view words;
};

std::optional<added_words> words_of(std::string_view line) {
  const auto rest = after(line, next_line_word);
  if (!rest) return std::nullopt;
  const std::size_t colon = rest->find(": ");
  if (colon == std::string_view::npos) return std::nullopt;
  return added_words{rest->substr(0, colon), rest->substr(colon + 2)};
}

/// Copies a text line by line. Lives for one call of `without_marked`.
class stripper {
 public:
  stripper(const std::string& name, std::string_view text, std::string_view workload)
      : name_(name), text_(text), workload_(workload) {}

  std::expected<std::string, config::problem> strip() {
    at_ = byte_order_mark_of(text_);
    out_ = text_.substr(0, at_);
    while (at_ < text_.size()) {
      const std::string_view line = next();
      if (const auto begun = after(line, begin_word); begun && is_meant(*begun)) {
        if (auto wrong = skip_block(*begun)) return std::unexpected(*wrong);
      } else if (const auto ended = after(line, end_word); ended && is_meant(*ended)) {
        return std::unexpected(broken(number_, "a mark of `tenure inject` ends what none begins"));
      } else if (const auto added = words_of(line); added && is_meant(added->workload)) {
        if (auto wrong = take_words_out(added->words)) return std::unexpected(*wrong);
      } else {
        out_ += line;
      }
    }
    return std::move(out_);
  }

 private:
  std::string_view next() {
    const std::string_view line = line_at(text_, at_);
    at_ += line.size();
    ++number_;
    return line;
  }

  [[nodiscard]] bool is_meant(std::string_view workload) const {
    return workload_.empty() || workload == workload_;
  }

  [[nodiscard]] config::problem broken(std::size_t line, std::string what) const {
    return {config::position(name_, line, 1), std::move(what),
            "somebody has changed what was injected; take it out by hand"};
  }

  std::optional<config::problem> skip_block(std::string_view workload) {
    const std::size_t first = number_;
    std::vector<std::string_view> replaced;
    while (at_ < text_.size()) {
      const std::string_view line = next();
      if (after(line, begin_word)) break;
      if (const auto was = after(line, was_word)) replaced.push_back(*was);
      if (after(line, end_word) != workload) continue;
      for (const std::string_view one : replaced) {
        out_.append(one).append(line.substr(without_end(line).size()));
      }
      return std::nullopt;
    }
    return broken(first, "a mark of `tenure inject` begins what none ends");
  }

  std::optional<config::problem> take_words_out(std::string_view words) {
    const std::size_t mark = number_;
    const std::string added = std::string(words) + std::string(between_words);
    std::string line(next());
    const std::size_t found = line.find(added);
    if (words.empty() || found == std::string::npos) {
      return broken(mark, "the line below does not have the words that this mark names");
    }
    out_ += line.erase(found, added.size());
    return std::nullopt;
  }

  const std::string& name_;
  std::string_view text_;
  std::string_view workload_;
  std::size_t at_ = 0;
  std::size_t number_ = 0;
  std::string out_;
};

std::string mark(std::string_view word, std::string_view rest) {
  return std::string(mark_prefix).append(word).append(rest);
}

}  // namespace

std::string begin_mark(std::string_view workload) {
  return mark(begin_word, workload);
}

std::string end_mark(std::string_view workload) {
  return mark(end_word, workload);
}

std::string was_mark(std::string_view line) {
  return mark(was_word, line);
}

std::string next_line_mark(std::string_view workload, std::string_view words) {
  return mark(next_line_word, std::string(workload) + ": " + std::string(words));
}

std::vector<std::string> marked_workloads(std::string_view text) {
  std::vector<std::string> out;
  for (std::size_t at = byte_order_mark_of(text); at < text.size();) {
    const std::string_view line = line_at(text, at);
    at += line.size();
    std::optional<std::string_view> found = after(line, begin_word);
    if (const auto added = words_of(line)) found = added->workload;
    if (found && std::ranges::find(out, *found) == out.end()) out.emplace_back(*found);
  }
  return out;
}

std::expected<std::string, config::problem> without_marked(const std::string& file_name,
                                                           std::string_view text,
                                                           std::string_view workload) {
  return stripper(file_name, text, workload).strip();
}

std::size_t byte_order_mark_of(std::string_view text) {
  constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
  return text.starts_with(byte_order_mark) ? byte_order_mark.size() : 0;
}

std::string_view line_at(std::string_view text, std::size_t offset) {
  const std::size_t end = text.find('\n', offset);
  return text.substr(offset, end == std::string_view::npos ? end : end + 1 - offset);
}

std::string_view without_end(std::string_view line) {
  if (line.ends_with('\n')) line.remove_suffix(1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

}  // namespace tenure::manifest
