// The number of slots changes while members come: a fake Kubernetes lets them come just then.

#include <future>
#include <optional>

#include "hostile_kubernetes.hpp"

namespace tenure::tests {
namespace {

using nlohmann::json;

class KubernetesSlots : public HostileKubernetes {
 protected:
  static json held_by(const std::string& holder) {
    return {{"holderIdentity", holder}, {"leaseDurationSeconds", 60}, {"leaseTransitions", 7}};
  }

  /// Members hold all slots, and leave, but for the last of them.
  void hold_and_leave(std::uint32_t slots, std::uint32_t staying = 0) {
    std::vector<std::unique_ptr<member>> all;
    std::vector<stores::grant> terms;
    for (std::uint32_t i = 0; i < slots; ++i) {
      all.push_back(join("p" + std::to_string(i), slots));
      terms.push_back(hold(*all.back()));
    }
    for (std::uint32_t i = 0; i + staying < slots; ++i) all[i]->release(0, terms[i].version);
  }

  /// What a member for one slot gets if somebody takes `taken` while `closed` is being closed, and
  /// the watch shows it before that is done.
  std::string campaign_while(const std::string& closed, const std::string& taken) {
    auto who = join("a", 1);
    auto seen = who->watch();
    EXPECT_TRUE(loop_.run_until([&] { return !seen->seen.empty(); }));
    std::promise<void> shown;
    const std::shared_future<void> is_shown = shown.get_future().share();
    fake_.on("write", [&, is_shown](peer& to, const std::string& request) {
      const bool is_free = fake_.lease(taken)["spec"]["holderIdentity"] == "";
      if (path_of(request).ends_with("/" + closed) && is_free) {
        fake_.put(taken, held_by("q"));
        is_shown.wait_for(patience);
      }
      fake_kubernetes::say(to, fake_.truth(request));
    });
    std::optional<stores::acquire_outcome> came;
    bool told = false;
    (*who)->acquire(core::election_index{0}, core::no_version, soon(),
                    [&](stores::acquire_outcome what) { came = std::move(what); });
    const auto is_q = [](const core::holder& one) { return one.identity == "q"; };
    EXPECT_TRUE(loop_.run_until([&] {
      const bool q_holds =
          seen->shows([&](const auto& what) { return std::ranges::any_of(what.holders, is_q); });
      if (q_holds && !std::exchange(told, true)) shown.set_value();
      return came.has_value();
    }));
    EXPECT_TRUE(told) << "nobody came";
    fake_.repent();
    return came ? words(*came) : "no answer";
  }

  [[nodiscard]] std::string note(const std::string& lease, const std::string& key) const {
    return fake_.lease(lease)["metadata"].value("annotations", json::object()).value(key, "");
  }
};

TEST_F(KubernetesSlots, AreNoFewerForTheOneWhoTakesTheFirst) {
  hold_and_leave(3);
  EXPECT_EQ(campaign_while("db0.slot-1", "db0"), "refused");
  EXPECT_EQ(note("db0", "tenure.dev/slots"), "0 0 1 2");
}

TEST_F(KubernetesSlots, AreNoFewerForTheOneWhoTakesAnother) {
  hold_and_leave(3);
  EXPECT_EQ(campaign_while("db0.slot-2", "db0.slot-1"), "refused")
      << "although it was closed already";
  EXPECT_EQ(note("db0", "tenure.dev/slots"), "0 0 1 2");
}

TEST_F(KubernetesSlots, AreThoseOfTheNextMemberOnceNobodyHolds) {
  hold_and_leave(3);
  auto a = join("a", 1);
  EXPECT_EQ(hold(*a).slot, 0U);
  EXPECT_EQ(note("db0", "tenure.dev/slots"), "1 0");
  EXPECT_EQ(note("db0.slot-1", "tenure.dev/epoch"), "1") << "who relies on the list before fails";
  EXPECT_EQ(note("db0.slot-2", "tenure.dev/epoch"), "1");
  EXPECT_EQ(words(join("b", 1)->acquire()), "refused");
  EXPECT_EQ(words(join("p", 3)->acquire()), "refused") << "it came later";
}

/// Who closed them has died, or has found that somebody came.
TEST_F(KubernetesSlots, ThatAreHalfClosedAreThoseOfTheNextMember) {
  hold_and_leave(3);
  fake_.annotate("db0.slot-1", "tenure.dev/epoch", "1");
  EXPECT_EQ(hold(*join("a", 1)).slot, 0U);
  EXPECT_EQ(note("db0", "tenure.dev/slots"), "1 0");
}

// Slots that are closed, and not to stay so ------------------------------------------------------

TEST_F(KubernetesSlots, ThatWereClosedByOneWhoGaveUpAreTakenAgain) {
  hold_and_leave(2, 1);
  fake_.annotate("db0", "tenure.dev/epoch", "3");
  auto a = join("a", 2);
  const int before = fake_.count("write");
  EXPECT_EQ(hold(*a).slot, 0U);
  EXPECT_LE(fake_.count("write") - before, 3) << "the list, the slot, its version";
  EXPECT_EQ(note("db0", "tenure.dev/slots"), "3 0 1");
}

TEST_F(KubernetesSlots, AreTakenAgainAfterTheFirstLeaseWasDeleted) {
  hold_and_leave(3);
  hold_and_leave(1);
  ASSERT_NE(note("db0.slot-2", "tenure.dev/epoch"), "");
  fake_.remove("db0");
  for (std::uint32_t slot = 0; slot < 3; ++slot) {
    EXPECT_EQ(hold(*join("b" + std::to_string(slot), 3)).slot, slot);
  }
  EXPECT_EQ(words(join("c", 3)->acquire()), "refused");
}

TEST_F(KubernetesSlots, WhoseEpochCannotBeReadAreNotTakenAndThatIsSaid) {
  hold_and_leave(2, 1);
  fake_.annotate("db0", "tenure.dev/epoch", "soon");
  auto a = join("a", 2);
  EXPECT_EQ(words(a->acquire()),
            "unknown: the Lease db0 has an annotation tenure.dev/epoch that is not a number; take "
            "it off");
}

}  // namespace
}  // namespace tenure::tests
