#include <gmock/gmock.h>

#include <atomic>
#include <future>

#include "scene.hpp"

namespace tenure::tests {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

/// What a stream has brought so far.
struct brought {
  std::optional<http::reply_head> head;
  std::string data;
  int pieces = 0;
  std::size_t largest = 0;
  std::optional<std::optional<http::client_error>> ended;

  http::stream_handlers handlers() {
    return {.head =
                [this](const http::reply_head& h) {
                  EXPECT_FALSE(head) << "the head comes once";
                  head = h;
                },
            .data =
                [this](std::string_view piece) {
                  EXPECT_TRUE(head) << "the head comes first";
                  EXPECT_FALSE(ended) << "the end comes last";
                  data += piece;
                  ++pieces;
                  largest = std::max(largest, piece.size());
                },
            .ended =
                [this](std::optional<http::client_error> how) {
                  EXPECT_FALSE(ended) << "the end comes once";
                  ended = std::move(how);
                }};
  }

  /// "good", or what went wrong.
  std::string end() const {
    if (!ended) return "not ended";
    return *ended ? words(std::unexpected(**ended)) : "good";
  }
};

constexpr const char* chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";

/// A request that begins with "first" and stays open.
std::unique_ptr<http::http_stream> open_stream(scene& by, brought& into) {
  http::client_request what = post("first", "/v3/watch");
  what.open = true;
  return by.client->stream(std::move(what), soon(), into.handlers());
}

TEST(Stream, PiecesComeWhenTheyAreSent) {
  std::promise<void> seen_first;
  scripted_server server([&](peer& with, int) {
    with.request();
    with.send(chunked);
    with.send("6\r\nfirst \r\n");
    seen_first.get_future().wait_for(patience);
    with.send("6\r\nsecond\r\n0\r\n\r\n");
    with.closed();
  });
  scene s(server.where());
  brought b;
  const auto stream = s.client->stream(post("{}", "/v3/watch"), soon(), b.handlers());
  ASSERT_TRUE(s.run_until([&] { return b.data == "first "; }));
  EXPECT_EQ(b.head->status, 200u);
  EXPECT_EQ(b.end(), "not ended");
  seen_first.set_value();
  ASSERT_TRUE(s.run_until([&] { return b.ended.has_value(); }));
  EXPECT_EQ(b.data, "first second");
  EXPECT_EQ(b.end(), "good");
}

TEST(Stream, AnOpenRequestIsAddedToAndAnsweredPieceByPiece) {
  scripted_server server([&](peer& with, int) {
    EXPECT_THAT(with.request(), testing::EndsWith("\r\n\r\nfirst"));
    with.send(chunked);
    with.send("1\r\n1\r\n");
    EXPECT_EQ(with.piece(), "second");
    with.send("1\r\n2\r\n");
    EXPECT_EQ(with.piece(), "third");
    with.send("1\r\n3\r\n0\r\n\r\n");
    with.closed();
  });
  scene s(server.where());
  brought b;
  const auto stream = open_stream(s, b);
  ASSERT_TRUE(s.run_until([&] { return b.data == "1"; }));
  stream->send("second");
  ASSERT_TRUE(s.run_until([&] { return b.data == "12"; }));
  stream->send("");  // no piece: it would be the end of the body
  stream->send("third");
  ASSERT_TRUE(s.run_until([&] { return b.ended.has_value(); }));
  EXPECT_EQ(b.data, "123");
  EXPECT_EQ(b.end(), "good");
  stream->send("too late, which is no harm");
}

TEST(Stream, WhatIsAddedBeforeItIsConnectedComesBehindTheRest) {
  scripted_server server([&](peer& with, int) {
    EXPECT_THAT(with.request(), testing::EndsWith("first"));
    EXPECT_EQ(with.piece(), "second");
    with.send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ndone");
    with.closed();
  });
  scene s(server.where());
  brought b;
  const auto stream = open_stream(s, b);
  stream->send("second");
  ASSERT_TRUE(s.run_until([&] { return b.data == "done"; }));
}

TEST(Stream, AServerThatDoesNotReadWhatIsAddedEndsIt) {
  scripted_server server([&](peer& with, int) {
    with.request();
    with.send(chunked);
    with.closed();
  });
  scene s(server.where());
  brought b;
  const auto stream = open_stream(s, b);
  ASSERT_TRUE(s.run_until([&] { return b.head.has_value(); }));
  const std::string much(32 * 1024, 'x');
  ASSERT_TRUE(s.run_until([&] {
    stream->send(much);
    return b.ended.has_value();
  }));
  EXPECT_THAT(b.end(), HasSubstr("does not read"));
}

TEST(Stream, HasNoLimitAsAWholeAndBringsBoundedPieces) {
  constexpr std::size_t total = 16 * 1024 * 1024;
  scripted_server server([](peer& with, int) {
    with.request();
    with.send(chunked);
    const std::string chunk = "10000\r\n" + std::string(0x10000, 'a') + "\r\n";
    for (std::size_t sent = 0; sent < total; sent += 0x10000) with.send(chunk);
    with.send("0\r\n\r\n");
    with.closed();
  });
  scene s(server.where(), {.body_bytes = 1000});
  brought b;
  const auto stream = s.client->stream(get(), soon(), b.handlers());
  ASSERT_TRUE(s.run_until([&] { return b.ended.has_value(); }));
  EXPECT_EQ(b.end(), "good");
  EXPECT_EQ(b.data.size(), total);
  EXPECT_LE(b.largest, 64u * 1024);
}

TEST(Stream, IsApartFromTheConnectionsOfRequests) {
  scripted_server server([](peer& with, int) {
    const std::string asked = with.request();
    if (asked.starts_with("GET /watch")) {
      with.send(chunked);
    } else {
      with.reply("ok");
    }
    with.closed();
  });
  scene s(server.where(), {.connections = 1});
  brought one;
  brought two;
  const auto first = s.client->stream(get("/watch"), soon(), one.handlers());
  const auto second = s.client->stream(get("/watch"), soon(), two.handlers());
  ASSERT_TRUE(s.run_until([&] { return one.head && two.head; }));
  EXPECT_EQ(words(s.ask(get())), "200 ok");
}

TEST(Stream, DeadlineIsOfTheHeadOnly) {
  std::promise<void> passed;
  scripted_server server([&](peer& with, int) {
    if (with.request().starts_with("GET /silent")) {
      with.closed();
      return;
    }
    with.send(chunked);
    passed.get_future().wait_for(patience);
    with.send("1\r\na\r\n0\r\n\r\n");
    with.closed();
  });
  scene s(server.where());
  const core::time_point deadline = base::boot_now() + 300ms;
  brought good;
  const auto stream = s.client->stream(get("/good"), deadline, good.handlers());
  brought late;
  const auto silent = s.client->stream(get("/silent"), deadline, late.handlers());
  ASSERT_TRUE(s.run_until([&] { return late.ended.has_value(); }));
  EXPECT_THAT(late.end(), StartsWith("in doubt: GET /silent"));
  EXPECT_THAT(late.end(), HasSubstr("no answer in time while waiting for the reply"));
  ASSERT_TRUE(s.run_until([&] { return base::boot_now() > deadline; }));
  passed.set_value();
  ASSERT_TRUE(s.run_until([&] { return good.ended.has_value(); }));
  EXPECT_EQ(good.end(), "good");
  EXPECT_EQ(good.data, "a");
}

TEST(Stream, AnyStatusIsTheCallersToJudgeButARedirectIsAnError) {
  scripted_server server([](peer& with, int number) {
    with.request();
    with.send(number == 1 ? "HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno"
                          : "HTTP/1.1 302 Found\r\nLocation: /login\r\nContent-Length: 0\r\n\r\n");
    with.closed();
  });
  scene s(server.where());
  brought refused;
  const auto first = s.client->stream(get(), soon(), refused.handlers());
  ASSERT_TRUE(s.run_until([&] { return refused.ended.has_value(); }));
  EXPECT_EQ(refused.head->status, 403u);
  EXPECT_EQ(refused.data, "no");
  EXPECT_EQ(refused.end(), "good");
  brought moved;
  const auto second = s.client->stream(get(), soon(), moved.handlers());
  ASSERT_TRUE(s.run_until([&] { return moved.ended.has_value(); }));
  EXPECT_FALSE(moved.head);
  EXPECT_THAT(moved.end(), HasSubstr("redirects (status 302) to /login"));
}

TEST(Stream, EndInTheMiddleIsAnErrorAfterTheDataThatCame) {
  scripted_server server([](peer& with, int) {
    with.request();
    with.send(chunked);
    with.send("2\r\nab\r\n5\r\nc");
  });
  scene s(server.where());
  brought b;
  const auto stream = s.client->stream(get(), soon(), b.handlers());
  ASSERT_TRUE(s.run_until([&] { return b.ended.has_value(); }));
  EXPECT_EQ(b.data, "abc");
  EXPECT_THAT(b.end(), HasSubstr("in the middle of its reply"));
}

TEST(Stream, ThatCannotBeSentOrConnectedEndsWithAnErrorNotSent) {
  settings::endpoint where;
  {
    scripted_server gone([](peer&, int) {});
    where = gone.where();
  }
  scene s(where);
  for (const char* target : {"/", "no slash"}) {
    brought b;
    const auto stream = s.client->stream(get(target), soon(), b.handlers());
    EXPECT_EQ(b.end(), "not ended") << "a handler is not called from within the call";
    ASSERT_TRUE(s.run_until([&] { return b.ended.has_value(); }));
    EXPECT_THAT(b.end(), StartsWith("not sent: "));
  }
}

TEST(Stream, DestroyingItClosesItsConnection) {
  std::atomic<bool> closed = false;
  scripted_server server([&](peer& with, int) {
    with.request();
    with.send(chunked);
    closed = with.closed();
  });
  scene s(server.where());
  brought b;
  auto stream = s.client->stream(get(), soon(), b.handlers());
  ASSERT_TRUE(s.run_until([&] { return b.head.has_value(); }));
  stream.reset();
  EXPECT_TRUE(s.run_until([&] { return closed.load(); }));
  EXPECT_EQ(b.end(), "not ended");
}

}  // namespace
}  // namespace tenure::tests
