#include "scene.hpp"

#include <unistd.h>

#include <csignal>
#include <filesystem>

#include "support/boot_clock.hpp"

namespace tenure::tests {

void Interop::SetUp() {
  if (GetParam().binary.empty()) GTEST_SKIP() << GetParam().why;
  etcdctl_ = std::filesystem::path(GetParam().binary).replace_filename("etcdctl");
  if (::access(etcdctl_.c_str(), X_OK) != 0) {
    GTEST_SKIP() << "there is no " << etcdctl_ << "; put the one of this etcd's release there";
  }
  cluster_.emplace(GetParam());
}

void Interop::TearDown() {
  const auto runs = stamped_runs(in_);
  EXPECT_TRUE(never_two_at_once(runs));
  EXPECT_TRUE(versions_grow(runs));
}

std::unique_ptr<member> Interop::tenure(const std::string& identity, const std::string& ttl) const {
  return std::make_unique<member>(
      in_,
      member::options{
          .identity = identity, .ttl = ttl, .store = "etcd", .endpoint = cluster_->endpoint()});
}

std::unique_ptr<member> Interop::telling_tenure(const std::string& identity,
                                                const std::string& at) const {
  return std::make_unique<member>(
      in_, member::options{.identity = identity,
                           .ttl = ttl_beyond_patience,
                           .store = "etcd",
                           .endpoint = cluster_->endpoint(),
                           .more = {"--peer-listen", at, "--log-level", "debug"}});
}

std::unique_ptr<member> Interop::stubborn_tenure(const std::string& identity,
                                                 const std::string& ttl) const {
  return std::make_unique<member>(
      in_, member::options{.identity = identity,
                           .ttl = ttl,
                           .store = "etcd",
                           .endpoint = cluster_->endpoint(),
                           .more = {"--drain", "300ms"},
                           .command = {stamper_binary(), in_.path(), "stubborn"}});
}

std::vector<std::string> Interop::environment() const {
  return {"ETCDCTL_API=3", "ETCDCTL_ENDPOINTS=" + cluster_->endpoint()};
}

std::unique_ptr<program> Interop::etcdctl(const std::vector<std::string>& words,
                                          const std::string& name) const {
  std::vector<std::string> all{etcdctl_};
  all.insert(all.end(), words.begin(), words.end());
  return std::make_unique<program>(all, in_ / name, environment());
}

std::unique_ptr<program> Interop::locked_stamper(const std::string& identity,
                                                 int ttl_seconds) const {
  // etcdctl tells its command the name of the key, but not the create_revision.
  const std::string script =
      "TENURE_IDENTITY=" + identity + " TENURE_VERSION=$('" + etcdctl_ +
      R"(' get "$ETCD_LOCK_KEY" -w fields | sed -n 's/^"CreateRevision" : //p') exec ')" +
      stamper_binary() + "' '" + in_.path().string() + "'";
  return etcdctl({"lock", "--ttl", std::to_string(ttl_seconds), "test", "--", "sh", "-c", script},
                 identity);
}

bool Interop::contenders_become(std::size_t count) const {
  return eventually([&] {
    const std::string answer =
        // The prefix "test/" and the key right behind all that has it, "test0".
        cluster_->post("/v3/kv/range",
                       R"({"key":"dGVzdC8=","range_end":"dGVzdDA=","count_only":true})");
    return answer.find("\"count\":\"" + std::to_string(count) + "\"") != std::string::npos;
  });
}

bool Interop::shows(const member& who, const std::string& holder) {
  return eventually([&] {
    const std::string answer = who.get("/v1/elections/test");
    return answer.find("\"holder\":\"" + holder + "\"") != std::string::npos &&
           answer.find("\"is_self\":false") != std::string::npos;
  });
}

void Interop::expect_to_wait_for(const program& other, const std::string& holder) {
  const auto a = tenure("a", ttl_beyond_patience);
  ASSERT_TRUE(shows(*a, holder)) << a->get("/v1/elections/test") << a->process().err();
  EXPECT_FALSE(a->is_active());
  EXPECT_FALSE(a->workload());

  const std::int64_t before_its_end = boot_nanoseconds();
  other.send(SIGTERM);
  const auto taken = runs_as(in_, "a");
  ASSERT_TRUE(taken) << a->process().err();
  EXPECT_GT(taken->first, before_its_end);
}

INSTANTIATE_TEST_SUITE_P(Etcd, Interop, ::testing::ValuesIn(servers::etcd_releases()),
                         [](const auto& instance) { return instance.param.name; });

}  // namespace tenure::tests
