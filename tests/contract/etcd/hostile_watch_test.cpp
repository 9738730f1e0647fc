// Watches that lie, from a fake etcd: nothing wrong is shown for good, and nobody is kept busy.

#include <atomic>

#include "etcd_scene.hpp"
#include "fake_etcd.hpp"

namespace tenure::tests {
namespace {

constexpr const char* watch_path = "/v3/watch";

/// Documents as one reply without end.
fake_etcd::answer stream(const std::string& documents, bool stays) {
  return [documents, stays](peer& to, const std::string&) {
    to.send("HTTP/1.1 200 OK\r\n\r\n" + documents);
    if (stays) {
      to.closed();
    } else {
      to.close();
    }
  };
}

std::string created(const std::string& id = "1") {
  return R"({"result":{)" + header() + R"(,"watch_id":")" + id + R"(","created":true}})";
}

std::string events(const std::string& id, const std::string& list, const std::string& revision) {
  return R"({"result":{)" + header(revision) + R"(,"watch_id":")" + id + R"(","events":[)" + list +
         "]}}";
}

/// Somebody's key in the election, made at this revision.
std::string put_at(const std::string& revision) {
  return R"({"kv":{"key":"ZGIwLzE=","create_revision":")" + revision + R"(","mod_revision":")" +
         revision + R"(","lease":"1"}})";
}

class HostileWatch : public etcd_scene, public testing::Test {
 protected:
  /// Opens the store on a watch that answers so, and says how often it was tried until somebody
  /// has been told `times` over that it is broken.
  int tries_until_broken(const fake_etcd::answer& how, int times) {
    fake_.on(watch_path, how);
    const auto a = join(settings("a", {fake_.endpoint()}));
    auto seen = a->watch();
    int told = 0;
    EXPECT_TRUE(eventually([&] {
      if (seen->broken.empty()) return false;
      seen = a->watch();
      return ++told == times;
    })) << "nobody is told";
    return fake_.count(watch_path);
  }

  fake_etcd fake_;
};

struct lie {
  const char* name;
  fake_etcd::answer how;
};

void PrintTo(const lie& one, std::ostream* out) {
  *out << one.name;
}

class HostileWatchReply : public HostileWatch, public testing::WithParamInterface<lie> {};

INSTANTIATE_TEST_SUITE_P(
    Fake, HostileWatchReply,
    testing::Values(
        lie{"Silence", stream("", true)}, lie{"Closed", stream("", false)},
        lie{"Garbage", stream("garbage", true)},
        lie{"CreatedThenGarbage", stream(created() + "garbage", true)},
        lie{"CreatedThenClosed", stream(created(), false)},
        lie{"CreatedForAnotherId", stream(created("99"), true)},
        lie{"CreatedForTheSmallestId", stream(created("-9223372036854775808"), true)},
        lie{"CreatedForTheLargestId", stream(created("9223372036854775807"), true)},
        lie{"EventsForAnotherId", stream(created() + events("99", put_at("6"), "6"), true)},
        lie{"EventLaterThanItsReply", stream(created() + events("1", put_at("7"), "6"), true)},
        lie{"Canceled",
            stream(R"({"result":{)" + header() + R"(,"watch_id":"1","canceled":true}})", true)},
        lie{"DocumentWithoutEnd",
            [](peer& to, const std::string&) {
              to.send("HTTP/1.1 200 OK\r\n\r\n" + created() + "{\"a\":\"");
              while (to.send(std::string(65536, 'a'))) {
              }
            }},
        lie{"NestedWithoutEnd",
            [](peer& to, const std::string&) {
              to.send("HTTP/1.1 200 OK\r\n\r\n" + created());
              while (to.send(std::string(4096, '{'))) {
              }
            }}),
    [](const auto& one) { return std::string(one.param.name); });

