#include "config/surroundings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "support/temporary_directory.hpp"

namespace tenure::config {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;
using testing::Pair;

TEST(Surroundings, AFileIsReadAsItIs) {
  const tests::temporary_directory dir;
  const std::string path = dir / "tenure.yaml";
  const std::string text = "ttl: 15s\n" + std::string(100'000, '#');
  std::ofstream(path) << text;
  const file_result read = read_file(path);
  ASSERT_TRUE(read) << render(read.error());
  EXPECT_EQ(read->name, path);
  EXPECT_EQ(read->text, text);
}

TEST(Surroundings, AFileThatCannotBeReadIsNamedWithTheReason) {
  const tests::temporary_directory dir;
  const std::string path = dir / "none.yaml";
  EXPECT_EQ(render(read_file(path).error()),
            path + ": the file cannot be read: No such file or directory (ENOENT); check its path");
  EXPECT_THAT(render(read_file(dir / "").error()),
              HasSubstr("it is a directory; name a file in it"));
}

TEST(Surroundings, AFifoIsRefusedAndNotWaitedFor) {
  const tests::temporary_directory dir;
  const std::string path = dir / "fifo";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_THAT(render(read_file(path).error()), HasSubstr("it is a pipe; name a regular file"));
}

TEST(Surroundings, AFileThatEverybodyCanWriteToIsRefused) {
  const tests::temporary_directory dir;
  const std::string path = dir / "tenure.yaml";
  std::ofstream(path) << "ttl: 15s\n";
  ASSERT_EQ(::chmod(path.c_str(), 0664), 0);
  EXPECT_TRUE(read_file(path)) << "a group of its own is usual";
  ASSERT_EQ(::chmod(path.c_str(), 0646), 0);
  EXPECT_THAT(render(read_file(path).error()),
              HasSubstr("it can be written to by other users (mode 0646); run `chmod go-w`"));
}

std::string shown(const std::vector<problem>& all) {
  std::string out;
  for (const problem& one : all) out += render(one) + "\n";
  return out;
}

TEST(Surroundings, ALeaseFileWhereEveryUserCouldPutLinksIsRefused) {
  configuration s;
  s.store = "sqlite";
  s.endpoints = {"/tmp/lease.db"};
  EXPECT_THAT(shown(problems_here(s)), HasSubstr("every user can write to the directory /tmp"));
  const tests::temporary_directory dir;
  for (const std::string& path :
       {std::string(dir / "lease.db"), std::string("/nowhere/lease.db"), std::string("lease.db")}) {
    s.endpoints = {path};
    EXPECT_EQ(shown(problems_here(s)), "") << path;
  }
}

TEST(Surroundings, ASecretThatOthersCouldWriteIsRefusedAndOneThatIsNotHereIsNotJudged) {
  const tests::temporary_directory dir;
  const std::string path = dir / "password";
  std::ofstream(path) << "sesame\n";
  configuration s;
  s.store = "etcd";
  s.secure = {.key_file = "/nowhere/key", .password_file = path};
  s.origins[static_cast<std::size_t>(setting::password_file)] = {source::flag, "--password-file"};
  EXPECT_EQ(shown(problems_here(s)), "");
  ASSERT_EQ(::chmod(path.c_str(), 0666), 0);
  EXPECT_THAT(shown(problems_here(s)), testing::StartsWith("--password-file: password_file: "));
  EXPECT_THAT(shown(problems_here(s)), HasSubstr("run `chmod go-w` on it"));
  EXPECT_THAT(shown(problems_here(s)), Not(HasSubstr("sesame")));
}

TEST(Surroundings, AFileThatIsTooLargeIsNotReadToItsEnd) {
  const tests::temporary_directory dir;
  const std::string path = dir / "large.yaml";
  std::ofstream(path) << std::string(max_file_bytes, '#');
  EXPECT_TRUE(read_file(path));
  std::filesystem::resize_file(path, std::uintmax_t{1} << 40U);  // sparse
  EXPECT_THAT(render(read_file(path).error()), HasSubstr("it has more than 1048576 bytes"));
}

TEST(Surroundings, OnlyVariablesOfOursAreTaken) {
  ASSERT_EQ(::setenv("TENURE_TEST_VARIABLE", "a=b", 1), 0);
  ASSERT_EQ(::setenv("OTHER_TEST_VARIABLE", "secret", 1), 0);
  const auto variables = environment();
  EXPECT_THAT(variables, Contains(Pair("TENURE_TEST_VARIABLE", "a=b")));
  EXPECT_THAT(variables, Not(Contains(Pair("OTHER_TEST_VARIABLE", "secret"))));
  ::unsetenv("TENURE_TEST_VARIABLE");
  ::unsetenv("OTHER_TEST_VARIABLE");
}

class Pod : public testing::Test {
 public:
  Pod() {
    ::setenv("KUBERNETES_SERVICE_HOST", "10.96.0.1", 1);
    ::setenv("KUBERNETES_SERVICE_PORT", "443", 1);
    std::ofstream(folder_ / "token") << "secret";
    std::ofstream(folder_ / "namespace") << "team\n";
  }
  ~Pod() override {
    ::unsetenv("KUBERNETES_SERVICE_HOST");
    ::unsetenv("KUBERNETES_SERVICE_PORT");
  }

 protected:
  const tests::temporary_directory folder_;
};

TEST_F(Pod, KnowsItsApiServerAndItsNamespace) {
  const auto found = this_pod(folder_ / "");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->endpoint, "https://10.96.0.1:443");
  EXPECT_EQ(found->folder, folder_ / "");
  EXPECT_EQ(found->name_space, "team");
}

TEST_F(Pod, WithAnIpv6AddressWritesItInBrackets) {
  ::setenv("KUBERNETES_SERVICE_HOST", "fd00::1", 1);
  const auto found = this_pod(folder_ / "");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->endpoint, "https://[fd00::1]:443");
}

