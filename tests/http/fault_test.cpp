// What a server may do wrong, and what must not come of it.
#include <gmock/gmock.h>

#include <atomic>
#include <future>

#include "scene.hpp"

namespace tenure::tests {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

struct fault {
  const char* name;
  const char* bytes;  ///< what the server says before it closes
  const char* why;
};

class Fault : public testing::TestWithParam<fault> {};

TEST_P(Fault, IsInDoubtAndItsConnectionIsNotUsedAgain) {
  scripted_server server([](peer& with, int number) {
    with.request();
    if (number == 1) {
      with.send(GetParam().bytes);
      return;
    }
    with.reply("good");
    with.closed();
  });
  scene s(server.where());
  const std::string said = words(s.ask(post("{}", "/v3/kv/put")));
  EXPECT_THAT(said, StartsWith("in doubt: POST /v3/kv/put at " + settings::text(server.where())));
  EXPECT_THAT(said, HasSubstr(GetParam().why));
  EXPECT_EQ(server.connections(), 1) << "nothing is sent twice";
  EXPECT_EQ(words(s.ask(get())), "200 good");
}

INSTANTIATE_TEST_SUITE_P(
    Client, Fault,
    testing::Values(
        fault{"Silence", "", "closed the connection without a reply"},
        fault{"HalfAHead", "HTTP/1.1 200 OK\r\nConte", "in the middle of its reply"},
        fault{"HalfABody", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nab", "in the middle"},
        fault{"HalfAChunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nab",
              "in the middle"},
        fault{"Garbage", "\x01\x02 not http at all\r\n\r\n", "is not HTTP/1.1"},
        fault{"Ftp", "220 ready\r\n", "is not HTTP/1.1"},
        fault{"TlsAlert", "\x15\x03\x03", "it speaks TLS; write the endpoint with https://"}),
    [](const auto& info) { return info.param.name; });

TEST(ClientFault, ResetIsInDoubt) {
  scripted_server server([](peer& with, int) {
    with.request();
    with.reset();
  });
  scene s(server.where());
  const std::string said = words(s.ask(post("{}")));
  EXPECT_THAT(said, StartsWith("in doubt: "));
  EXPECT_THAT(said, HasSubstr("ECONNRESET"));
}

/// Sends for as long as the client lets it.
scripted_server::script endless(std::string begin, std::string more) {
  return [=](peer& with, int) {
    with.request();
    with.send(begin);
    while (with.send(more)) {
    }
  };
}

TEST(ClientFault, EndlessRepliesEndAtTheLimits) {
  const std::string head = "HTTP/1.1 200 OK\r\n";
  const std::string much(1000, 'a');
  const std::string chunk = "3e8\r\n" + much + "\r\n";
  {
    scripted_server server(endless(head, "A: " + much + "\r\n"));
    EXPECT_THAT(words(scene(server.where()).ask(get())), HasSubstr("headers of its reply"));
  }
  {
    scripted_server server(endless(head + "\r\n", much));
    EXPECT_THAT(words(scene(server.where()).ask(get())), HasSubstr("body of its reply"));
  }
  {
    scripted_server server(endless(head + "Transfer-Encoding: chunked\r\n\r\n", chunk));
    EXPECT_THAT(words(scene(server.where()).ask(get())), HasSubstr("body of its reply"));
  }
  {
    scripted_server server(endless("", "HTTP/1.1 100 Continue\r\n\r\n"));
    EXPECT_THAT(words(scene(server.where()).ask(get())), HasSubstr("interim replies"));
  }
}

TEST(ClientFault, ReplyThatDripsDoesNotOutliveTheDeadline) {
  scripted_server server([](peer& with, int) {
    with.request();
    with.send("HTTP/1.1 200 OK\r\nA: ");
    while (!with.closed_within(1ms)) with.send("a");
  });
  scene s(server.where());
  const std::string said = words(s.ask(get(), shortly()));
  EXPECT_THAT(said, StartsWith("in doubt: "));
  EXPECT_THAT(said, HasSubstr("no answer in time while waiting for the reply"));
}

TEST(ClientFault, LateReplyIsNotTakenForTheNextOne) {
  std::promise<void> too_late;
  std::atomic<bool> sent_late = false;
  scripted_server server([&](peer& with, int number) {
    with.request();
    if (number == 1) {
      too_late.get_future().wait_for(patience);
      with.reply("late");
      sent_late = true;
    } else {
      with.reply("fresh");
    }
    with.closed();
  });
  scene s(server.where());
  EXPECT_THAT(words(s.ask(get(), shortly())), StartsWith("in doubt: "));
  too_late.set_value();
  ASSERT_TRUE(s.run_until([&] { return sent_late.load(); }));
  EXPECT_EQ(words(s.ask(get())), "200 fresh");
}

TEST(ClientFault, ReplyThatNobodyAskedForEndsTheConnection) {
  std::atomic<bool> sent = false;
  scripted_server server([&](peer& with, int number) {
    with.request();
    with.reply("one");
    if (number == 1) sent = with.reply("nobody asked") && with.delivered();
    with.closed();
  });
  scene s(server.where());
  EXPECT_EQ(words(s.ask(get())), "200 one");
  // Once the next request is on its way HTTP cannot tell it from a good one.
  const core::time_point limit = soon();
  while (!sent && base::boot_now() < limit) std::this_thread::yield();
  EXPECT_EQ(words(s.ask(get())), "200 one");
  EXPECT_EQ(server.connections(), 2);
}

TEST(ClientFault, ConnectionThatTheServerClosedWhileIdleIsNotUsedAgain) {
  std::atomic<bool> closed = false;
  scripted_server server([&](peer& with, int) {
    with.request();
    with.reply("one");
    with.close();
    closed = true;
  });
  scene s(server.where());
  for (int i = 1; i <= 3; ++i) {
    closed = false;
    EXPECT_EQ(words(s.ask(get())), "200 one");
    // The loop does not run here: what the kernel knows has to be asked for.
    const core::time_point limit = soon();
    while (!closed && base::boot_now() < limit) std::this_thread::yield();
    EXPECT_EQ(server.connections(), i);
  }
}

TEST(ClientFault, KeptConnectionThatEndsWithoutAReplyIsInDoubtAndNothingIsSentTwice) {
  std::atomic<int> requests = 0;
  scripted_server server([&](peer& with, int) {
    while (!with.request().empty()) {
      if (++requests == 2) return;
      with.reply("good");
    }
  });
  scene s(server.where());
  EXPECT_EQ(words(s.ask(post("{}"))), "200 good");
  EXPECT_THAT(words(s.ask(post("{}"))), StartsWith("in doubt: "));
  EXPECT_EQ(requests, 2);
  EXPECT_EQ(words(s.ask(post("{}"))), "200 good");
  EXPECT_EQ(requests, 3);
}

TEST(ClientFault, ReplyBeforeAllOfTheRequestIsReadIsTheReply) {
  scripted_server server([](peer& with, int number) {
    if (number == 1) {
      with.send("HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n");
      with.closed();
    } else {
      with.request();
      with.reply("next");
      with.closed();
    }
  });
  scene s(server.where());
  EXPECT_EQ(words(s.ask(post(std::string(64 * 1024 * 1024, 'a')))), "413 ");
  EXPECT_EQ(words(s.ask(get())), "200 next");
}

}  // namespace
}  // namespace tenure::tests
