#include "hostile_kubernetes.hpp"

namespace tenure::tests {

std::unique_ptr<member> HostileKubernetes::join(const stores::setup& with) {
  auto made = std::make_unique<member>(loop_, with);
  const auto opened = made->open();
  EXPECT_TRUE(opened) << opened.error().text;
  made->answer_within(short_time);
  return made;
}

stores::grant HostileKubernetes::hold(member& who, std::uint32_t which) {
  const stores::grant out = who.hold(which);
  const std::string name =
      "db" + std::to_string(which) + (out.slot == 0 ? "" : ".slot-" + std::to_string(out.slot));
  EXPECT_TRUE(eventually(loop_, [&] {
    const nlohmann::json notes = fake_.lease(name)["metadata"]["annotations"];
    return notes.is_object() && notes.contains("tenure.dev/term");
  }));
  who.read(which);
  return out;
}

void HostileKubernetes::hold_as_another() {
  fake_.put(
      "db0",
      {{"holderIdentity", "go-program"}, {"leaseDurationSeconds", 3600}, {"leaseTransitions", 1}});
}

void HostileKubernetes::expect_unknown(const std::string& said, const std::string& why) {
  EXPECT_THAT(said, testing::AllOf(testing::StartsWith("unknown: "), testing::HasSubstr(why),
                                   testing::HasSubstr("127.0.0.1")));
}

void HostileKubernetes::expect_usable(member& who) {
  fake_.repent();
  who.answer_within(patience);
  const stores::acquire_outcome outcome = who.acquire();
  ASSERT_EQ(words(outcome), "granted");
  const core::version held = std::get<stores::grant>(outcome).version;
  EXPECT_EQ(words(who.renew(term(held))), "renewed");
  EXPECT_EQ(words(who.release(0, held)), "released");
  EXPECT_TRUE(who.read().holders.empty());
}

}  // namespace tenure::tests
