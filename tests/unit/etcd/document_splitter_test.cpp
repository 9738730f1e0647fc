// However a stream is cut into pieces, the same documents come out of it.
#include "stores/document_splitter.hpp"

#include <gmock/gmock.h>

#include "unit/etcd/captured.hpp"

namespace tenure::stores::etcd {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using namespace std::string_literals;

TEST(DocumentSplitter, TakesSeveralDocumentsOffOnePiece) {
  document_splitter splitter;
  const auto all = splitter.feed("{\"a\":1}\n{\"b\":[{}]}{} \r\n\t{\"c");
  ASSERT_TRUE(all);
  EXPECT_THAT(*all, ElementsAre(R"({"a":1})", R"({"b":[{}]})", "{}"));
  EXPECT_FALSE(splitter.between_documents());
}

TEST(DocumentSplitter, DoesNotCareWhereAStreamIsCut) {
  for (const auto& [name, body] : all_captured()) {
    if (!body.starts_with('{')) continue;
    const auto whole = document_splitter().feed(body);
    ASSERT_TRUE(whole) << name;
    for (std::size_t cut = 0; cut <= body.size(); ++cut) {
      document_splitter splitter;
      auto all = splitter.feed(body.substr(0, cut));
      const auto rest = splitter.feed(body.substr(cut));
      ASSERT_TRUE(all && rest) << name;
      all->insert(all->end(), rest->begin(), rest->end());
      EXPECT_EQ(*all, *whole) << name << " cut at " << cut;
      EXPECT_TRUE(splitter.between_documents()) << name;
    }
  }
}

TEST(DocumentSplitter, BracesInStringsAreText) {
  document_splitter splitter;
  const std::string document = R"({"a":"}{][\"}","b\\":"\\"})";
  for (std::size_t i = 0; i + 1 < document.size(); ++i) {
    EXPECT_THAT(*splitter.feed(document.substr(i, 1)), IsEmpty());
  }
  EXPECT_THAT(*splitter.feed(document.substr(document.size() - 1)), ElementsAre(document));
}

TEST(DocumentSplitter, RefusesWhatIsNoObjectAndStaysRefused) {
  for (const std::string& piece : {"Not Found"s, "[]"s, "\"a\""s, "}"s, "\0"s, "{} ,{}"s}) {
    document_splitter splitter;
    EXPECT_FALSE(splitter.feed(piece)) << piece;
    EXPECT_FALSE(splitter.feed("{}")) << piece;
    EXPECT_FALSE(splitter.between_documents()) << piece;
  }
}

TEST(DocumentSplitter, BoundsTheLengthOfOneDocument) {
  document_splitter splitter;
  const std::string begin = "{\"a\":\"";
  const std::string text(document_splitter::max_document_bytes - begin.size() - 2, 'x');
  const auto fits = splitter.feed(begin + text + "\"}");
  ASSERT_TRUE(fits);
  EXPECT_THAT(*fits, ::testing::SizeIs(1));
  EXPECT_FALSE(splitter.feed(begin + text + "x\"}"));
}

TEST(DocumentSplitter, BoundsTheNestingOfOneDocument) {
  const auto nested = [](int depth) {
    return "{\"a\":" + std::string(static_cast<std::size_t>(depth - 1), '[') +
           std::string(static_cast<std::size_t>(depth - 1), ']') + "}";
  };
  EXPECT_TRUE(document_splitter().feed(nested(document_splitter::max_nesting)));
  EXPECT_FALSE(document_splitter().feed(nested(document_splitter::max_nesting + 1)));
}

}  // namespace
}  // namespace tenure::stores::etcd
