// Watches that lie, from a fake Kubernetes: nothing wrong is shown for good, and nobody is kept
// busy.

#include <atomic>
#include <tuple>

#include "hostile_kubernetes.hpp"

namespace tenure::tests {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class HostileKubernetesWatch : public HostileKubernetes {
 protected:
  /// Opens the store on a watch that answers so, and waits until somebody has been told `times`
  /// over that it is broken. Returns how many lists it took.
  int lists_until_broken(const fake_kubernetes::answer& how, int times) {
    fake_.on("watch", how);
    const auto a = join();
    auto seen = a->watch();
    int told = 0;
    EXPECT_TRUE(eventually(loop_, [&] {
      if (seen->broken.empty()) return false;
      seen = a->watch();
      return ++told == times;
    })) << "nobody is told";
    return fake_.count("list");
  }

  /// A term is kept although no watch works, and is seen to end once one does.
  void expect_leases_work(member& a) {
    const stores::grant held = hold(a);
    EXPECT_EQ(words(a.renew(term(held.version))), "renewed");
    fake_.repent();
    a.answer_within(patience);
    auto seen = a.watch();
    ASSERT_TRUE(eventually(loop_, [&] {
      if (!seen->broken.empty()) seen = a.watch();
      return seen->shows(std::not_fn(nobody));
    }));
    EXPECT_EQ(words(a.release(0, held.version)), "released");
    EXPECT_TRUE(eventually(loop_, [&] {
      if (!seen->broken.empty()) seen = a.watch();
      return seen->shows(nobody);
    }));
  }
};

/// A watch that shows this, and stays open.
fake_kubernetes::answer shows(const std::string& text) {
  return [text](peer& to, const std::string&) {
    fake_kubernetes::begin_watch(to);
    fake_kubernetes::show(to, text);
    to.closed();
  };
}

std::string event_text(const std::string& type, const std::function<void(json&)>& change) {
  json lease = json::parse(
      R"({"kind":"Lease","apiVersion":"coordination.k8s.io/v1","metadata":{"name":"db0",)"
      R"("uid":"uid-1","resourceVersion":"900"},"spec":{"holderIdentity":"x"}})");
  change(lease);
  return json{{"type", type}, {"object", lease}}.dump() + "\n";
}

std::vector<nonsense> lies_of_a_watch() {
  // Written when it is asked for: each test is a process, and each process makes this list.
  const auto event = [](const std::string& type, const std::function<void(json&)>& how) {
    return [type, how](peer& to, const std::string& request) {
      shows(event_text(type, how))(to, request);
    };
  };
  const auto as_it_is = [](json&) {};
  std::vector<nonsense> out = {
      {"Text", shows("hello\n")},
      {"Html", shows("<html></html>")},
      {"List", shows("[]\n")},
      {"NoFields", shows("{}\n")},
      {"NestedDeeply", shows(std::string(10'000, '{'))},
      {"UnknownType", event("RENAMED", as_it_is)},
      {"AnotherKind", event("ADDED", [](json& one) { one["kind"] = "Pod"; })},
      {"NoVersion", event("MODIFIED", [](json& one) { one["metadata"].erase("resourceVersion"); })},
      {"NoName", event("DELETED", [](json& one) { one["metadata"].erase("name"); })},
      {"WrongTypes", event("MODIFIED", [](json& one) { one["spec"]["holderIdentity"] = 7; })},
      {"BookmarkWithoutAVersion",
       event("BOOKMARK", [](json& one) { one["metadata"]["resourceVersion"] = ""; })},
      {"HugeDocument", event("MODIFIED",
                             [](json& one) {
                               one["metadata"]["annotations"]["a"] =
                                   std::string(std::size_t{5} << 20U, 'a');
                             })},
      {"ErrorOfTheServer",
       shows(R"({"type":"ERROR","object":)" + status_json(500, "InternalError") + "}\n")},
      {"Expired", shows(R"({"type":"ERROR","object":)" +
                        status_json(410, "Expired", "too old resource version") + "}\n")},
      {"EndedAtOnce",
       [](peer& to, const std::string&) {
         fake_kubernetes::begin_watch(to);
         to.send("0\r\n\r\n");
       }},
      {"EndedInADocument",
       [](peer& to, const std::string&) {
         fake_kubernetes::begin_watch(to);
         fake_kubernetes::show(to, R"({"type":"ADD)");
         to.send("0\r\n\r\n");
       }},
      {"ResetAfterTheHead",
       [](peer& to, const std::string&) {
         fake_kubernetes::begin_watch(to);
         to.delivered();
         to.reset();
       }},
      {"ChunkOfNoSize",
       [](peer& to, const std::string&) {
         fake_kubernetes::begin_watch(to);
         to.send("zz\r\n");
       }},
      {"Gone", status("410 Gone", status_json(410, "Expired", "too old"))},
      {"TooMany", status("429 Too Many Requests", status_json(429, "TooManyRequests"))},
      {"InternalError", status("500 So", status_json(500, "InternalError"))},
      {"NotFoundByAProxy", status("404 Not Found", "<html>no such site</html>")},
      {"Closed", [](peer& to, const std::string&) { to.close(); }},
      {"Reset", [](peer& to, const std::string&) { to.reset(); }},
      {"HeadersWithoutEnd",
       [](peer& to, const std::string&) {
         to.send("HTTP/1.1 200 OK\r\n");
         while (to.send("X: " + std::string(1000, 'x') + "\r\n")) {
         }
       }},
      {"Moved",
       [](peer& to, const std::string&) {
         to.send(
             "HTTP/1.1 301 Moved\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n");
       }},
  };
  // The analyzer loses sight of who owns what a std::function holds.
  return out;
}  // NOLINT(clang-analyzer-cplusplus.NewDeleteLeaks)

class HostileKubernetesWatchReply : public HostileKubernetesWatch,
                                    public testing::WithParamInterface<nonsense> {};

INSTANTIATE_TEST_SUITE_P(Fake, HostileKubernetesWatchReply, testing::ValuesIn(lies_of_a_watch()),
                         [](const auto& one) { return std::string(one.param.name); });

/// An election has two watches: of its first Lease, and of the others.
TEST_P(HostileKubernetesWatchReply, IsToldAndTriedAgainAfterAPause) {
  constexpr int times = 4;
  // Each break but the first of each watch, which may be followed by a try at once, is reported: it
  // cannot spin unseen. Our own watch reads two lists each time it is opened.
  EXPECT_LE(lists_until_broken(GetParam().how, times), 6 * (times + 2));
}

TEST_P(HostileKubernetesWatchReply, DoesNotKeepALeaseFromBeingHeld) {
  auto a = join();
  fake_.on("watch", GetParam().how);
  expect_leases_work(*a);
}

/// Waiting does not help: the configuration must be changed.
TEST_F(HostileKubernetesWatch, AWatchThatIsRefusedEndsTheStartAndSaysWhatToDo) {
  for (const auto& [line, said, advice] :
       {std::tuple("403 Forbidden", status_json(403, "Forbidden", "watch is forbidden"),
                   "watch is forbidden; give the user of the token a Role"),
        std::tuple("401 Unauthorized", status_json(401, "Unauthorized", "who"), "say who asks")}) {
    fake_.on("watch", status(line, said));
    member a(loop_, settings("a"));
    const auto opened = a.open();
    ASSERT_FALSE(opened) << line;
    EXPECT_THAT(opened.error().text, HasSubstr(advice));
  }
}

TEST_F(HostileKubernetesWatch, AWatchThatIsRefusedLaterIsToldAndEndsNoTerm) {
  const auto breaks = std::make_shared<std::atomic<bool>>(false);
  fake_.on("watch", [breaks](peer& to, const std::string& request) {
    if (*breaks) {
      return status("403 Forbidden", status_json(403, "Forbidden", "forbidden"))(to, request);
    }
    fake_kubernetes::begin_watch(to);
    while (!*breaks && !to.closed_within(std::chrono::milliseconds(2))) {
    }
    to.close();
  });
  auto a = join();
  const stores::grant held = hold(*a);
  const auto seen = a->watch();
  ASSERT_TRUE(loop_.run_until([&] { return seen->shows(std::not_fn(nobody)); }));
  *breaks = true;
  ASSERT_TRUE(loop_.run_until([&] { return !seen->broken.empty(); }));
  EXPECT_THAT(seen->broken.front(), HasSubstr("does not let us watch: forbidden"));
  EXPECT_EQ(words(a->renew(term(held.version))), "renewed");
  expect_usable(*a);
}

/// The watch of the Leases with the election's label: in an election of one slot, those of members.
class HostileKubernetesLabel : public HostileKubernetesWatch {
 protected:
  void break_watches_by_label() {
    fake_.on("watch", [this](peer& to, const std::string& request) {
      if (target_of(request).contains("labelSelector")) {
        return status("500 So", status_json(500, "InternalError"))(to, request);
      }
      fake_.watch(to, request);
    });
  }
};

TEST_F(HostileKubernetesLabel, ThatCannotBeWatchedDoesNotKeepADeadHolderAlive) {
  fake_.put("db0", {{"holderIdentity", "go-program"}, {"leaseDurationSeconds", 2}});
  break_watches_by_label();
  auto a = join();
  a->answer_within(patience);
  EXPECT_TRUE(eventually(loop_, [&] { return words(a->acquire()) == "granted"; }));
}

TEST_F(HostileKubernetesLabel, ThatCannotBeWatchedDoesNotBreakTheWatchOfTheElection) {
  stores::setup with = settings("a");
  std::vector<stores::notice> said;
  with.notes = [&](const stores::notice& one) { said.push_back(one); };
  auto a = join(with);
  const auto seen = a->watch();
  ASSERT_TRUE(loop_.run_until([&] { return seen->shows(nobody); }));
  break_watches_by_label();
  fake_.end_watches();
  ASSERT_TRUE(eventually(loop_, [&] { return !said.empty(); }));
  EXPECT_TRUE(said[0].is_trouble);
  EXPECT_THAT(said[0].text, HasSubstr("members are not shown, retrying: "));
  hold_as_another();
  EXPECT_TRUE(loop_.run_until([&] { return seen->shows(std::not_fn(nobody)); }));
  EXPECT_TRUE(seen->broken.empty()) << seen->broken.front();
  fake_.repent();
  EXPECT_TRUE(eventually(loop_, [&] { return said.size() == 2; }));
  EXPECT_FALSE(said[1].is_trouble);
}

/// All of it is valid, as fast as the network carries it.
TEST_F(HostileKubernetesWatch, EventsWithoutEndAreTakenAndRenewalsGoOn) {
  auto a = join();
  const stores::grant held = hold(*a);
  a->close();
  // The threads of the fake end after this test.
  const auto sent = std::make_shared<std::atomic<std::uint64_t>>(0);
  fake_.on("watch", [sent](peer& to, const std::string&) {
    fake_kubernetes::begin_watch(to);
    while (fake_kubernetes::show(to, event_text("MODIFIED", [&](json& one) {
                                   one["metadata"]["name"] = "somebody-elses";
                                   one["metadata"]["resourceVersion"] =
                                       std::to_string(1000 + ++*sent);
                                 }))) {
    }
  });
  a = join();
  a->answer_within(patience);
  const stores::grant again = hold(*a);
  EXPECT_EQ(again.version, held.version);
  ASSERT_TRUE(eventually(loop_, [&] { return *sent > 1000; }));
  for (int i = 0; i < 20; ++i) EXPECT_EQ(words(a->renew(term(held.version))), "renewed");
  a->close();
}

/// What a watch shows grants nothing and ends nothing: the write says who holds.
TEST_F(HostileKubernetesWatch, AWatchThatShowsNobodyGrantsNothing) {
  auto a = join();
  const stores::grant held = hold(*a);
  for (const char* name : {"list", "watch"}) {
    fake_.on(name, [](peer& to, const std::string& request) {
      if (target_of(request).contains("watch=true")) {
        fake_kubernetes::begin_watch(to);
        to.closed();
        return;
      }
      to.reply(R"({"kind":"LeaseList","apiVersion":"coordination.k8s.io/v1",)"
               R"("metadata":{"resourceVersion":"900"},"items":[]})");
    });
  }
  auto b = join("b");
  const auto seen = b->watch();
  ASSERT_TRUE(loop_.run_until([&] { return seen->shows(nobody); }));
  b->answer_within(patience);
  expect_unknown(words(b->acquire()), "again and again");
  EXPECT_EQ(words(a->renew(term(held.version))), "renewed");
  expect_usable(*a);
}

/// An API server that has lost its etcd goes on sending bookmarks.
TEST_F(HostileKubernetesWatch, BookmarksDoNotShowThatAWatchIsUpToDate) {
  const auto sent = std::make_shared<std::atomic<bool>>(false);
  fake_.on("watch", [this, sent](peer& to, const std::string& request) {
    fake_kubernetes::begin_watch(to);
    for (int i = 0; i < 3; ++i) {
      fake_kubernetes::show(to, event_text("BOOKMARK", [&](json& one) {
                              one["metadata"]["resourceVersion"] = std::to_string(fake_.version());
                            }));
      to.delivered();
    }
    *sent = true;
    fake_.watch_on(to, request);
  });
  stores::setup with = settings("a");
  int shown = 0;
  with.hears = [&](const core::contact_event& what) {
    shown += std::holds_alternative<core::contact::showed>(what) ? 1 : 0;
  };
  auto a = join(with);
  const auto seen = a->watch();
  ASSERT_TRUE(eventually(loop_, [&] { return sent->load() && seen->shows(nobody); }));
  hold_as_another();
  ASSERT_TRUE(loop_.run_until([&] { return seen->shows(std::not_fn(nobody)); }));
  EXPECT_EQ(shown, 2) << "the first list, and the change";
}

/// A stream may be dead without a word: what it should have shown is found by a list.
TEST_F(HostileKubernetesWatch, ASilentWatchIsNoticedByTheList) {
  fake_.on("watch", [](peer& to, const std::string&) {
    fake_kubernetes::begin_watch(to);
    to.closed();
  });
  auto a = join(settings("a", 1, std::chrono::seconds(1)));
  auto seen = a->watch();
  ASSERT_TRUE(loop_.run_until([&] { return seen->shows(nobody); }));
  const int before = fake_.count("watch");
  hold_as_another();
  EXPECT_TRUE(loop_.run_until([&] { return seen->shows(std::not_fn(nobody)); }))
      << "the list shows it";
  EXPECT_TRUE(eventually(loop_, [&] { return fake_.count("watch") > before; }))
      << "the stream did not show it, and is opened again";
}

/// API servers end each watch after some time: that is no failure.
TEST_F(HostileKubernetesWatch, AWatchThatEndsIsGoneOnWithFromAList) {
  const auto ends = std::make_shared<std::atomic<bool>>(false);
  fake_.on("watch", [ends](peer& to, const std::string&) {
    fake_kubernetes::begin_watch(to);
    while (!*ends && !to.closed_within(std::chrono::milliseconds(2))) {
    }
    to.send("0\r\n\r\n");
  });
  auto a = join();
  const auto seen = a->watch();
  ASSERT_TRUE(loop_.run_until([&] { return seen->shows(nobody); }));
  fake_.repent("watch");
  hold_as_another();
  *ends = true;
  EXPECT_TRUE(loop_.run_until([&] { return seen->shows(std::not_fn(nobody)); }));
  EXPECT_TRUE(seen->broken.empty()) << seen->broken.front();
}

TEST_F(HostileKubernetesWatch, AfterA410EverythingIsReadAgain) {
  const auto expires = std::make_shared<std::atomic<bool>>(false);
  fake_.on("watch", [expires](peer& to, const std::string&) {
    fake_kubernetes::begin_watch(to);
    while (!*expires && !to.closed_within(std::chrono::milliseconds(2))) {
    }
    fake_kubernetes::show(to, R"({"type":"ERROR","object":)" + status_json(410, "Expired") + "}\n");
    to.closed();
  });
  auto a = join();
  const auto seen = a->watch();
  ASSERT_TRUE(loop_.run_until([&] { return seen->shows(nobody); }));
  fake_.repent("watch");
  hold_as_another();
  *expires = true;
  EXPECT_TRUE(loop_.run_until([&] { return seen->shows(std::not_fn(nobody)); }));
  EXPECT_TRUE(seen->broken.empty()) << seen->broken.front();
}

/// Versions may go back after a restore: the list that follows the gap counts.
TEST_F(HostileKubernetesWatch, AfterARestoreTheOlderStateIsShown) {
  hold_as_another();
  const auto breaks = std::make_shared<std::atomic<bool>>(false);
  fake_.on("watch", [breaks](peer& to, const std::string&) {
    fake_kubernetes::begin_watch(to);
    while (!*breaks && !to.closed_within(std::chrono::milliseconds(2))) {
    }
    to.reset();
  });
  auto a = join();
  const auto seen = a->watch();
  ASSERT_TRUE(loop_.run_until([&] { return seen->shows(std::not_fn(nobody)); }));
  fake_.on("list", R"({"kind":"LeaseList","apiVersion":"coordination.k8s.io/v1",)"
                   R"("metadata":{"resourceVersion":"2"},"items":[]})");
  fake_.on("watch", [](peer& to, const std::string&) {
    fake_kubernetes::begin_watch(to);
    to.closed();
  });
  *breaks = true;
  EXPECT_TRUE(eventually(loop_, [&] { return seen->shows(nobody); }));
  EXPECT_LE(seen->seen.back().as_of, core::version{2});
}

/// A watch that begins after a restore with a version from before it shows nothing, for as long as
/// versions have not caught up: an API server ends it for nothing.
TEST_F(HostileKubernetesWatch, ThatGoesOnFromBeforeARestoreIsNoticedByTheList) {
  hold_as_another();
  fake_.on("watch", [](peer& to, const std::string&) {
    fake_kubernetes::begin_watch(to);
    to.closed();
  });
  auto a = join(settings("a", 1, std::chrono::seconds(1)));
  const auto seen = a->watch();
  ASSERT_TRUE(loop_.run_until([&] { return seen->shows(std::not_fn(nobody)); }));
  fake_.on("list", R"({"kind":"LeaseList","apiVersion":"coordination.k8s.io/v1",)"
                   R"("metadata":{"resourceVersion":"2"},"items":[]})");
  EXPECT_TRUE(eventually(loop_, [&] { return seen->shows(nobody); }));
  EXPECT_LE(seen->seen.back().as_of, core::version{2});
}

}  // namespace
}  // namespace tenure::tests
