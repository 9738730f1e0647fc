#include "hostile_scene.hpp"

namespace tenure::tests {

std::unique_ptr<member> HostileConsul::join(const stores::setup& with) {
  auto made = std::make_unique<member>(loop_, with);
  const auto opened = made->open();
  EXPECT_TRUE(opened) << opened.error().text;
  made->answer_within(short_time);
  return made;
}

void HostileConsul::expect_unknown(const std::string& said, const std::string& why) {
  EXPECT_THAT(said, testing::AllOf(testing::StartsWith("unknown: "), testing::HasSubstr(why),
                                   testing::HasSubstr("127.0.0.1")));
}

void HostileConsul::expect_usable(member& who) {
  for (const char* name :
       {"self", "lock key", "read", "watch", "create", "renew", "look", "write"}) {
    fake_.repent(name);
  }
  who.answer_within(patience);
  const stores::acquire_outcome outcome = who.acquire();
  ASSERT_EQ(words(outcome), "granted");
  const core::version held = std::get<stores::grant>(outcome).version;
  EXPECT_EQ(words(who.renew(term(held))), "renewed");
  EXPECT_EQ(words(who.release(0, held)), "released");
  EXPECT_TRUE(who.read().holders.empty());
}

}  // namespace tenure::tests
