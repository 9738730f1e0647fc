#include "support/golden/golden.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace tenure::tests {
namespace {

constexpr std::string_view head =
    "# What these tests expect to read, word for word. Written by the test program with --update: "
    "read each change.\n";
constexpr std::string_view before_name = "== ";
constexpr std::string_view before_line = "  ";

/// The texts of each test, in the order in which it asks for them.
using texts = std::map<std::string, std::vector<std::string>>;

struct golden_file {
  std::string path;
  bool updates = false;
  texts expected;
  texts said;
  std::set<std::string> ran;  ///< to their end
};

golden_file& present() {
  static golden_file one;
  return one;
}

std::string name_of(const testing::TestInfo& test) {
  return std::string(test.test_suite_name()) + "." + test.name();
}

texts read_file(const std::string& path) {
  texts out;
  std::vector<std::string>* of = nullptr;
  std::ifstream from(path);
  for (std::string line; std::getline(from, line);) {
    if (line.starts_with(before_name)) {
      of = &out[line.substr(before_name.size())];
      of->emplace_back();
    } else if (of != nullptr && line.starts_with(before_line)) {
      of->back() += line.substr(before_line.size()) + "\n";
    }
  }
  return out;
}

/// Each line ends.
std::string in_lines(std::string_view text) {
  std::string out(text);
  if (!out.ends_with('\n')) out += '\n';
  return out;
}

bool write_file(const golden_file& of) {
  texts all = of.expected;
  for (const std::string& test : of.ran) all.erase(test);
  for (const auto& [test, said] : of.said) all[test] = said;
  std::ofstream out(of.path);
  out << head;
  for (const auto& [test, said] : all) {
    for (const std::string& text : said) {
      out << before_name << test << '\n';
      for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = text.find('\n', at) + 1;
        out << before_line << text.substr(at, end - at);
        at = end;
      }
    }
  }
  out.flush();
  std::printf("%s %s\n", out ? "wrote" : "could not write", of.path.c_str());
  return static_cast<bool>(out);
}

/// Looks after each test whether the file has more than the test has said.
class leftovers : public testing::EmptyTestEventListener {
  void OnTestEnd(const testing::TestInfo& test) override {
    golden_file& file = present();
    const std::string name = name_of(test);
    file.ran.insert(name);
    const std::size_t said = file.said[name].size();
    if (said == 0) file.said.erase(name);
    const auto expected = file.expected.find(name);
    if (file.updates || expected == file.expected.end() || expected->second.size() <= said) return;
    ADD_FAILURE() << name << " has said " << said << " texts, and " << file.path << " has "
                  << expected->second.size() << "; run this program with --update";
  }
};

}  // namespace

void expect_golden(std::string_view text, std::source_location where) {
  golden_file& file = present();
  const std::string test = name_of(*testing::UnitTest::GetInstance()->current_test_info());
  auto& said = file.said[test];
  said.push_back(in_lines(text));
  if (file.updates) return;
  const auto found = file.expected.find(test);
  const std::size_t number = said.size();
  const bool is_known = found != file.expected.end() && found->second.size() >= number;
  const std::string expected = is_known ? found->second[number - 1] : "(nothing)\n";
  if (expected == said.back()) return;
  ADD_FAILURE_AT(where.file_name(), static_cast<int>(where.line()))
      << "text " << number << " of " << test << " says\n"
      << said.back() << "instead of\n"
      << expected << "If that is meant, run this program with --update.";
}

void expect_golden(const std::vector<std::string>& sentences, std::source_location where) {
  std::string text;
  for (const std::string& one : sentences) text += one + "\n";
  expect_golden(text, where);
}

int run_golden_tests(int argc, char** argv, const std::string& file) {
  golden_file& golden = present();
  golden.path = file;
  golden.expected = read_file(file);
  testing::InitGoogleTest(&argc, argv);
  golden.updates = argc == 2 && std::string_view(argv[1]) == "--update";
  testing::UnitTest::GetInstance()->listeners().Append(new leftovers);
  const int status = RUN_ALL_TESTS();
  if (golden.updates && !write_file(golden)) return 1;
  return status;
}

}  // namespace tenure::tests
