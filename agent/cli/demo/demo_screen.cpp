#include "cli/demo/demo_screen.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <string_view>
#include <utility>

#include "cli/text/terminal.hpp"
#include "cli/text/times.hpp"

namespace tenure::cli {
namespace {

constexpr int timeline_columns = 66;
constexpr std::size_t passage_columns = 76;
constexpr const char* full_block = "\u2588";
constexpr const char* faint_dot = "\u00b7";
constexpr std::array<const char*, 3> member_colours{"36", "33", "35"};

const char* colour_of(const std::string& member) {
  const auto letter = static_cast<std::size_t>(member.empty() ? 0 : member.front() - 'a');
  return member_colours.at(letter % member_colours.size());
}

}  // namespace

std::string spoken(core::duration d) {
  std::array<char, 32> out{};
  const double ms = in_seconds(d) * 1000;
  if (ms < 100) {
    std::snprintf(out.data(), out.size(), "%.1f ms", ms);
  } else {
    std::snprintf(out.data(), out.size(), "%.2f s", ms / 1000);
  }
  return out.data();
}

demo_screen::demo_screen(core::time_point begin) : begin_(begin), colour_(wants_colour()) {
  std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
}

std::string demo_screen::paint(const char* code, const std::string& text) const {
  return colour_ ? std::string("\x1b[") + code + "m" + text + "\x1b[0m" : text;
}

std::string demo_screen::member(const std::string& name) const {
  return paint((std::string("1;") + colour_of(name)).c_str(), name);
}

std::string demo_screen::strong(const std::string& text) const {
  return paint("1", text);
}

void demo_screen::title(const std::string& text) const {
  std::printf("\n  %s\n\n", paint("1", text).c_str());
}

void demo_screen::act(const std::string& text) const {
  std::printf("\n  %s %s\n", paint("1;34", "\u25b8").c_str(), paint("1", text).c_str());
}

void demo_screen::event(core::time_point when, const std::string& text) const {
  std::array<char, 16> clock{};
  std::snprintf(clock.data(), clock.size(), "%7.2f s", in_seconds(when - begin_));
  std::printf("  %s  %s\n", paint("2", clock.data()).c_str(), text.c_str());
}

void demo_screen::note(const std::string& text) const {
  std::printf("             %s\n", paint("2", text).c_str());
}

void demo_screen::passage(const std::string& json) const {
  std::string line;
  std::string piece;
  const auto flush = [&] {
    if (!line.empty()) note(line);
    line.clear();
  };
  for (const char c : json) {
    if (c == '\n') continue;
    piece += c;
    if (c != ',') continue;
    if (line.size() + piece.size() > passage_columns) flush();
    line += std::exchange(piece, {});
  }
  if (line.size() + piece.size() > passage_columns) flush();
  line += piece;
  flush();
}

void demo_screen::verdict(bool good, const std::string& text) const {
  std::printf("  %s %s\n", good ? paint("1;32", "\u2713").c_str() : paint("1;31", "\u2717").c_str(),
              text.c_str());
}

void demo_screen::timeline(const std::vector<std::string>& members,
                           const std::vector<run_record>& runs, core::time_point end) const {
  const core::duration whole = std::max<core::duration>(end - begin_, std::chrono::seconds(1));
  const auto column = [&](core::time_point t) {
    return static_cast<int>(in_seconds(t - begin_) / in_seconds(whole) * timeline_columns);
  };
  std::printf("\n");
  for (const std::string& name : members) {
    std::string row;
    for (int c = 0; c < timeline_columns; ++c) {
      const auto here = std::ranges::find_if(runs, [&](const run_record& r) {
        return r.identity == name && column(r.first) <= c && c <= column(r.last);
      });
      if (here == runs.end()) {
        row += paint("2", faint_dot);
        continue;
      }
      const std::string version = std::to_string(here->version);
      const auto digit =
          static_cast<std::size_t>(c - std::min(column(here->first) + 1, column(here->last)));
      if (digit < version.size()) {
        row += paint((std::string("7;") + colour_of(name)).c_str(), version.substr(digit, 1));
      } else {
        row += paint(colour_of(name), full_block);
      }
    }
    std::printf("  %s  %s\n", member(name).c_str(), row.c_str());
  }
  std::array<char, 16> last{};
  std::snprintf(last.data(), last.size(), "%.0f s", in_seconds(whole));
  std::printf(
      "     %s\n\n",
      paint("2", "0 s" +
                     std::string(timeline_columns - 3 - std::string_view(last.data()).size(), ' ') +
                     last.data())
          .c_str());
}

}  // namespace tenure::cli
