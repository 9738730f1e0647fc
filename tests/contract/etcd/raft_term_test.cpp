// A keepalive says in which raft term its member was when it arrived. One that a leader answers who
// was replaced before our look renews nothing, and must not be believed.

#include "etcd_scene.hpp"
#include "fake_etcd.hpp"

namespace tenure::tests {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

class EtcdRaftTerm : public etcd_scene, public testing::Test {
 protected:
  static auto is_doubted() {
    return AllOf(StartsWith("unknown"), HasSubstr("raft term 2"), HasSubstr("raft term 3"));
  }

  fake_etcd fake_;
};

TEST_F(EtcdRaftTerm, RenewalIsUnknownIfItsKeepaliveIsOfAnEarlierTermThanItsLook) {
  auto a = join(settings("a", {fake_.endpoint()}));
  const stores::grant held = a->hold();
  fake_.be_in_terms("2", "3");
  EXPECT_THAT(words(renew(*a, held.version, renewal_time)), is_doubted());
  EXPECT_THAT(words(renew(*a, held.version, renewal_time)), is_doubted()) << "however often";
  fake_.be_in_terms("3", "3");
  EXPECT_EQ(words(renew(*a, held.version, renewal_time)), "renewed");
  fake_.be_in_terms("4", "3");
  EXPECT_EQ(words(renew(*a, held.version, renewal_time)), "renewed")
      << "it was elected after the look, and has heard the keepalive";
}

TEST_F(EtcdRaftTerm, KeepaliveGoesNextToTheMemberThatAnsweredTheLook) {
  fake_etcd lagging;
  lagging.on("/v3/kv/txn", [this](peer& to, const std::string& request) {
    to.reply(fake_.transaction(request));
  });
  auto a = join(settings("a", {fake_.endpoint(), lagging.endpoint()}));
  const stores::grant held = a->hold();
  fake_.be_in_terms("3", "3");
  fake_.on("/v3/lease/keepalive", [](peer& to, const std::string&) { to.reset(); });
  EXPECT_THAT(words(renew(*a, held.version, renewal_time)), is_doubted());
  EXPECT_EQ(lagging.count("/v3/lease/keepalive"), 1);

  fake_.on("/v3/lease/keepalive", fake_etcd::answer());
  EXPECT_EQ(words(renew(*a, held.version, renewal_time)), "renewed");
  EXPECT_EQ(lagging.count("/v3/lease/keepalive"), 1) << "it was not asked again";
}

TEST_F(EtcdRaftTerm, TermOfOursIsNotAdoptedByAKeepaliveOfAnEarlierTerm) {
  {
    auto before = join(settings("a", {fake_.endpoint()}));
    before->hold();
  }
  auto a = join(settings("a", {fake_.endpoint()}));
  fake_.be_in_terms("2", "3");
  EXPECT_THAT(words(acquire(*a, renewal_time)), is_doubted());
  fake_.be_in_terms("3", "3");
  EXPECT_EQ(words(acquire(*a, renewal_time)), "granted");
}

TEST_F(EtcdRaftTerm, CampaignWithALeaseThatWasRenewedInAnEarlierTermIsUnknown) {
  auto a = join(settings("a", {fake_.endpoint()}));
  const stores::grant held = a->hold();
  ASSERT_EQ(words(renew(*a, held.version, renewal_time)), "renewed");
  ASSERT_EQ(words(release(*a, held.version, renewal_time)), "released");
  fake_.be_in_terms("3", "3");
  EXPECT_THAT(words(acquire(*a, renewal_time)), is_doubted()) << "the lease was renewed in term 2";
  const int keepalives = fake_.count("/v3/lease/keepalive");
  EXPECT_EQ(words(acquire(*a, renewal_time)), "granted");
  EXPECT_EQ(fake_.count("/v3/lease/keepalive"), keepalives + 1) << "it is renewed first";
}

TEST_F(EtcdRaftTerm, CampaignWithALeaseThatWasGrantedIsBelievedInAnyLaterTerm) {
  auto a = join(settings("a", {fake_.endpoint()}));
  fake_.be_in_terms("2", "3");
  EXPECT_EQ(words(acquire(*a, renewal_time)), "granted")
      << "the quorum has granted it, and each later leader extends it";
}

}  // namespace
}  // namespace tenure::tests