TEST_F(Pod, MayNotSayItsNamespace) {
  std::filesystem::remove(folder_ / "namespace");
  const auto found = this_pod(folder_ / "");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->name_space, "");
}

TEST_F(Pod, WithoutATokenOrAnAddressIsNotUsed) {
  ::setenv("KUBERNETES_SERVICE_PORT", "", 1);
  EXPECT_FALSE(this_pod(folder_ / ""));
  ::unsetenv("KUBERNETES_SERVICE_PORT");
  EXPECT_FALSE(this_pod(folder_ / "")) << "Kubernetes sets both";
  ::setenv("KUBERNETES_SERVICE_PORT", "443", 1);
  EXPECT_TRUE(this_pod(folder_ / ""));
  std::filesystem::remove(folder_ / "token");
  EXPECT_FALSE(this_pod(folder_ / "")) << "its ServiceAccount is not mounted";
}

TEST(Surroundings, OfTheFilesOfKubectlTheFirstThatExistsCounts) {
  const tests::temporary_directory dir;
  const auto named = [](const std::string& list) {
    ::setenv("KUBECONFIG", list.c_str(), 1);
    const auto found = kubeconfig_of_environment();
    ::unsetenv("KUBECONFIG");
    return found ? found->path + " of " + std::to_string(found->listed) : "none";
  };
  ::unsetenv("KUBECONFIG");
  EXPECT_FALSE(kubeconfig_of_environment());
  EXPECT_EQ(named(""), "none");
  EXPECT_EQ(named("/none"), "/none of 1");
  std::ofstream(dir / "a") << "a";
  std::ofstream(dir / "b") << "b";
  const std::string a = dir / "a";
  const std::string b = dir / "b";
  EXPECT_EQ(named("/none:" + a + "::" + b), a + " of 3");
  EXPECT_EQ(named("/none:/nor"), "/none of 2");
}

TEST(Surroundings, AMachineHasAName) {
  EXPECT_FALSE(host_name().empty());
}

}  // namespace
}  // namespace tenure::config
