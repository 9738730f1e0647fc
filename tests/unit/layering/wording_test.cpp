#include "unit/layering/wording.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

namespace tenure::layering {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;

const fs::path tree = TENURE_SOURCE_TREE;

/// The phrases as "line:words".
std::vector<std::string> listed(const std::vector<odd_phrase>& all) {
  std::vector<std::string> out;
  for (const odd_phrase& one : all) out.push_back(std::to_string(one.line) + ":" + one.words);
  return out;
}

std::vector<std::string> in_source(std::string_view text) {
  return listed(odd_phrases_in_source(text));
}

std::string content_of(const fs::path& file) {
  std::ifstream from(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(from), {}};
}

TEST(Wording, CommentsBeginWithANoun) {
  EXPECT_THAT(in_source("/// Of an answer.\nint a;  ///< of the reply\n// Of both.\n"),
              ElementsAre("1:/// Of ", "3:// Of ", "2:///< of "));
  EXPECT_THAT(in_source("/// The size of an answer.\nint a;  ///< the one of the reply\n"),
              IsEmpty());
}

TEST(Wording, WordsAreFoundInCommentsAndLiteralsAndNotInCode) {
  EXPECT_THAT(in_source("// Whoever\n// comes.\nf(\"whatever it is\");\nint whoever = 0;\n"),
              ElementsAre("1:whoever", "3:whatever"));
}

TEST(Wording, PhraseIsFoundAcrossLines) {
  EXPECT_THAT(in_source("/// Nothing if it\n/// is so.\n"), ElementsAre("1:it is so"));
  EXPECT_THAT(in_source("f(\"which is \"\n  \"no duration\");\n"), ElementsAre("1:is no duration"));
}

TEST(Wording, PhraseEndsWithItsSentence) {
  EXPECT_THAT(in_source("// That is what it is. So be it.\n"), IsEmpty());
}

TEST(Wording, AbsenceIsNotAnOddPhrase) {
  EXPECT_THAT(in_source("// There is no room. It is no longer ours, and is no more than that.\n"),
              IsEmpty());
  EXPECT_THAT(listed(odd_phrases_in_prose("A text that is no setting is refused.")),
              ElementsAre("1:is no setting"));
}

TEST(Wording, SourcesAreInPlainEnglish) {
  std::size_t files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(tree / "agent")) {
    const std::string kind = entry.path().extension().string();
    if (kind != ".hpp" && kind != ".cpp" && kind != ".h") continue;
    ++files;
    for (const odd_phrase& one : odd_phrases_in_source(content_of(entry.path()))) {
      ADD_FAILURE() << entry.path().lexically_relative(tree).generic_string() << ":" << one.line
                    << ": \"" << one.words << "\": " << one.instead;
    }
  }
  EXPECT_GT(files, 10U);
}

/// Not the decisions: they say what was thought at their time.
TEST(Wording, DocumentationIsInPlainEnglish) {
  std::vector<fs::path> pages{tree / "README.md", tree / "CONTRIBUTING.md"};
  for (const auto& entry : fs::directory_iterator(tree / "docs")) {
    const std::string kind = entry.path().extension().string();
    if (kind == ".md" || kind == ".yaml") pages.push_back(entry.path());
  }
  for (const auto& entry : fs::directory_iterator(tree / "agent" / "api" / "page")) {
    const std::string kind = entry.path().extension().string();
    if (kind == ".js" || kind == ".html") pages.push_back(entry.path());
  }
  EXPECT_GT(pages.size(), 10U);
  for (const fs::path& page : pages) {
    for (const odd_phrase& one : odd_phrases_in_prose(content_of(page))) {
      ADD_FAILURE() << page.lexically_relative(tree).generic_string() << ":" << one.line << ": \""
                    << one.words << "\": " << one.instead;
    }
  }
}

}  // namespace
}  // namespace tenure::layering
