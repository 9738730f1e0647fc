#include "base/base64.hpp"

#include <gtest/gtest.h>

#include <cstddef>

namespace tenure::base {
namespace {

TEST(Base64, MatchesTheVectorsOfItsStandard) {
  const std::pair<const char*, const char*> vectors[] = {{"", ""},
                                                         {"f", "Zg=="},
                                                         {"fo", "Zm8="},
                                                         {"foo", "Zm9v"},
                                                         {"foob", "Zm9vYg=="},
                                                         {"fooba", "Zm9vYmE="},
                                                         {"foobar", "Zm9vYmFy"}};
  for (const auto& [bytes, text] : vectors) {
    EXPECT_EQ(to_base64(bytes), text);
    EXPECT_EQ(from_base64(text), bytes);
  }
}

TEST(Base64, GivesEveryByteBack) {
  std::string bytes;
  for (int i = 0; i < 256; ++i) bytes += static_cast<char>(i);
  for (std::size_t size = 0; size <= bytes.size(); ++size) {
    const std::string part = bytes.substr(bytes.size() - size);
    EXPECT_EQ(from_base64(to_base64(part)), part);
  }
}

TEST(Base64, HasOneSpellingOnly) {
  for (const char* text : {"Zg=", "Zg", "Z", "=", "====", "Zg==Zg==", "Zh==", "Zm9=", "Z===",
                           "Zg=A", "Zm 9v", "Zm9v\n", "Zm-v", "Zm_v", "\xff\xff\xff\xff"}) {
    EXPECT_FALSE(from_base64(text)) << text;
  }
  EXPECT_FALSE(from_base64(std::string_view("Zm\0v", 4)));
}

}  // namespace
}  // namespace tenure::base
