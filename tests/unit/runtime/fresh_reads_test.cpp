#include "runtime/fresh_reads.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <thread>
#include <vector>

#include "base/boot_time.hpp"
#include "http/asio_loop.hpp"
#include "unit/runtime/unasked_store.hpp"

namespace tenure::runtime {
namespace {

constexpr core::election_index db{0};
constexpr core::election_index other{1};

/// A store whose reads are answered by the test. The rest of it is not called.
class store_of_reads final : public unasked_store {
 public:
  struct call {
    core::election_index which;
    core::time_point deadline;
    stores::handler<stores::read_outcome> done;
  };

  void read(core::election_index which, core::time_point deadline,
            stores::handler<stores::read_outcome> done) override {
    calls.push_back({.which = which, .deadline = deadline, .done = std::move(done)});
  }

  std::vector<call> calls;
};

struct scene {
  void ask(core::election_index which) {
    reads.ask(which, [this](const api::fresh_result& what) { answers.push_back(what); });
  }
  /// Lets the election thread do what is to be done.
  void turn() {
    io.restart();
    io.poll();
  }
  /// Answers the store's call number `n` with the version `version`.
  void store_says(std::size_t n, std::uint64_t version) {
    answer(n, core::observation{.as_of = core::version{version}, .holders = {}});
  }
  void answer(std::size_t n, stores::read_outcome what) {
    // Moved out: the next call is made from within.
    auto done = std::move(store.calls.at(n).done);
    done(std::move(what));
    turn();
  }
  [[nodiscard]] std::uint64_t as_of(std::size_t n) const {
    return answers.at(n) ? core::number(answers.at(n)->seen.as_of) : 0;
  }
  [[nodiscard]] std::string code(std::size_t n) const {
    return answers.at(n) ? "" : answers.at(n).error().code;
  }

  boost::asio::io_context io;
  store_of_reads store;
  http::asio_loop loop{io.get_executor()};
  fresh_reads reads{loop};
  std::vector<api::fresh_result> answers;
};

TEST(FreshReads, QuestionsThatWaitTogetherShareOneRead) {
  scene s;
  s.reads.begin(s.store);
  for (int i = 0; i < 3; ++i) s.ask(db);
  s.turn();
  ASSERT_EQ(s.store.calls.size(), 1U);
  s.store_says(0, 5);
  ASSERT_EQ(s.answers.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(s.as_of(i), 5U);
  EXPECT_EQ(s.store.calls.size(), 1U);
}

TEST(FreshReads, QuestionThatComesDuringAReadHasToWaitForTheNext) {
  scene s;
  s.reads.begin(s.store);
  s.ask(db);
  s.turn();
  s.ask(db);
  s.ask(db);
  s.turn();
  ASSERT_EQ(s.store.calls.size(), 1U) << "that read may be older than the question";
  s.store_says(0, 5);
  ASSERT_EQ(s.answers.size(), 1U);
  ASSERT_EQ(s.store.calls.size(), 2U);
  s.store_says(1, 6);
  ASSERT_EQ(s.answers.size(), 3U);
  EXPECT_EQ(s.as_of(0), 5U);
  EXPECT_EQ(s.as_of(1), 6U);
  EXPECT_EQ(s.as_of(2), 6U);
}

TEST(FreshReads, OneReadAtATimeWhateverTheNumberOfElections) {
  scene s;
  s.reads.begin(s.store);
  s.ask(db);
  s.ask(other);
  s.ask(db);
  s.turn();
  ASSERT_EQ(s.store.calls.size(), 1U);
  EXPECT_EQ(s.store.calls[0].which, db);
  s.store_says(0, 5);
  EXPECT_EQ(s.answers.size(), 2U);
  ASSERT_EQ(s.store.calls.size(), 2U);
  EXPECT_EQ(s.store.calls[1].which, other);
  s.store_says(1, 6);
  EXPECT_EQ(s.answers.size(), 3U);
}

TEST(FreshReads, OneQuestionTooManyIsRefusedUntilAnotherIsAnswered) {
  scene s;
  s.reads.begin(s.store);
  for (std::size_t i = 0; i < fresh_reads::most_questions; ++i) s.ask(db);
  s.turn();
  EXPECT_TRUE(s.answers.empty());
  s.ask(db);
  ASSERT_EQ(s.answers.size(), 1U);
  EXPECT_EQ(s.code(0), "too_many_reads");
  s.store_says(0, 5);
  EXPECT_EQ(s.answers.size(), 1 + fresh_reads::most_questions);
  s.ask(db);
  s.turn();
  EXPECT_EQ(s.store.calls.size(), 2U);
}

TEST(FreshReads, StoreThatDoesNotKnowIsPassedOnAndTheNextReadIsMade) {
  scene s;
  s.reads.begin(s.store);
  s.ask(db);
  s.turn();
  s.ask(db);
  s.answer(0, stores::unknown{.why = "no route"});
  ASSERT_EQ(s.answers.size(), 1U);
  EXPECT_EQ(s.code(0), "store_unknown");
  EXPECT_NE(s.answers[0].error().message.find("no route"), std::string::npos);
  EXPECT_EQ(s.store.calls.size(), 2U);
}

TEST(FreshReads, BeforeTheStoreIsOpenThereIsNothingToRead) {
  scene s;
  s.ask(db);
  s.turn();
  ASSERT_EQ(s.answers.size(), 1U);
  EXPECT_EQ(s.code(0), "store_not_opened");
}

TEST(FreshReads, EndAnswersEverybodyAndWhoeverComesAfterwards) {
  scene s;
  s.reads.begin(s.store);
  s.ask(db);
  s.turn();
  s.ask(db);
  s.ask(other);
  s.reads.close();
  s.ask(db);
  s.turn();
  ASSERT_EQ(s.answers.size(), 4U);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(s.code(i), "stopping");
  EXPECT_EQ(s.store.calls.size(), 1U);
}

TEST(FreshReads, ReadBeginsAfterItsQuestionsAndHasADeadline) {
  scene s;
  s.reads.begin(s.store);
  const core::time_point before = base::boot_now();
  s.ask(db);
  s.turn();
  s.store_says(0, 5);
  ASSERT_EQ(s.answers.size(), 1U);
  ASSERT_TRUE(s.answers[0]);
  EXPECT_GE(s.answers[0]->asked_at, before);
  EXPECT_EQ(s.store.calls[0].deadline, s.answers[0]->asked_at + fresh_reads::read_limit);
}

TEST(FreshReads, MayBeAskedFromOtherThreads) {
  scene s;
  s.reads.begin(s.store);
  std::atomic<std::size_t> answered = 0;
  std::vector<std::jthread> threads;
  constexpr std::size_t questions_each = 200;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (std::size_t i = 0; i < questions_each; ++i) {
        s.reads.ask(db, [&](const api::fresh_result&) { ++answered; });
      }
    });
  }
  threads.clear();
  s.turn();
  for (std::size_t n = 0; n < s.store.calls.size(); ++n) s.store_says(n, 1);
  EXPECT_EQ(answered, 4 * questions_each);
}

}  // namespace
}  // namespace tenure::runtime
