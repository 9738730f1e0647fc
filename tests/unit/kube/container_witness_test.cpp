// Who is told that a term has ended with its container, and when nobody is.
#include "kube/container_witness.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "support/hand_loop.hpp"

namespace tenure::kube {
namespace {

using nlohmann::json;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

/// Shows what the test says.
class scripted_api_server final : public api_server {
 public:
  struct stream final : api_stream {
    stream(scripted_api_server& of, std::string about) : server(of), path(std::move(about)) {}
    ~stream() override { std::erase(server.open_, this); }
    scripted_api_server& server;
    std::string path;
    stream_handlers on;
  };

  void call(api_request, core::time_point, handler) override {}
  std::unique_ptr<api_stream> follow(api_request what, core::time_point,
                                     stream_handlers on) override {
    asked.push_back(what.path + "?" + what.query);
    auto out = std::make_unique<stream>(*this, what.query);
    out->on = std::move(on);
    open_.push_back(out.get());
    return out;
  }
  void close() override {}

  /// By the stream about this pod.
  void shows(const json& what, const std::string& about = "db-0") {
    const auto found = std::ranges::find_if(open_, [&](const stream* one) {
      return one->path.contains("metadata.name%3D" + about + "&");
    });
    ASSERT_NE(found, open_.end());
    const auto shows = (*found)->on.shows;
    shows(what.dump());
  }
  /// The only stream.
  void ends(api_failure why) {
    ASSERT_THAT(open_, SizeIs(1));
    const auto ended = open_.front()->on.ended;
    ended(why);
  }
  [[nodiscard]] std::size_t open() const { return open_.size(); }

  std::vector<std::string> asked;

 private:
  std::vector<stream*> open_;
};

constexpr core::election_index first{0};

/// The status of a container that has ended.
json ended_with(const std::string& words, const std::string& reason = "OOMKilled", int code = 137) {
  return {{"terminated", {{"exitCode", code}, {"reason", reason}, {"message", words}}}};
}

json pod(const json& status, const std::string& name = "db-0") {
  return {{"type", "MODIFIED"},
          {"object",
           {{"kind", "Pod"},
            {"metadata", {{"name", name}}},
            {"status", {{"containerStatuses", json::array({status})}}}}}};
}

json main_is(const json& state, const json& last = json::object()) {
  return pod({{"name", "main"}, {"state", state}, {"lastState", last}});
}

class ContainerWitness : public testing::Test {
 protected:
  static core::holder db_0(std::uint64_t version) {
    return {.identity = "db-0", .version = core::version{version}, .sequencer = "orders@7"};
  }
  void look(std::vector<core::holder> holders, bool waits = true) {
    witness_.look(first, holders, waits);
  }
  [[nodiscard]] std::string said() const {
    std::string out;
    for (const std::string& one : lines_) out += one;
    return out;
  }