TEST_P(HostileWatchReply, IsToldAndTriedAgainAfterAPause) {
  constexpr int times = 3;
  // Every break but the first, which may be followed by a try at once, is reported: it
  // cannot spin unseen. At the opening nobody listens yet.
  EXPECT_LE(tries_until_broken(GetParam().how, times), times + 3);
}

/// All of it is valid, as fast as the network carries it.
TEST_F(HostileWatch, RepliesWithoutEndAreTakenAtABoundedRateAndRenewalsGoOn) {
  constexpr std::size_t more_than_a_burst = std::size_t{16} << 20U;
  constexpr int many_renewals = 3'000;
  const auto sent = std::make_shared<std::atomic<std::size_t>>(0);
  fake_.on(watch_path, [sent](peer& to, const std::string&) {
    std::string piece;
    while (piece.size() < 65'536) piece += R"({"result":{)" + header() + R"(,"watch_id":"-1"}})";
    to.send("HTTP/1.1 200 OK\r\n\r\n" + created());
    while (to.send(piece)) *sent += piece.size();
  });
  auto a = join(settings("a", {fake_.endpoint()}));
  const stores::grant held = a->hold();
  for (int i = 0; i < many_renewals && *sent < more_than_a_burst; ++i) {
    ASSERT_EQ(words(renew(*a, held.version, renewal_time)), "renewed");
  }
  EXPECT_LT(*sent, more_than_a_burst);
  a->close();
}

/// A member that has lost its leader ends such a watch by itself; any other stays silent for ever.
TEST_F(HostileWatch, AsksForItsEndWhereTheMemberHasNoLeader) {
  const auto asked = std::make_shared<std::atomic<bool>>(false);
  fake_.on(watch_path, [asked](peer& to, const std::string& request) {
    if (request.contains("Grpc-Metadata-hasleader: true\r\n")) *asked = true;
    to.send("HTTP/1.1 200 OK\r\n\r\n" + created());
    to.closed();
  });
  const auto a = join(settings("a", {fake_.endpoint()}));
  const auto seen = a->watch();
  EXPECT_TRUE(eventually([&] { return asked->load(); }));
}

/// The store was restored from a backup between the read, at revision 5, and the watch. It answers
/// requests for progress all the same, as etcd 3.4 does.
TEST_F(HostileWatch, ThatIsBehindItsReadIsOpenedAgain) {
  const std::string behind = R"({"result":{)" + header("1");
  fake_.on(watch_path, [behind](peer& to, const std::string&) {
    to.send("HTTP/1.1 200 OK\r\n\r\n" + behind + R"(,"watch_id":"1","created":true}})");
    while (!to.piece().empty()) to.send(behind + R"(,"watch_id":"-1"}})");
  });
  const auto a = join(settings("a", {fake_.endpoint()}, std::chrono::seconds(3)));
  const auto seen = a->watch();
  EXPECT_TRUE(eventually([&] { return fake_.count(watch_path) > 2; }));
}

TEST_F(HostileWatch, EventThatWasKnownAlreadyChangesNothing) {
  auto a = join(settings("a", {fake_.endpoint()}));
  const auto seen = a->watch();
  ASSERT_TRUE(loop_.run_until([&] { return seen->shows(nobody); }));
  auto b = std::make_unique<member>(loop_, settings("b", {fake_.endpoint()}));
  fake_.on(watch_path,
           stream(created() + events("1", put_at("4"), "9") +
                      events("1",
                             R"({"kv":{"key":"ZGIwLzI=","value":"Yw==",)"
                             R"("create_revision":"9","mod_revision":"9","lease":"2"}})",
                             "9"),
                  true));
  ASSERT_TRUE(b->open());
  const auto shown = b->watch();
  ASSERT_TRUE(eventually([&] { return shown->shows(held_by("c")); }));
  EXPECT_EQ(shown->seen.back().holders.size(), 1u) << "revision 4 was read at 5 already";
}

}  // namespace
}  // namespace tenure::tests
