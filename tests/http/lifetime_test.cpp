// After close or destruction no handler is called, even with operations under way.
#include <atomic>

#include "scene.hpp"

namespace tenure::tests {
namespace {

/// Takes a request and says nothing, or does not even take it.
void silence(peer& with, int) {
  with.closed();
}

TEST(Lifetime, NothingIsCalledAfterCloseWhateverWasUnderWay) {
  std::atomic<int> asked = 0;
  scripted_server server([&](peer& with, int) {
    with.request();
    ++asked;
    with.closed();
  });
  loop l;
  const auto client =
      http::make_http_client(l.io.get_executor(), server.where(), {}, {.connections = 2});
  int called = 0;
  const auto count = [&](const auto&) { ++called; };
  for (int i = 0; i < 5; ++i) client->send(get(), soon(), count);
  auto stream = client->stream(get(), soon(), {.head = count, .data = count, .ended = count});
  ASSERT_TRUE(l.run_until([&] { return asked == 3; }));
  client->close();
  l.io.restart();
  l.io.run();  // until nothing is left
  EXPECT_EQ(called, 0);
}

TEST(Lifetime, NothingIsLeftToWaitForAfterCloseAtAnyStep) {
  scripted_server server(silence);
  settings::endpoint named = server.where();
  named.host = "localhost";
  settings::endpoint secure = server.where();
  secure.tls = true;
  for (const settings::endpoint& where : {server.where(), named, secure}) {
    for (int steps = 0; steps < 12; ++steps) {
      loop l;
      auto client = http::make_http_client(l.io.get_executor(), where);
      int called = 0;
      client->send(get(), soon(), [&](const outcome&) { ++called; });
      auto stream = client->stream(get(), soon(), {.ended = [&](auto) { ++called; }});
      for (int i = 0; i < steps; ++i) l.io.run_one_for(5ms);
      client.reset();
      l.io.restart();
      l.io.run();
      EXPECT_EQ(called, 0) << settings::text(where) << " after " << steps;
    }
  }
}

TEST(Lifetime, LoopMayEndWithEverythingUnderWay) {
  scripted_server server(silence);
  settings::endpoint named = server.where();
  named.host = "localhost";
  for (const settings::endpoint& where : {server.where(), named}) {
    for (int steps = 0; steps < 8; ++steps) {
      auto io = std::make_unique<boost::asio::io_context>(1);
      auto client = http::make_http_client(io->get_executor(), where);
      client->send(get(), soon(), [](const outcome&) { ADD_FAILURE(); });
      auto stream = client->stream(get(), soon(), {.ended = [](auto) { ADD_FAILURE(); }});
      for (int i = 0; i < steps; ++i) io->run_one_for(5ms);
      stream.reset();
      client.reset();
      io.reset();
    }
  }
}

TEST(Lifetime, ClientMayBeDestroyedByItsOwnHandler) {
  scripted_server server([](peer& with, int) {
    while (!with.request().empty()) with.reply("ok");
  });
  scene s(server.where(), {.connections = 1});
  bool done = false;
  s.client->send(get(), soon(), [&](const outcome& o) {
    EXPECT_EQ(words(o), "200 ok");
    s.client.reset();
    done = true;
  });
  s.client->send(get(), soon(), [](const outcome&) { ADD_FAILURE() << "called after the end"; });
  ASSERT_TRUE(s.run_until([&] { return done; }));
  s.io.restart();
  s.io.run();
}

TEST(Lifetime, ClientMayBeDestroyedByTheHandlerOfAFailure) {
  scripted_server server(silence);
  scene s(server.where());
  bool done = false;
  s.client->send(get(), shortly(), [&](const outcome& o) {
    EXPECT_FALSE(o);
    s.client.reset();
    done = true;
  });
  ASSERT_TRUE(s.run_until([&] { return done; }));
  s.io.restart();
  s.io.run();
}

TEST(Lifetime, HandlerMaySendTheNextRequest) {
  scripted_server server([](peer& with, int) {
    while (!with.request().empty()) with.reply("ok");
  });
  scene s(server.where());
  int left = 20;
  std::function<void(outcome)> next = [&](const outcome& o) {
    EXPECT_EQ(words(o), "200 ok");
    if (--left > 0) s.client->send(get(), soon(), next);
  };
  s.client->send(get(), soon(), next);
  EXPECT_TRUE(s.run_until([&] { return left == 0; }));
  EXPECT_EQ(server.connections(), 1);
}

TEST(Lifetime, StreamMayBeDestroyedByAnyOfItsHandlers) {
  scripted_server server([](peer& with, int) {
    with.request();
    with.reply("some data");
    with.closed();
  });
  scene s(server.where());
  for (const int which : {0, 1, 2}) {
    int last = -1;
    std::unique_ptr<http::http_stream> stream;
    const auto called = [&](int number) {
      EXPECT_LT(last, number);
      last = number;
      if (number == which) stream.reset();
    };
    stream = s.client->stream(get(), soon(),
                              {.head = [&](const auto&) { called(0); },
                               .data = [&](auto) { called(1); },
                               .ended = [&](auto) { called(2); }});
    ASSERT_TRUE(s.run_until([&] { return last == which; }));
    s.io.restart();
    s.io.run_one_for(10ms);
    EXPECT_EQ(last, which);
  }
}

}  // namespace
}  // namespace tenure::tests
