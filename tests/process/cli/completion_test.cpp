#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <ostream>

#include "harness.hpp"
#include "scripted_agent.hpp"
#include "terminal_of.hpp"

/// Real shells: the test types and presses Tab.
namespace tenure::tests {
namespace {

struct shell {
  std::string name;
  std::string path;
  std::vector<std::string> flags;  ///< ignore this machine's shell configuration
  std::string prepare;             ///< loads the completion
};

std::ostream& operator<<(std::ostream& out, const shell& s) {
  return out << s.name;
}

class Completion : public testing::TestWithParam<shell> {
 protected:
  void SetUp() override {
    if (::access(GetParam().path.c_str(), X_OK) != 0) {
      GTEST_SKIP() << GetParam().path << " is not installed";
    }
    agent_.becomes(R"("state":"active","members":[{"identity":"db-0"},{"identity":"db-1"}])");
    // A stand-in for the program that records its arguments: what the shell made of the keys.
    std::ofstream(in_ / "tenure") << "#!/bin/sh\ncase $1 in comple*) " << tenure_binary()
                                  << " \"$@\"; echo >> $HOME/completions; exit;; esac\n"
                                  << "printf '%s|' \"$@\" >> $HOME/calls\necho >> $HOME/calls\n";
    std::filesystem::permissions(in_ / "tenure", std::filesystem::perms::owner_all);
    std::ofstream(in_ / "some-settings.yaml") << "store: sqlite\n";
    std::vector<std::string> words{"env",
                                   "-i",
                                   "TERM=xterm",
                                   "HOME=" + in_.path().string(),
                                   "PATH=" + in_.path().string() + ":/usr/bin:/bin",
                                   "TENURE_API=" + agent_.api(),
                                   GetParam().path};
    words.insert(words.end(), GetParam().flags.begin(), GetParam().flags.end());
    tty_ = std::make_unique<terminal_of>(words, 200);
    ASSERT_TRUE(type("cd; " + GetParam().prepare)) << tty_->shown();
    called("ready");
  }

  bool takes_keys() {
    return eventually([&] {
      tty_->shown();
      return tty_->takes_keys();
    });
  }

  /// What the stand-in has written there.
  std::vector<std::string> lines_of(const std::string& name) {
    std::vector<std::string> out;
    std::ifstream file(in_ / name);
    for (std::string line; std::getline(file, line);) out.push_back(line);
    return out;
  }

  /// A line at the prompt. Like a person, who looks at what a Tab has brought: fish 4 may lose a
  /// key that comes while it asks.
  bool type(const std::string& keys) {
    std::string rest = keys + "\n";
    while (!rest.empty()) {
      if (!takes_keys()) return false;
      const std::size_t tab = rest.find('\t');
      const std::size_t asked = lines_of("completions").size();
      tty_->type(rest.substr(0, tab == std::string::npos ? tab : tab + 1));
      rest.erase(0, tab == std::string::npos ? tab : tab + 1);
      if (tab != std::string::npos && !eventually([&] {
            tty_->shown();
            return lines_of("completions").size() > asked;
          })) {
        return false;
      }
    }
    return true;
  }

  /// The program's arguments after its name, these keys and Enter were typed.
  std::string called(const std::string& keys) {
    EXPECT_TRUE(type("tenure " + keys)) << tty_->shown();
    ++calls_;
    std::vector<std::string> lines;
    EXPECT_TRUE(eventually([&] {
      tty_->shown();
      lines = lines_of("calls");
      return lines.size() >= calls_;
    })) << keys
        << ":\n"
        << tty_->shown();
    return lines.empty() ? "" : lines.back();
  }

  temporary_directory in_;
  scripted_agent agent_;
  std::unique_ptr<terminal_of> tty_;
  std::size_t calls_ = 0;
};

TEST_P(Completion, GivesTheShellWhatTheTablesAndTheAgentKnow) {
  EXPECT_EQ(called("resu\t"), "resume|") << tty_->shown();
  EXPECT_EQ(called("resi\t\t"), "resign|db|") << "the only election of the agent\n"
                                              << tty_->shown();
  EXPECT_EQ(called("history --li\t5"), "history|--limit|5|");
  EXPECT_EQ(called("agent --on-lost s\t"), "agent|--on-lost|standby|");
  EXPECT_EQ(called("agent --on-lost=s\t"), "agent|--on-lost=standby|");
  EXPECT_EQ(called("wait --for ho\tdb-1"), "wait|--for|holder=db-1|") << "no blank behind the =";
  EXPECT_EQ(called("check some\t"), "check|some-settings.yaml|");
}

INSTANTIATE_TEST_SUITE_P(In, Completion,
                         testing::Values(shell{.name = "bash",
                                               .path = "/bin/bash",
                                               .flags = {"--norc", "--noprofile", "-i"},
                                               .prepare = "source <(tenure completion bash)"},
                                         shell{.name = "zsh",
                                               .path = "/usr/bin/zsh",
                                               .flags = {"-f", "-i"},
                                               .prepare = "autoload -U compinit; compinit -u; "
                                                          "source <(tenure completion zsh)"},
                                         shell{.name = "fish",
                                               .path = "/usr/bin/fish",
                                               .flags = {"--no-config", "-i"},
                                               .prepare = "tenure completion fish | source"}),
                         [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace tenure::tests
