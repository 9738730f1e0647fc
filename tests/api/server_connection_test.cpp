// The server's connection without a socket: what comes in, what it then wants, and what it sends.
#include "http/server/server_connection.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "raw_client.hpp"

namespace tenure::tests {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;
using worth = http::server_connection::worth;

const std::string post = "POST /x HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello";

constexpr http::http_limits limits{.header_bytes = 256,
                                   .body_bytes = 64,
                                   .connections = 2,
                                   .readers = 1,
                                   .requests_per_connection = 100,
                                   .idle = 30s,
                                   .read = 5s,
                                   .answer = 4s,
                                   .write = 3s};

http::response text(std::string body) {
  return {.content_type = "text/plain", .body = std::move(body)};
}

/// A connection, its driver and its handler: all in one thread, with a clock that is moved by hand.
struct talk {
  explicit talk(http::connection_group& among)
      : group(among), connection(among, std::nullopt, now) {}

  /// Bytes come, and what follows from that is done.
  void hear(std::string_view bytes) {
    connection.received(bytes, now);
    turn();
  }

  /// Hands out requests and sends until nothing is left to do.
  void turn() {
    while (true) {
      if (const http::request* const what = connection.take_request(now)) {
        asked.push_back(what->method + " " + what->target.path + what->body);
        if (!answers) return;
        connection.answer(answers(*what), now);
      } else if (connection.unsent_bytes() > 0 && room > 0) {
        send();
      } else {
        return;
      }
    }
  }

  void send() {
    std::string all;
    for (const std::string_view part : connection.unsent()) all += part;
    all.resize(std::min(all.size(), room));
    room -= all.size();
    sent += all;
    connection.sent(all.size(), now);
  }

  /// Lets time pass, and tells the connection when it has asked for that.
  void wait(core::duration how_long) {
    now += how_long;
    if (connection.wanted().until <= now) connection.overdue(now);
    turn();
  }

