#include "cli/text/checked_words.hpp"

#include <unistd.h>

#include <cstdio>

#include "guard/guard_process.hpp"
#include "process/environment.hpp"
#include "process/exec_status.hpp"

namespace tenure::cli {
namespace {

constexpr const char* mark = "--checked";
constexpr const char* end_of_words = "--";
constexpr std::ptrdiff_t words_at = 3;  ///< after program, verb and mark

}  // namespace

int run_checked(const std::string& verb, const checked_words& what) {
  std::vector<std::string> all{"tenure", verb, mark};
  all.insert(all.end(), what.words.begin(), what.words.end());
  all.emplace_back(end_of_words);
  all.insert(all.end(), what.rest.begin(), what.rest.end());
  ::execv("/proc/self/exe", process::pointers_to(all).data());
  std::perror(("tenure " + verb + ": cannot execute /proc/self/exe; is /proc mounted?").c_str());
  return process::exit_guard_unusable;
}

std::optional<checked_words> take_checked(int argc, const char* const* argv, std::size_t count) {
  const std::vector<std::string> all(argv, argv + argc);
  const std::size_t end = static_cast<std::size_t>(words_at) + count;
  if (all.size() <= end + 1 || all[2] != mark || all[end] != end_of_words) return std::nullopt;
  const auto rest = all.begin() + static_cast<std::ptrdiff_t>(end);
  return checked_words{.words = {all.begin() + words_at, rest}, .rest = {rest + 1, all.end()}};
}

}  // namespace tenure::cli
