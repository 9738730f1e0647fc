// The number of slots is changed while members come: a fake Kubernetes lets them come just then.

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

  /// Members hold all slots; then all leave but the last one.
  void leave_only_the_last(std::uint32_t slots) {
    std::vector<std::unique_ptr<member>> all;
    std::vector<stores::grant> terms;
    for (std::uint32_t i = 0; i < slots; ++i) {
      all.push_back(join("p" + std::to_string(i), slots));
      terms.push_back(hold(*all.back()));
    }
    for (std::uint32_t i = 0; i + 1 < slots; ++i) all[i]->release(0, terms[i].version);
  }

  /// What comes of `set --slots 1` if somebody takes `taken` while `closed` is being closed, and
  /// the watch shows it before that is done.
  stores::agree_outcome shrink_while(member& who, const std::string& closed,
                                     const std::string& taken) {
    auto seen = who.watch();
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
    std::optional<stores::agree_outcome> came;
    bool told = false;
    who->agree(core::election_index{0}, {.slots = 1}, soon(),
               [&](stores::agree_outcome what) { came = std::move(what); });
    const auto is_q = [](const core::holder& one) { return one.identity == "q"; };
    EXPECT_TRUE(loop_.run_until([&] {
      const bool q_holds =
          seen->shows([&](const auto& what) { return std::ranges::any_of(what.holders, is_q); });
      if (q_holds && !std::exchange(told, true)) shown.set_value();
      return came.has_value();
    }));
    EXPECT_TRUE(told) << "nobody came";
    fake_.repent();
    return came.value_or(stores::unknown{"no answer"});
  }

  [[nodiscard]] std::string note(const std::string& lease, const std::string& key) const {
    return fake_.lease(lease)["metadata"].value("annotations", json::object()).value(key, "");
  }
};

TEST_F(KubernetesSlots, AreNotClosedUnderTheOneWhoTakesTheFirst) {
  leave_only_the_last(3);
  auto a = join("a", 3);
  const auto outcome = shrink_while(*a, "db0.slot-1", "db0");
  EXPECT_TRUE(std::holds_alternative<stores::not_agreed>(outcome));
  EXPECT_EQ(note("db0", "tenure.dev/slots"), "0 0 1 2") << "two hold, so there are more than one";
  EXPECT_EQ(note("db0", "tenure.dev/epoch"), "") << "a slot that is held is not closed";
}

TEST_F(KubernetesSlots, AreNotClosedUnderTheOneWhoTakesAnother) {
  leave_only_the_last(4);
  auto a = join("a", 4);
  const auto outcome = shrink_while(*a, "db0.slot-2", "db0.slot-1");
  EXPECT_TRUE(std::holds_alternative<stores::not_agreed>(outcome));
  EXPECT_EQ(note("db0", "tenure.dev/slots"), "0 0 1 2 3");
  EXPECT_EQ(note("db0.slot-1", "tenure.dev/epoch"), "") << "a slot that is held is not closed";
}

// Slots that are closed, and not to stay so ------------------------------------------------------

TEST_F(KubernetesSlots, ThatWereClosedByOneWhoGaveUpAreTakenAgain) {
  leave_only_the_last(2);
  fake_.annotate("db0", "tenure.dev/epoch", "3");
  auto a = join("a", 2);
  const int before = fake_.count("write");
  EXPECT_EQ(hold(*a).slot, 0U);
  EXPECT_LE(fake_.count("write") - before, 3) << "the list, the slot, its version";
  EXPECT_EQ(note("db0", "tenure.dev/slots"), "3 0 1");
}

TEST_F(KubernetesSlots, AreTakenAgainAfterTheFirstLeaseWasDeleted) {
  auto a = join("a", 3);
  hold(*a);
  ASSERT_TRUE(std::holds_alternative<core::agreement>(a->agree({.slots = 1})));
  ASSERT_TRUE(std::holds_alternative<core::agreement>(a->agree({.slots = 3})));
  ASSERT_NE(note("db0.slot-2", "tenure.dev/epoch"), "");
  fake_.remove("db0");
  for (std::uint32_t slot = 0; slot < 3; ++slot) {
    EXPECT_EQ(hold(*join("b" + std::to_string(slot), 3)).slot, slot);
  }
  EXPECT_EQ(words(join("c", 3)->acquire()), "refused");
}

TEST_F(KubernetesSlots, WhoseEpochCannotBeReadAreNotTakenAndThatIsSaid) {
  leave_only_the_last(2);
  fake_.annotate("db0", "tenure.dev/epoch", "soon");
  auto a = join("a", 2);
  EXPECT_EQ(words(a->acquire()),
            "unknown: the Lease db0 has an annotation tenure.dev/epoch that is not a number; take "
            "it off");
}

}  // namespace
}  // namespace tenure::tests