  http::connection_group& group;
  core::time_point now{};
  std::vector<std::string> asked;
  std::string sent;
  std::size_t room = 1'000'000;  ///< what the client still takes
  /// Answers at once; empty: later.
  std::function<http::answer(const http::request&)> answers = [](const http::request& what) {
    return text("to " + what.target.path);
  };
  http::server_connection connection;
};

struct ServerConnection : testing::Test {
  http::traffic counted;
  http::connection_group group{limits, counted};
  talk t{group};
};

int count_of(std::string_view words, const std::string& in) {
  int out = 0;
  for (auto at = in.find(words); at != in.npos; at = in.find(words, at + 1)) ++out;
  return out;
}

TEST_F(ServerConnection, RequestIsHandedOutAndItsAnswerSent) {
  EXPECT_TRUE(t.connection.wanted().read);
  t.hear(get("/a"));
  EXPECT_THAT(t.asked, ElementsAre("GET /a"));
  EXPECT_THAT(t.sent, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(t.sent, EndsWith("\r\n\r\nto /a"));
  EXPECT_TRUE(t.connection.wanted().read) << "it waits for the next";
  EXPECT_FALSE(t.connection.wanted().close);
}

TEST_F(ServerConnection, AnswersAreTheSameHoweverTheBytesAreCut) {
  const std::string bytes = post + get("/b") + post + "rubbish\r\n\r\n";
  t.hear(bytes);
  ASSERT_EQ(count_of("HTTP/1.1 200", t.sent), 3);
  ASSERT_EQ(count_of("HTTP/1.1 400", t.sent), 1);
  for (std::size_t cut = 1; cut < bytes.size(); ++cut) {
    talk other(group);
    other.hear(bytes.substr(0, cut));
    other.hear(bytes.substr(cut));
    EXPECT_EQ(other.sent, t.sent) << cut;
  }
}

TEST_F(ServerConnection, NextRequestIsHandedOutOnceTheOneBeforeIsAnswered) {
  t.answers = nullptr;
  t.hear(get("/1") + get("/2"));
  EXPECT_TRUE(t.connection.is_answering());
  EXPECT_FALSE(t.connection.wanted().read) << "what comes meanwhile stays in the kernel";
  EXPECT_FALSE(t.connection.take_request(t.now));
  t.connection.answer(text("one"), t.now);
  t.turn();
  EXPECT_THAT(t.asked, ElementsAre("GET /1", "GET /2"));
}

TEST_F(ServerConnection, AnswersToPipelinedRequestsAreSentTogether) {
  t.room = 0;
  t.hear(get("/1") + get("/2") + get("/3"));
  EXPECT_THAT(t.asked, testing::SizeIs(3));
  t.room = 1'000'000;
  t.send();
  EXPECT_EQ(count_of("HTTP/1.1 200", t.sent), 3) << "with one write";
}

TEST_F(ServerConnection, PipeliningGivesWayAfterAFewAnswers) {
  std::string many;
  for (int i = 0; i < 40; ++i) many += get("/");
  t.hear(many);
  EXPECT_THAT(t.asked, testing::SizeIs(16));
  EXPECT_TRUE(t.connection.wanted().turn);
  EXPECT_FALSE(t.connection.wanted().read);
  EXPECT_EQ(t.connection.worth_now(), worth::at_work);
  t.connection.go_on(t.now);
  t.turn();
  EXPECT_THAT(t.asked, testing::SizeIs(32));
  t.connection.go_on(t.now);
  t.turn();
  EXPECT_THAT(t.asked, testing::SizeIs(40));
  EXPECT_FALSE(t.connection.wanted().turn);
}

TEST_F(ServerConnection, ClientThatDoesNotReadIsAskedNothingMoreAndDroppedInTheEnd) {
  t.room = 10;
  t.hear(get("/1"));
  t.connection.stalled(t.now);
  EXPECT_FALSE(t.connection.wanted().read);
  EXPECT_EQ(t.connection.worth_now(), worth::unread);
  EXPECT_EQ(t.connection.wanted().until, t.now + limits.write);
  t.now += 1s;
  t.room = 10;
  t.send();
  t.connection.stalled(t.now);
  EXPECT_EQ(t.connection.wanted().until, t.now + 2s) << "a little at a time gains no time";
  t.wait(2s);
  EXPECT_TRUE(t.connection.wanted().close);
}

/// The deadline of its handler counts no more.
TEST_F(ServerConnection, AnAnswerHasAllItsTimeToBeRead) {
  http::http_limits patience = limits;
  patience.write = 1h;
  http::connection_group patient(patience, counted);
  talk slow(patient);
  slow.room = 10;
  slow.hear(get("/1"));
  slow.connection.stalled(slow.now);
  slow.wait(limits.answer + limits.read);
  EXPECT_FALSE(slow.connection.wanted().close);
  slow.room = 1'000;
  slow.turn();
  EXPECT_THAT(slow.sent, EndsWith("to /1"));
}

TEST_F(ServerConnection, EachStageHasItsDeadline) {
  EXPECT_EQ(t.connection.wanted().until, t.now + limits.idle);
  t.now += 1s;
  t.hear("GET ");
  EXPECT_EQ(t.connection.wanted().until, t.now + limits.read);
  const auto first_byte = t.now;
  t.now += 1s;
  t.hear("/");
  EXPECT_EQ(t.connection.wanted().until, first_byte + limits.read) << "its bytes do not move it";
  t.wait(limits.read);
  EXPECT_TRUE(t.connection.wanted().close);
  EXPECT_THAT(t.sent, IsEmpty()) << "dropped, not answered";

  talk idle(group);
  idle.wait(limits.idle);
  EXPECT_TRUE(idle.connection.wanted().close);

  talk late(group);
  late.answers = nullptr;
  late.hear(get("/"));
  EXPECT_EQ(late.connection.wanted().until, late.now + limits.answer);
  late.wait(limits.answer);
  EXPECT_THAT(late.sent, HasSubstr("HTTP/1.1 503"));
  EXPECT_THAT(late.sent, HasSubstr("no_answer"));
  EXPECT_FALSE(late.connection.is_answering());
  EXPECT_FALSE(late.connection.wanted().close) << "the next request may do better";
}

TEST_F(ServerConnection, DeadlineThatWasMovedMeanwhileDoesNothing) {
  const auto first = t.connection.wanted().until;
  t.now += 29s;
  t.hear(get("/"));
  t.now = first;
  t.connection.overdue(t.now);
  EXPECT_FALSE(t.connection.wanted().close);
}

TEST_F(ServerConnection, LastAnswerIsFollowedByAPauseInWhichBytesAreDropped) {
  t.hear("rubbish\r\n\r\n" + std::string(1000, 'x'));
  EXPECT_THAT(t.sent, HasSubstr("HTTP/1.1 400"));
  EXPECT_THAT(t.sent, HasSubstr("Connection: close\r\n"));
  EXPECT_TRUE(t.connection.wanted().end_send);
  EXPECT_TRUE(t.connection.wanted().read);
  EXPECT_FALSE(t.connection.wanted().close);
  t.hear(get("/ignored"));
  EXPECT_THAT(t.asked, IsEmpty());
  t.hear(std::string(64 * 1024, 'x'));
  EXPECT_TRUE(t.connection.wanted().close);
}

TEST_F(ServerConnection, WhatIsCarriedOutAndChangesSomethingIsNeeded) {
  t.answers = nullptr;
  EXPECT_EQ(t.connection.worth_now(), worth::idle);
  t.hear(get("/"));
  EXPECT_EQ(t.connection.worth_now(), worth::at_work);
  t.connection.answer(text(""), t.now);
  t.turn();
  t.hear(post);
  EXPECT_EQ(t.connection.worth_now(), worth::needed);
}

TEST_F(ServerConnection, RankGrowsWhenItWaitsForARequest) {
  talk other(group);
  EXPECT_LT(t.connection.rank(), other.connection.rank());
  t.hear(get("/"));
  EXPECT_GT(t.connection.rank(), other.connection.rank());
}

TEST_F(ServerConnection, IsCountedUntilItIsClosed) {
  EXPECT_EQ(group.connections, 1u);
  EXPECT_EQ(counted.connections(), 1u);
  t.connection.hung_up();
  t.connection.close();
  EXPECT_EQ(group.connections, 0u);
  EXPECT_EQ(counted.connections(), 0u);
  EXPECT_EQ(counted.connections_opened(), 1u);
}

// --- answers that are held back ----------------------------------------------------------------

struct HeldConnection : ServerConnection {
  HeldConnection() {
    t.answers = [this](const http::request& what) -> http::answer {
      if (what.target.path != "/wait") return text("to " + what.target.path);
      return http::held_answer{
          .ready = [this](http::occasion why) -> std::optional<http::response> {
            if (!news && why != http::occasion::last) return std::nullopt;
            return text(news ? "news" : "nothing new");
          },
          .limit = 10s};
    };
  }
  bool news = false;
};

TEST_F(HeldConnection, WaitsForNewsAmongTheReaders) {
  t.hear(get("/wait"));
  EXPECT_THAT(t.sent, IsEmpty());
  EXPECT_EQ(group.connections, 0u);
  EXPECT_EQ(group.readers, 1u);
  EXPECT_TRUE(t.connection.wanted().read) << "to notice that the client hangs up";
  t.connection.go_on(t.now);
  EXPECT_TRUE(t.connection.is_reader()) << "the news were of something else";
  news = true;
  t.connection.go_on(t.now);
  t.turn();
  EXPECT_THAT(t.sent, EndsWith("news"));
  EXPECT_EQ(group.connections, 1u);
  EXPECT_EQ(group.readers, 0u);
  t.hear(get("/next"));
  EXPECT_THAT(t.sent, EndsWith("to /next"));
}

TEST_F(HeldConnection, AnswersWhenItsTimeIsOver) {
  t.hear(get("/wait"));
  EXPECT_EQ(t.connection.wanted().until, t.now + 10s);
  t.wait(10s);
  EXPECT_THAT(t.sent, EndsWith("nothing new"));
}

TEST_F(HeldConnection, AnAnswerAtTheEndOfItsTimeHasAllItsTimeToBeRead) {
  t.hear(get("/wait"));
  t.room = 10;
  t.wait(10s);
  t.connection.stalled(t.now);
  t.wait(1s);
  EXPECT_FALSE(t.connection.wanted().close);
  t.room = 1'000;
  t.turn();
  EXPECT_THAT(t.sent, EndsWith("nothing new"));
}

TEST_F(HeldConnection, KeepsWhatIsSentAheadUpToALimit) {
  t.hear(get("/wait"));
  t.hear(get("/2"));
  EXPECT_TRUE(t.connection.wanted().read);
  t.hear(get("/3") + std::string(16 * 1024, 'x'));
  EXPECT_FALSE(t.connection.wanted().read);
  news = true;
  t.connection.go_on(t.now);
  t.turn();
  EXPECT_THAT(t.asked, ElementsAre("GET /wait", "GET /2", "GET /3"));
  EXPECT_THAT(t.sent, HasSubstr("HTTP/1.1 431"));
}

TEST_F(HeldConnection, OneReaderTooManyIsToldSo) {
  t.hear(get("/wait"));
  talk other(group);
  other.answers = t.answers;
  other.hear(get("/wait"));
  EXPECT_THAT(other.sent, HasSubstr("HTTP/1.1 503"));
  EXPECT_THAT(other.sent, HasSubstr("too_many_readers"));
}

TEST_F(HeldConnection, EndsWithItsAnswerIfItsPlaceWasTakenMeanwhile) {
  t.hear(get("/wait"));
  const talk second(group);
  const talk third(group);
  news = true;
  t.connection.go_on(t.now);
  t.turn();
  EXPECT_THAT(t.sent, HasSubstr("Connection: close\r\n"));
}

TEST_F(HeldConnection, HangingUpEndsIt) {
  t.hear(get("/wait"));
  t.connection.hung_up();
  EXPECT_TRUE(t.connection.wanted().close);
  EXPECT_EQ(group.readers, 0u);
}

// --- streams -----------------------------------------------------------------------------------

struct StreamingConnection : ServerConnection {
  StreamingConnection() {
    t.answers = [this](const http::request&) -> http::answer {
      return http::streamed_answer{.head = {.content_type = "text/event-stream"},
                                   .next = [this] { return std::exchange(piece, nullptr); },
                                   .idle_text = "<idle>",
                                   .idle = 10s};
    };
  }
  void change(const std::string& to) {
    piece = std::make_shared<const std::string>(to);
    t.connection.go_on(t.now);
  }
  std::shared_ptr<const std::string> piece = std::make_shared<const std::string>("<0>");
};

TEST_F(StreamingConnection, HasAHeadAndThenPieces) {
  t.hear(get("/"));
  EXPECT_THAT(t.sent, HasSubstr("Transfer-Encoding: chunked\r\n"));
  EXPECT_THAT(t.sent, EndsWith("\r\n\r\n3\r\n<0>\r\n"));
  t.sent.clear();
  change("<one>");
  t.turn();
  EXPECT_EQ(t.sent, "5\r\n<one>\r\n");
}

TEST_F(StreamingConnection, PieceIsSharedAndNotCopied) {
  t.hear(get("/"));
  const auto large = std::make_shared<const std::string>(100'000, 'x');
  piece = large;
  t.connection.go_on(t.now);
  EXPECT_EQ(t.connection.unsent()[1].data(), large->data());
}

TEST_F(StreamingConnection, SlowReaderMissesWhatWasReplacedMeanwhile) {
  t.hear(get("/"));
  t.sent.clear();
  t.room = 4;
  change("<one>");
  t.turn();
  change("<two>");
  change("<three>");
  t.room = 100;
  t.turn();
  EXPECT_EQ(t.sent, "5\r\n<one>\r\n7\r\n<three>\r\n");
}

TEST_F(StreamingConnection, SaysThatItLivesAndDropsWhoTakesNothing) {
  t.hear(get("/"));
  t.sent.clear();
  t.wait(10s);
  EXPECT_EQ(t.sent, "6\r\n<idle>\r\n");
  t.room = 1;
  t.wait(10s);
  t.connection.stalled(t.now);
  t.now += 2s;
  t.room = 1;
  t.send();
  t.connection.stalled(t.now);
  EXPECT_EQ(t.connection.wanted().until, t.now + limits.write) << "it has taken something";
  t.wait(limits.write);
  EXPECT_TRUE(t.connection.wanted().close);
}

TEST_F(StreamingConnection, EndsInOrderEvenInTheMiddleOfAPiece) {
  t.hear(get("/"));
  t.sent.clear();
  t.room = 4;
  change("<one>");
  t.turn();
  group.stopping = true;
  t.connection.finish(t.now);
  t.room = 100;
  t.turn();
  EXPECT_EQ(t.sent, "5\r\n<one>\r\n0\r\n\r\n");
  EXPECT_TRUE(t.connection.wanted().close);
}

TEST_F(StreamingConnection, ForTheOldVersionHasNoChunks) {
  t.hear("GET / HTTP/1.0\r\n\r\n");
  EXPECT_THAT(t.sent, Not(HasSubstr("Transfer-Encoding")));
  EXPECT_THAT(t.sent, EndsWith("\r\n\r\n<0>"));
  group.stopping = true;
  t.connection.finish(t.now);
  EXPECT_THAT(t.sent, EndsWith("\r\n\r\n<0>"));
  EXPECT_TRUE(t.connection.wanted().close);
}

TEST_F(StreamingConnection, WithoutEndGivesWayAfterAFewPieces) {
  t.answers = [](const http::request&) -> http::answer {
    return http::streamed_answer{.head = {},
                                 .next = [] { return std::make_shared<const std::string>("more"); },
                                 .idle_text = "<idle>",
                                 .idle = 10s};
  };
  t.hear(get("/"));
  EXPECT_LE(count_of("more", t.sent), 16);
  EXPECT_TRUE(t.connection.wanted().turn);
}

TEST_F(StreamingConnection, WhatItsClientSendsIsDropped) {
  t.hear(get("/"));
  t.hear(get("/ignored"));
  EXPECT_TRUE(t.connection.wanted().read) << "to notice that the client hangs up";
  EXPECT_THAT(t.asked, ElementsAre("GET /"));
}

// --- the end -----------------------------------------------------------------------------------

TEST_F(ServerConnection, AtTheEndWhatHasBegunIsAnsweredAndTheRestClosed) {
  talk begun(group);
  begun.hear("GET / HT");
  talk answering(group);
  answering.answers = nullptr;
  answering.hear(get("/later"));
  talk lingering(group);
  lingering.hear("rubbish\r\n\r\n");

  group.stopping = true;
  for (talk* one : {&t, &begun, &answering, &lingering}) one->connection.finish(one->now);
  EXPECT_TRUE(t.connection.wanted().close) << "it was idle";
  EXPECT_TRUE(lingering.connection.wanted().close);
  EXPECT_FALSE(begun.connection.wanted().close);
  EXPECT_FALSE(answering.connection.wanted().close);

  begun.hear("TP/1.1\r\nHost: h\r\n\r\n");
  answering.connection.answer(text("late"), answering.now);
  answering.turn();
  for (talk* one : {&begun, &answering}) {
    EXPECT_THAT(one->sent, HasSubstr("Connection: close\r\n"));
    EXPECT_TRUE(one->connection.wanted().close);
  }
}

}  // namespace
}  // namespace tenure::tests
