#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/resource.h>

#include <cstdint>
#include <fstream>
#include <memory>
#include <string>

#include "harness.hpp"
#include "places.hpp"
#include "servers/tcp_proxy.hpp"

/// An agent in its term can make no new connection, for a reason of its own machine, and those that
/// it has are cut.
namespace tenure::tests {
namespace {

/// What the process has open stays open.
void limit_descriptors(pid_t of, rlim_t soft) {
  rlimit now{};
  ASSERT_EQ(::prlimit(of, RLIMIT_NOFILE, nullptr, &now), 0);
  now.rlim_cur = soft;
  ASSERT_EQ(::prlimit(of, RLIMIT_NOFILE, &now, nullptr), 0);
}

/// While it lives, this is the file of host names, which the test's own mount namespace has.
class host_names {
 public:
  host_names(const temporary_directory& in, const std::string& text) : file_(in / "hosts") {
    write(text);
    EXPECT_EQ(::mount(file_.c_str(), "/etc/hosts", nullptr, MS_BIND, nullptr), 0)
        << "apart from other tests?";
  }
  ~host_names() { ::umount("/etc/hosts"); }
  host_names(const host_names&) = delete;
  host_names& operator=(const host_names&) = delete;

  /// In place: what is mounted is this file.
  void write(const std::string& text) const { std::ofstream(file_) << text; }

 private:
  std::string file_;
};

/// `a` reaches the store by a network that can be cut, `b` directly.
class Means : public testing::TestWithParam<place> {
 protected:
  void SetUp() override {
    if (const std::string why = GetParam().missing(); !why.empty()) GTEST_SKIP() << why;
    store_ = make_placed_store(GetParam(), in_);
    const std::string direct = store_->endpoint();
    near_ = std::make_unique<servers::tcp_proxy>(
        static_cast<std::uint16_t>(std::stoul(direct.substr(direct.rfind(':') + 1))));
  }

  [[nodiscard]] std::unique_ptr<member> join(const std::string& identity,
                                             const std::string& endpoint) const {
    // Consul grants no session that is shorter.
    const bool is_consul = GetParam().kind == "consul";
    return std::make_unique<member>(in_, member::options{.identity = identity,
                                                         .ttl = is_consul ? "10s" : "3s",
                                                         .store = GetParam().kind,
                                                         .endpoint = endpoint});
  }

  temporary_directory in_;
  std::unique_ptr<placed_store> store_;
  std::unique_ptr<servers::tcp_proxy> near_;
};

INSTANTIATE_TEST_SUITE_P(Places, Means, testing::ValuesIn(server_places()),
                         [](const auto& one) { return one.param.name; });

TEST_P(Means, WithoutDescriptorsATermEndsInTimeAndTheMemberComesBack) {
  const auto a = join("a", near_->endpoint());
  ASSERT_TRUE(runs_as(in_, "a")) << a->process().err();
  const auto b = join("b", store_->endpoint());
  ASSERT_TRUE(eventually([&] { return b->process().said("holder=a"); })) << b->process().err();
  const auto agent = a->agent();
  ASSERT_TRUE(agent);

  limit_descriptors(*agent, 0);
  near_->cut();
  const auto next = runs_as(in_, "b");
  ASSERT_TRUE(next) << a->process().err() << b->process().err();
  EXPECT_TRUE(eventually([&] { return a->process().said("Too many open files"); }))
      << a->process().err();
  EXPECT_TRUE(is_alive(*agent)) << a->process().err();

  limit_descriptors(*agent, 1024);
  ASSERT_TRUE(eventually([&] { return a->process().said("holder=b"); })) << a->process().err();
  b->process().send(SIGTERM);
  EXPECT_TRUE(runs_as(in_, "a", next->version)) << a->process().err();
  EXPECT_EQ(a->agent(), agent) << "the same process";
  const auto runs = stamped_runs(in_);
  EXPECT_TRUE(never_two_at_once(runs));
  EXPECT_TRUE(versions_grow(runs));
}

TEST_P(Means, WithoutANameServiceATermGoesOnByTheAddressThatIsKnown) {
  const std::string line = "127.0.0.1 store.test\n";
  const host_names names(in_, line);
  const auto a = join("a", "http://store.test:" + std::to_string(near_->port()));
  ASSERT_TRUE(runs_as(in_, "a")) << a->process().err();
  names.write("");
  const auto renewed = [&] { return near_->count("POST ") + near_->count("PUT "); };
  near_->cut();
  const auto before = renewed();
  EXPECT_TRUE(eventually([&] { return renewed() > before + 3; })) << a->process().err();
  EXPECT_TRUE(a->is_active()) << a->process().err();
  EXPECT_EQ(stamped_runs(in_).size(), 1U);
}

}  // namespace
}  // namespace tenure::tests