  const std::string words_ = "last term here: version 7 of orders, orders@7";
  tests::hand_loop loop_;
  scripted_api_server api_;
  const settings::agent settings_ = [] {
    settings::agent out;
    out.identity = "db-1";
    out.elections = {{.name = "orders"}};
    out.kubernetes = {
        .witness = settings::witness::kubelet, .pod_name = "db-1", .pod_namespace = "team"};
    return out;
  }();
  std::vector<std::string> lines_;
  log::logger log_{log::log_form::logfmt, log::log_level::debug,
                   [this](const std::string& one) { lines_.push_back(one); }};
  std::vector<std::uint64_t> ended_;
  container_witness witness_{{.loop = loop_,
                              .through = api_,
                              .settings = settings_,
                              .to = log_,
                              .ended = [this](core::election_index, const core::holder& whose) {
                                ended_.push_back(core::number(whose.version));
                              }}};
};

TEST_F(ContainerWitness, WatchesThePodOfWhoHoldsWhileItWaits) {
  look({db_0(7)});
  EXPECT_THAT(api_.asked, ElementsAre(AllOf(HasSubstr("/api/v1/namespaces/team/pods?watch=true&"),
                                            HasSubstr("fieldSelector=metadata.name%3Ddb-0&"))));
  look({db_0(7)});
  EXPECT_THAT(api_.asked, SizeIs(1));
  look({db_0(7)}, /*waits=*/false);
  EXPECT_EQ(api_.open(), 0U);
  look({});
  core::holder us = db_0(8);
  us.ours = true;
  look({us});
  EXPECT_EQ(api_.open(), 0U);
}

TEST_F(ContainerWitness, TellsOfATermThatEndedWithItsContainer) {
  look({db_0(7)});
  api_.shows(main_is({{"running", json::object()}}));
  EXPECT_THAT(ended_, IsEmpty());
  api_.shows(main_is(ended_with(words_)));
  EXPECT_THAT(ended_, ElementsAre(7));
  EXPECT_THAT(said(), AllOf(HasSubstr("container main of the holder has ended (OOMKilled"),
                            HasSubstr("holder=db-0"), HasSubstr("version=7")));
}

TEST_F(ContainerWitness, AContainerThatRunsAgainHasEndedBefore) {
  look({db_0(7)});
  api_.shows(main_is({{"running", json::object()}}));
  api_.shows(main_is({{"running", json::object()}}, ended_with(words_, "Error", 1)));
  EXPECT_THAT(ended_, ElementsAre(7));
}

TEST_F(ContainerWitness, TellsAgainWhileTheStoreShowsTheTermAndLogsItOnce) {
  look({db_0(7)});
  api_.shows(main_is({{"running", json::object()}}));
  api_.shows(main_is(ended_with(words_)));
  loop_.pass(seconds(3));
  EXPECT_THAT(ended_, ElementsAre(7, 7, 7, 7));
  EXPECT_THAT(lines_, SizeIs(1));
  look({});
  loop_.pass(minutes(1));
  EXPECT_THAT(ended_, SizeIs(4));
}

/// As a store shows it that was restored from a backup.
TEST_F(ContainerWitness, ATermThatIsSeenFirstAfterTheEndOfItsContainerRunsOut) {
  look({db_0(7)});
  api_.shows(main_is(ended_with(words_)));
  EXPECT_THAT(ended_, IsEmpty()) << "it had ended when its pod was seen first";
  look({db_0(6)});
  look({db_0(7)});
  loop_.pass(minutes(1));
  EXPECT_THAT(ended_, IsEmpty()) << "it is there again";
}

TEST_F(ContainerWitness, ATermThatIsThereAgainAfterALaterOneRunsOut) {
  look({db_0(8)});
  look({db_0(7)});
  api_.shows(main_is({{"running", json::object()}}));
  api_.shows(main_is(ended_with(words_)));
  EXPECT_THAT(ended_, IsEmpty());
}

TEST_F(ContainerWitness, ATermThatWasOutOfSightIsSeenAnew) {
  look({db_0(7)});
  api_.shows(main_is({{"running", json::object()}}));
  witness_.lost_sight(first);
  EXPECT_EQ(api_.open(), 0U);
  look({db_0(7)});
  api_.shows(main_is(ended_with(words_)));
  EXPECT_THAT(ended_, IsEmpty());
}

TEST_F(ContainerWitness, AnotherTermIsNotOver) {
  core::holder restored = db_0(7);
  restored.sequencer = "orders@8";
  look({db_0(8), restored});
  api_.shows(main_is({{"running", json::object()}}));
  api_.shows(main_is(ended_with(words_)));
  api_.shows(main_is(ended_with("last term here: version 7 of others, orders@7")));
  api_.shows(main_is(ended_with(words_ + "0")));
  api_.shows(main_is(ended_with("")));
  loop_.pass(minutes(1));
  EXPECT_THAT(ended_, IsEmpty());
}

/// Controllers, and the kubelet, write these without a look at the container.
TEST_F(ContainerWitness, WhatNobodyHasSeenIsNoEnd) {
  look({db_0(7)});
  api_.shows(main_is({{"running", json::object()}}));
  api_.shows(main_is(ended_with(words_, "ContainerStatusUnknown", 137)));
  api_.shows(main_is(ended_with(words_, "Unknown", 255)));
  api_.shows(main_is(ended_with(words_, "Error", 255)));
  api_.shows(main_is(ended_with(words_, "", 0)));
  api_.shows(main_is({{"waiting", {{"message", words_}}}}));
  json gone = main_is({{"running", json::object()}});
  gone["type"] = "DELETED";
  gone["object"]["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z";
  gone["object"]["status"]["phase"] = "Failed";
  gone["object"]["status"]["message"] = words_;
  api_.shows(gone);
  EXPECT_THAT(ended_, IsEmpty());
}

TEST_F(ContainerWitness, AnotherPodIsNotTheHolders) {
  look({db_0(7)});
  api_.shows(pod({{"name", "main"}, {"state", ended_with(words_)}}, "db-2"));
  EXPECT_THAT(ended_, IsEmpty());
}

/// Each slot has a holder.
TEST_F(ContainerWitness, WhatOnePodShowsFirstSaysNothingOfAnother) {
  core::holder other = db_0(8);
  other.identity = "db-2";
  look({db_0(7), other});
  api_.shows(main_is({{"running", json::object()}}));
  api_.shows(main_is(ended_with(words_)));
  EXPECT_THAT(ended_, ElementsAre(7));
  api_.shows(pod({{"name", "main"}, {"state", {{"running", json::object()}}}}, "db-2"), "db-2");
  loop_.pass(seconds(1));
  EXPECT_THAT(ended_, ElementsAre(7, 7));
}

TEST_F(ContainerWitness, WatchesAgainWhenAWatchEnds) {
  look({db_0(7)});
  api_.shows(main_is({{"running", json::object()}}));
  api_.ends({.why = "https://api has ended a watch"});
  EXPECT_EQ(api_.open(), 0U);
  loop_.pass(seconds(1));
  EXPECT_EQ(api_.open(), 1U);
  EXPECT_THAT(lines_, IsEmpty());
}

TEST_F(ContainerWitness, SaysOnceThatItMayNotLook) {
  look({db_0(7)});
  for (int i = 0; i < 4; ++i) {
    api_.ends({.what = api_refusal::forbidden, .why = "https://api does not let us watch"});
    loop_.pass(minutes(1));
  }
  EXPECT_EQ(api_.open(), 1U);
  EXPECT_THAT(lines_, SizeIs(1));
  EXPECT_THAT(said(), HasSubstr(R"({apiGroups: [\"\"], resources: [pods], verbs: [watch]})"));
}

TEST_F(ContainerWitness, AnAnswerThatCannotBeUsedEndsTheWatch) {
  look({db_0(7)});
  api_.shows({{"type", "ERROR"}, {"object", {{"message", "too old resource version"}}}});
  EXPECT_EQ(api_.open(), 0U);
  loop_.pass(seconds(1));
  EXPECT_EQ(api_.open(), 1U);
}

TEST(LastWords, AreNoneIfTheKubeletWouldCutThem) {
  EXPECT_EQ(last_words("orders", core::version{7}, std::string(5000, 'x')), "");
}

}  // namespace
}  // namespace tenure::kube
