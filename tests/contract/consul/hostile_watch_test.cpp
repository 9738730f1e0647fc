// Watches that lie, from a fake Consul: nothing wrong is shown for good, and nobody is kept busy.

#include <atomic>

#include "hostile_scene.hpp"

namespace tenure::tests {
namespace {

using nlohmann::json;

class HostileConsulWatch : public HostileConsul {
 protected:
  /// Opens the store on a watch that answers so, and says how often it was tried until somebody has
  /// been told `times` over that it is broken.
  int tries_until_broken(const fake_consul::answer& how, int times) {
    fake_.on("watch", how);
    // A watch that says nothing is noticed after a third of the ttl and a second.
    const auto a = join(settings("a", 1, std::chrono::seconds(1)));
    auto seen = a->watch();
    int told = 0;
    EXPECT_TRUE(eventually(loop_, [&] {
      if (seen->broken.empty()) return false;
      seen = a->watch();
      return ++told == times;
    })) << "nobody is told";
    return fake_.count("watch");
  }

  /// What a blocking query is answered at once, with this index.
  fake_consul::answer at_once(const std::string& text, std::uint64_t index) {
    return [text, index](peer& to, const std::string&) {
      fake_consul::say(to, {.index = index, .body = text});
    };
  }

  /// Keeps a term for as long as `lasts`, and says for how long.
  double renew_while(member& who, core::version held, const std::function<bool()>& lasts) {
    const core::time_point begin = base::boot_now();
    while (lasts() && base::boot_now() - begin < std::chrono::seconds(3)) {
      EXPECT_EQ(words(who.renew(term(held))), "renewed");
    }
    return std::chrono::duration<double>(base::boot_now() - begin).count();
  }
};

std::string key_in_a_list(const std::string& key, int index) {
  return json{{{"Key", key}, {"Value", nullptr}, {"CreateIndex", 1}, {"ModifyIndex", index}}}
      .dump();
}

std::vector<nonsense> lies_of_a_watch() {
  std::vector<nonsense> out = nonsense_of_any_server();
  const auto with_index = [](const std::string& text) {
    return [text](peer& to, const std::string&) {
      fake_consul::say(to, {.index = 1000, .body = text});
    };
  };
  out.insert(out.end(),
             {{"WithoutAnIndex", body(key_in_a_list("db0/.lock", 9))},
              {"HtmlWithAnIndex", with_index("<html></html>")},
              {"EmptyList", with_index("[]")},
              {"CutShort", with_index(R"([{"Key":"db0/.lo)")},
              {"WrongTypes", with_index(R"([{"Key":7,"ModifyIndex":"x","Session":[]}])")},
              {"AnotherFolder", with_index(key_in_a_list("db1/.lock", 9))},
              {"NotInOrder", with_index(R"([{"Key":"db0/b","CreateIndex":1,"ModifyIndex":1},)"
                                        R"({"Key":"db0/a","CreateIndex":1,"ModifyIndex":1}])")},
              {"Twice", with_index(R"([{"Key":"db0/a","CreateIndex":1,"ModifyIndex":1},)"
                                   R"({"Key":"db0/a","CreateIndex":1,"ModifyIndex":1}])")},
              {"Forbidden", status("403 Forbidden", "Permission denied")},
              {"NoLeader", status("500 Internal Server Error", "No cluster leader")},
              {"NotFoundByAProxy", status("404 Not Found", "<html>no such site</html>")},
              {"Moved", [](peer& to, const std::string&) {
                 to.send(
                     "HTTP/1.1 301 Moved\r\nLocation: http://127.0.0.1:1/\r\n"
                     "Content-Length: 0\r\n\r\n");
               }}});
  return out;
}

class HostileConsulWatchReply : public HostileConsulWatch,
                                public testing::WithParamInterface<nonsense> {};

INSTANTIATE_TEST_SUITE_P(Fake, HostileConsulWatchReply, testing::ValuesIn(lies_of_a_watch()),
                         [](const auto& one) { return std::string(one.param.name); });

TEST_P(HostileConsulWatchReply, IsToldAndTriedAgainAfterAPause) {
  constexpr int times = 3;
  // Every break but the first, which may be followed by a try at once, is reported: it cannot spin
  // unseen. At the opening nobody listens yet.
  EXPECT_LE(tries_until_broken(GetParam().how, times), times + 3);
}

/// It is asked again as long as the read of the watch may take, five times a second.
TEST_F(HostileConsulWatch, AServerThatIsTooBusyIsToldAndAskedAgainAfterPauses) {
  constexpr int times = 3;
  constexpr int most = 100;
  EXPECT_LE(tries_until_broken(status("429 Too Many Requests", ""), times), most);
}

/// A server may say at once that nothing has changed, again and again.
TEST_F(HostileConsulWatch, AnswersWithoutAChangeAreNotAskedForWithoutAPause) {
  fake_.on("watch", [this](peer& to, const std::string& request) {
    fake_consul::say(to, fake_.truth(request));
  });
  auto a = join();
  const stores::grant held = a->hold();
  constexpr int many = 300;
  const double seconds = renew_while(
      *a, held.version, [&] { return fake_.count("watch") + fake_.count("read") < many; });
  EXPECT_LT(fake_.count("watch") + fake_.count("read"), many) << "in " << seconds << " s";
  fake_.repent("watch");
  const auto seen = a->watch();
  EXPECT_EQ(words(a->release(0, held.version)), "released");
  EXPECT_TRUE(loop_.run_until([&] { return seen->shows(nobody); }));
}

/// All of it is valid, as fast as the network carries it: the store takes 2,048 at once and 512 a
/// second.
TEST_F(HostileConsulWatch, ChangesWithoutEndAreTakenAtABoundedRateAndRenewalsGoOn) {
  const auto index = std::make_shared<std::atomic<std::uint64_t>>(1000);
  fake_.on("watch", [this, index](peer& to, const std::string& request) {
    fake_consul::reply what = fake_.truth(request);
    what.index = ++*index;
    fake_consul::say(to, what);
  });
  auto a = join();
  const stores::grant held = a->hold();
  const double seconds = renew_while(*a, held.version, [&] { return fake_.count("watch") < 4500; });
  EXPECT_LT(fake_.count("watch"), 2100 + 520 * seconds) << "in " << seconds << " s";
  a->close();
}

TEST_F(HostileConsulWatch, AnIndexThatGoesBackAndForthIsTakenAtABoundedRate) {
  const auto turn = std::make_shared<std::atomic<std::uint64_t>>(0);
  fake_.on("watch", [this, turn](peer& to, const std::string& request) {
    fake_consul::reply what = fake_.truth(request);
    what.index = 2000 - ++*turn % 2;
    fake_consul::say(to, what);
  });
  auto a = join();
  const stores::grant held = a->hold();
  const double seconds = renew_while(*a, held.version, [&] { return fake_.count("watch") < 4500; });
  EXPECT_LT(fake_.count("watch"), 2100 + 520 * seconds) << "in " << seconds << " s";
  EXPECT_EQ(words(a->release(0, held.version)), "released");
}

/// What a watch shows grants nothing and ends nothing: the transaction says who holds.
TEST_F(HostileConsulWatch, AWatchThatShowsNobodyGrantsNothing) {
  auto a = join();
  const stores::grant held = a->hold();
  auto b = std::make_unique<member>(loop_, settings("b"));
  for (const char* name : {"read", "watch"}) {
    fake_.on(name, [](peer& to, const std::string& request) {
      if (request.contains("index=1000")) {
        to.closed();
      } else {
        fake_consul::say(to, {.status = 404, .index = 1000});
      }
    });
  }
  ASSERT_TRUE(b->open());
  const auto seen = b->watch();
  ASSERT_TRUE(loop_.run_until([&] { return seen->shows(nobody); }));
  b->answer_within(short_time);
  expect_unknown(words(b->acquire()), "again and again");
  EXPECT_EQ(words(a->renew(term(held.version))), "renewed");
  expect_usable(*a);
}

}  // namespace
}  // namespace tenure::tests
