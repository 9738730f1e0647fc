#pragma once

#include <cstddef>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "config/problem.hpp"

/// The comments that say which lines of a manifest `tenure inject` has written, so that they can be
/// taken out again byte for byte, without knowing anything else of the text.
///
/// - Between `begin` and `end` all lines were added. Each `was` in between has a line that they
/// replace.
/// - `next line` has words that were added to the line below it, each followed by ", ".
///
/// Each mark names the workload that it belongs to.
namespace tenure::manifest {

/// What every mark begins with.
inline constexpr std::string_view mark_prefix = "# tenure.dev/inject: ";

/// The marks of one workload, each as a comment without its line's end.
[[nodiscard]] std::string begin_mark(std::string_view workload);
[[nodiscard]] std::string end_mark(std::string_view workload);
[[nodiscard]] std::string was_mark(std::string_view line);
[[nodiscard]] std::string next_line_mark(std::string_view workload, std::string_view words);

/// The workloads that have marks in `text`, each once, in order.
[[nodiscard]] std::vector<std::string> marked_workloads(std::string_view text);

/// `text` without what the marks of `workload` say was added; of all workloads, if it is empty. A
/// problem where marks do not fit together, because somebody has changed or moved their lines.
[[nodiscard]] std::expected<std::string, config::problem> without_marked(
    const std::string& file_name, std::string_view text, std::string_view workload);

/// How many bytes of a byte order mark the text begins with.
[[nodiscard]] std::size_t byte_order_mark_of(std::string_view text);
/// The line that begins at `offset`, with its end.
[[nodiscard]] std::string_view line_at(std::string_view text, std::size_t offset);
/// The same without its end ("\n" or "\r\n").
[[nodiscard]] std::string_view without_end(std::string_view line);

}  // namespace tenure::manifest
