#include "workload/run_record.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <sstream>
#include <string>
#include <utility>

#include "base/boot_time.hpp"
#include "support/eventually.hpp"
#include "support/temporary_directory.hpp"

namespace tenure::workload {
namespace {

using tests::eventually;
using tests::temporary_directory;

/// Null: there is none.
std::unique_ptr<run_record> open_in(const temporary_directory& in) {
  auto opened = open_run_record(in.path(), "db a");
  return opened ? std::move(*opened) : nullptr;
}

/// Precondition: there is one.
no_record obstacle_in(const temporary_directory& in) {
  return open_run_record(in.path(), "db a").error();
}

/// A guard and its agent, which does `what` and then waits. Both live until `kill_all`.
class other_run {
 public:
  explicit other_run(const std::function<bool()>& what) : guard_(::fork()) {
    if (guard_ != 0) return;
    if (::fork() == 0) {
      if (!what()) ::_exit(1);
    }
    while (true) ::pause();
  }
  ~other_run() { kill_all(); }
  other_run(const other_run&) = delete;
  other_run& operator=(const other_run&) = delete;

  void kill_agent() {
    find_agent();
    if (agent_ > 0) ::kill(agent_, SIGKILL);
  }
  void kill_guard() {
    if (guard_ <= 0) return;
    find_agent();
    ::kill(guard_, SIGKILL);
    ::waitpid(std::exchange(guard_, 0), nullptr, 0);
  }
  void kill_all() {
    kill_guard();
    kill_agent();
    // A process that was killed may take its time.
    const std::string agent = "/proc/" + std::to_string(agent_) + "/fd";
    ASSERT_TRUE(eventually([&] {
      std::error_code none;
      return std::filesystem::is_empty(agent, none) || none;
    }));
  }

 private:
  void find_agent() {
    const std::string id = std::to_string(guard_);
    if (guard_ > 0) std::ifstream("/proc/" + id + "/task/" + id + "/children") >> agent_;
  }

  pid_t guard_;
  pid_t agent_ = 0;
};

std::filesystem::path record_in(const temporary_directory& in) {
  for (const auto& one : std::filesystem::directory_iterator(in.path())) {
    if (one.path().extension() == ".run") return one.path();
  }
  return {};
}

std::string text_in(const temporary_directory& in) {
  std::ostringstream out;
  const auto path = record_in(in);
  if (!path.empty()) out << std::ifstream(path).rdbuf();
  return out.str();
}

/// Keeps a record in `in` for as long as it lives.
std::function<bool()> keeps(const temporary_directory& in, const std::string& session = "s1") {
  return [&in, session] {
    // Never destroyed: the process is killed.
    auto* const record = open_in(in).release();
    return record != nullptr && record->keep(session);
  };
}

/// With the value of this line changed.
void change(const temporary_directory& in, const std::string& name, const std::string& value) {
  std::istringstream from(text_in(in));
  std::ofstream to(record_in(in));
  for (std::string line; std::getline(from, line);) {
    to << (line.starts_with(name + " ") ? name + " " + value : line) << '\n';
  }
}

class RunRecord : public testing::Test {
 protected:
  /// A run has kept its record.
  void begin() {
    before_ = std::make_unique<other_run>(keeps(in_));
    ASSERT_TRUE(eventually([&] { return text_in(in_).ends_with("\nend\n"); }));
  }

