// Replies of the right form that contradict the request, from a fake Kubernetes.

#include "hostile_kubernetes.hpp"

namespace tenure::tests {
namespace {

using nlohmann::json;
using testing::HasSubstr;

struct contradiction {
  const char* name;
  std::function<void(json&)> how;
};

void PrintTo(const contradiction& one, std::ostream* out) {
  *out << one.name;
}

/// What a reply to a write may say instead of what was written: lies, or the work of something that
/// changes what Kubernetes stores.
std::vector<contradiction> contradictions() {
  return {
      {"AnotherHolder", [](json& lease) { lease["spec"]["holderIdentity"] = "go-program"; }},
      {"OurNameWithAnotherMark",
       [](json& lease) { lease["spec"]["holderIdentity"] = "a_tenure-0000000000000000"; }},
      {"Nobody", [](json& lease) { lease["spec"]["holderIdentity"] = ""; }},
      {"NoSpec", [](json& lease) { lease.erase("spec"); }},
      {"AShorterLease", [](json& lease) { lease["spec"]["leaseDurationSeconds"] = 1; }},
      {"NoDuration", [](json& lease) { lease["spec"].erase("leaseDurationSeconds"); }},
      {"MoreTransitions",
       [](json& lease) {
         lease["spec"]["leaseTransitions"] =
             lease["spec"].value("leaseTransitions", std::int64_t{0}) + 1;
       }},
      {"AnotherTime",
       [](json& lease) { lease["spec"]["renewTime"] = "2020-01-31T12:00:00.000000Z"; }},
  };
}

/// What only the reply to a change of a known Lease can contradict.
std::vector<contradiction> contradictions_of_a_change() {
  std::vector<contradiction> out = contradictions();
  out.push_back({"AnotherLeaseOfThatName", [](json& lease) { lease["metadata"]["uid"] = "x"; }});
  out.push_back(
      {"AVersionThatGoesBack", [](json& lease) { lease["metadata"]["resourceVersion"] = "1"; }});
  return out;
}

/// A release itself writes that nobody holds, for a second.
std::vector<contradiction> contradictions_of_a_release() {
  std::vector<contradiction> out = contradictions_of_a_change();
  std::erase_if(out, [](const contradiction& one) {
    return one.name == std::string("Nobody") || one.name == std::string("AShorterLease");
  });
  return out;
}

class KubernetesCreation : public HostileKubernetes,
                           public testing::WithParamInterface<contradiction> {};
class KubernetesChange : public HostileKubernetes,
                         public testing::WithParamInterface<contradiction> {};
class KubernetesRelease : public HostileKubernetes,
                          public testing::WithParamInterface<contradiction> {};

INSTANTIATE_TEST_SUITE_P(Fake, KubernetesCreation, testing::ValuesIn(contradictions()),
                         [](const auto& one) { return std::string(one.param.name); });
INSTANTIATE_TEST_SUITE_P(Fake, KubernetesChange, testing::ValuesIn(contradictions_of_a_change()),
                         [](const auto& one) { return std::string(one.param.name); });
INSTANTIATE_TEST_SUITE_P(Fake, KubernetesRelease, testing::ValuesIn(contradictions_of_a_release()),
                         [](const auto& one) { return std::string(one.param.name); });

TEST_P(KubernetesCreation, ThatShowsSomethingElseGrantsNothing) {
  auto a = join();
  fake_.change("create", GetParam().how);
  expect_unknown(words(a->acquire()), "another Lease than was written");
  expect_usable(*a);
}

TEST_P(KubernetesChange, ThatShowsSomethingElseGrantsNothing) {
  make_lease();
  auto a = join();
  fake_.change("write", GetParam().how);
  expect_unknown(words(a->acquire()), "another Lease than was written");
  expect_usable(*a);
}

TEST_P(KubernetesChange, ThatShowsSomethingElseRenewsNothing) {
  auto a = join();
  const stores::grant held = hold(*a);
  fake_.change("write", GetParam().how);
  expect_unknown(words(a->renew(term(held.version))), "another Lease than was written");
  expect_usable(*a);
}

TEST_P(KubernetesRelease, ThatShowsSomethingElseReleasesNothing) {
  auto a = join();
  const stores::grant held = hold(*a);
  fake_.change("write", GetParam().how);
  expect_unknown(words(a->release(0, held.version)), "another Lease than was written");
  expect_usable(*a);
}

// Writes whose outcome is not known ---------------------------------------------------------------

/// The server executes a write, and then answers with an error.
fake_kubernetes::answer executed_and_lost(fake_kubernetes& fake, const std::string& line) {
  return [&fake, line](peer& to, const std::string& request) {
    fake.truth(request);
    status(line, status_json(504, "Timeout"))(to, request);
  };
}

TEST_F(HostileKubernetes, ACampaignThatWasExecutedAndNotAnsweredIsFoundAgain) {
  for (const char* line : {"504 Gateway Timeout", "500 Internal Server Error"}) {
    fake_.remove("db0");
    auto a = join();
    fake_.on("create", executed_and_lost(fake_, line));
    expect_unknown(words(a->acquire()));
    EXPECT_THAT(fake_.lease("db0")["spec"]["holderIdentity"].get<std::string>(),
                testing::StartsWith("a_tenure-"));
    auto b = join("b");
    EXPECT_EQ(words(b->acquire()), "refused");
    expect_usable(*a);
    EXPECT_EQ(fake_.lease("db0")["spec"]["leaseTransitions"], 0) << "it is the same term";
  }
}

TEST_F(HostileKubernetes, ARenewalThatWasExecutedAndNotAnsweredIsNotALoss) {
  auto a = join();
  const stores::grant held = hold(*a);
  fake_.on("write", executed_and_lost(fake_, "504 Gateway Timeout"));
  expect_unknown(words(a->renew(term(held.version))));
  fake_.repent("write");
  EXPECT_EQ(words(a->renew(term(held.version))), "renewed");
  EXPECT_EQ(words(a->release(0, held.version)), "released");
}

TEST_F(HostileKubernetes, AReleaseThatWasExecutedAndNotAnsweredIsDoneTheNextTime) {
  auto a = join();
  const stores::grant held = hold(*a);
  fake_.on("write", executed_and_lost(fake_, "503 Service Unavailable"));
  expect_unknown(words(a->release(0, held.version)));
  EXPECT_EQ(fake_.lease("db0")["spec"]["holderIdentity"], "");
  fake_.repent("write");
  EXPECT_EQ(words(a->release(0, held.version)), "released");
  EXPECT_EQ(words(a->renew(term(held.version))), "lost: revoked");
}

// What others do to the Lease ---------------------------------------------------------------------

TEST_F(HostileKubernetes, ALeaseThatSomebodyWritesAgainAndAgainIsUnknown) {
  auto a = join();
  const stores::grant held = hold(*a);
  fake_.on("write", status("409 Conflict", status_json(409, "Conflict", "modified")));
  a->answer_within(patience);
  expect_unknown(words(a->renew(term(held.version))), "again and again");
  expect_unknown(words(a->release(0, held.version)), "again and again");
  expect_usable(*a);
}

TEST_F(HostileKubernetes, ALeaseThatIsThereAndIsNotIsUnknown) {
  auto a = join();
  a->answer_within(patience);
  fake_.on("create", status("409 Conflict", status_json(409, "AlreadyExists", "it exists")));
  expect_unknown(words(a->acquire()), "again and again");
  EXPECT_LE(fake_.count("create"), 2) << "the list shows again what the first try relied on";
  expect_usable(*a);
}

TEST_F(HostileKubernetes, ATermThatAnotherTookIsLost) {
  auto a = join();
  const stores::grant held = hold(*a);
  hold_as_another();
  EXPECT_EQ(words(a->renew(term(held.version))), "lost: taken_over");
  EXPECT_EQ(words(a->release(0, held.version)), "released");
  EXPECT_EQ(fake_.lease("db0")["spec"]["holderIdentity"], "go-program") << "not ours to release";
}

TEST_F(HostileKubernetes, ATermWhoseLeaseWasDeletedIsLost) {
  auto a = join();
  const stores::grant held = hold(*a);
  fake_.remove("db0");
  EXPECT_EQ(words(a->renew(term(held.version))), "lost: revoked");
  EXPECT_TRUE(fake_.lease("db0").is_null()) << "a renewal does not make it again";
  EXPECT_GT(hold(*a).version, held.version);
}

/// Others wait for as long as the Lease says.
TEST_F(HostileKubernetes, ATermWhoseLeaseWasShortenedIsLost) {
  auto a = join();
  const stores::grant held = hold(*a);
  json spec = fake_.lease("db0")["spec"];
  spec["leaseDurationSeconds"] = 5;
  fake_.put("db0", spec);
  EXPECT_THAT(words(a->renew(term(held.version))), HasSubstr("lost: "));
}

TEST_F(HostileKubernetes, AnAnnotationOfAnOperatorDoesNotEndATerm) {
  auto a = join();
  const stores::grant held = hold(*a);
  fake_.put("db0", fake_.lease("db0")["spec"]);
  EXPECT_EQ(words(a->renew(term(held.version))), "renewed");
}

/// A store that was restored gives a version again: to another spec.
TEST_F(HostileKubernetes, AVersionThatIsGivenAgainIsNotTheLeaseThatWeKnow) {
  auto a = join();
  const stores::grant held = hold(*a);
  const json ours = fake_.lease("db0");
  hold_as_another();
  const auto as_ours = [&](peer& to, const std::string& request) {
    // The tests of the versions hold, that of the spec does not.
    std::string changed = request;
    const std::string mine = ours["metadata"]["resourceVersion"];
    const std::string theirs = fake_.lease("db0")["metadata"]["resourceVersion"];
    const std::string before = R"("path":"/metadata/resourceVersion","value":")";
    const auto at = changed.find(before + mine);
    if (at != std::string::npos) changed.replace(at + before.size(), mine.size(), theirs);
    fake_kubernetes::say(to, fake_.truth(changed));
  };
  fake_.on("write", as_ours);
  EXPECT_EQ(words(a->renew(term(held.version))), "lost: taken_over");
  EXPECT_EQ(fake_.lease("db0")["spec"]["holderIdentity"], "go-program");
}

}  // namespace
}  // namespace tenure::tests