  temporary_directory in_;
  std::unique_ptr<other_run> before_;
};

TEST_F(RunRecord, OfNobodyIsOurs) {
  const auto record = open_in(in_);
  ASSERT_TRUE(record);
  EXPECT_EQ(record->before(), nullptr);
  EXPECT_TRUE(record->keep("s1"));
  EXPECT_TRUE(text_in(in_).contains("\nsession s1\n"));
  EXPECT_TRUE(record->keep("s2"));
  EXPECT_TRUE(text_in(in_).contains("\nsession s2\n"));
  record->erase();
  EXPECT_TRUE(record_in(in_).empty());
  EXPECT_FALSE(record->keep("s3")) << "it is gone";
}

TEST_F(RunRecord, OfAKilledRunNamesItsSession) {
  begin();
  before_->kill_all();
  const auto record = open_in(in_);
  ASSERT_TRUE(record);
  ASSERT_NE(record->before(), nullptr);
  EXPECT_EQ(record->before()->session, "s1");
  EXPECT_FALSE(record->before()->left->in_sight());
  EXPECT_EQ(record->before()->left->kill_all(), guard::remains::nothing);
}

TEST_F(RunRecord, IsNotUsedWhileItsGuardOrItsAgentLives) {
  begin();
  EXPECT_EQ(obstacle_in(in_), no_record::in_use) << "both live";
  before_->kill_agent();
  EXPECT_EQ(obstacle_in(in_), no_record::in_use) << "it may start another agent";
  EXPECT_TRUE(text_in(in_).contains("\nsession s1\n"));
  before_->kill_all();
  EXPECT_TRUE(open_in(in_));
}

TEST_F(RunRecord, IsNotUsedWhileItsAgentLivesWithoutItsGuard) {
  begin();
  before_->kill_guard();
  EXPECT_EQ(obstacle_in(in_), no_record::in_use);
}

TEST_F(RunRecord, IsOneForTwoThatComeAtATime) {
  begin();
  before_->kill_all();
  const auto first = open_in(in_);
  ASSERT_TRUE(first);
  EXPECT_EQ(obstacle_in(in_), no_record::in_use);
  EXPECT_TRUE(first->keep("s1"));
}

TEST_F(RunRecord, OfAnotherBootOrStoreIsWrittenOver) {
  begin();
  before_->kill_all();
  change(in_, "boot", "0b50edc9-0000-0000-0000-000000000000");
  {
    const auto record = open_in(in_);
    ASSERT_TRUE(record);
    EXPECT_EQ(record->before(), nullptr);
  }
  change(in_, "boot", base::boot_id());
  EXPECT_NE(open_in(in_)->before(), nullptr);
  change(in_, "member", "another");
  const auto record = open_in(in_);
  ASSERT_TRUE(record);
  EXPECT_EQ(record->before(), nullptr);
}

/// The ids of its processes mean nothing to us.
TEST_F(RunRecord, OfAnotherNamespaceOfProcessesIsLeftAlone) {
  begin();
  before_->kill_all();
  change(in_, "processes", "1");
  EXPECT_EQ(obstacle_in(in_), no_record::unusable);
  EXPECT_TRUE(text_in(in_).contains("\nsession s1\n"));
}

/// Another process may have the guard's id by now.
TEST_F(RunRecord, OfAGuardWhoseIdIsInUseAgainIsOver) {
  begin();
  before_->kill_all();
  change(in_, "guard", std::to_string(::getpid()) + " 1");
  const auto record = open_in(in_);
  ASSERT_TRUE(record);
  EXPECT_NE(record->before(), nullptr);
}

TEST_F(RunRecord, ThatIsNotWholeIsOfNobody) {
  begin();
  before_->kill_all();
  const std::string whole = text_in(in_);
  for (std::size_t size = 0; size + 1 < whole.size(); size += 7) {
    std::ofstream(record_in(in_)) << whole.substr(0, size);
    const auto record = open_in(in_);
    ASSERT_TRUE(record) << size;
    EXPECT_EQ(record->before(), nullptr) << size;
  }
}

TEST_F(RunRecord, IsNotOpenedInADirectoryOfOthers) {
  std::filesystem::permissions(in_.path(), std::filesystem::perms::all);
  EXPECT_EQ(obstacle_in(in_), no_record::unusable);
}

/// What has left its group is found by its mark, of whichever term.
TEST_F(RunRecord, FindsWhatItsWorkloadsHaveLeft) {
  begin();
  before_->kill_all();
  const pid_t left = ::fork();
  if (left == 0) {
    ::setsid();
    ::execle("/bin/sleep", "sleep", "1000", nullptr,
             std::to_array<const char*>({"TENURE_RUN=s1.7", nullptr}).data());
    ::_exit(127);
  }
  const pid_t other = ::fork();
  if (other == 0) {
    ::execle("/bin/sleep", "sleep", "1000", nullptr,
             std::to_array<const char*>({"TENURE_RUN=s12.7", nullptr}).data());
    ::_exit(127);
  }
  const auto has_environment = [](pid_t pid) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/environ");
    return std::string(std::istreambuf_iterator<char>(file), {}).starts_with("TENURE_RUN=s1");
  };
  ASSERT_TRUE(eventually([&] { return has_environment(left) && has_environment(other); }));
  const auto record = open_in(in_);
  ASSERT_TRUE(record && record->before() != nullptr);
  guard::visible_workload& its = *record->before()->left;
  EXPECT_EQ(its.kill_all(), guard::remains::something);
  int status = 0;
  EXPECT_EQ(::waitpid(left, &status, 0), left);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  EXPECT_TRUE(eventually([&] { return its.kill_all() == guard::remains::nothing; }));
  EXPECT_EQ(::waitpid(other, nullptr, WNOHANG), 0) << "it is of another session";
  ::kill(other, SIGKILL);
  ::waitpid(other, nullptr, 0);
}

}  // namespace
}  // namespace tenure::workload
