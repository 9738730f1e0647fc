#include "support.hpp"

namespace tenure::config::test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using tests::expect_golden;

TEST(Target, ThereIsNoneByDefaultAndNothingOfItIsShown) {
  const configuration s = good(minimal());
  EXPECT_FALSE(s.target.given());
  EXPECT_THAT(effective(s), AllOf(Not(HasSubstr("target_")), Not(HasSubstr("while_standby"))));
}

TEST(Target, IsStoppedOnAStandbyUnlessItIsToRun) {
  const configuration s = good(with_flags({{"--target-executable", "postgres"}}));
  EXPECT_EQ(s.target.by, settings::target::kind::executable);
  EXPECT_EQ(s.target.value, "postgres");
  EXPECT_EQ(s.target.while_standby, settings::on_standby::stop);
  EXPECT_EQ(s.target.on_gain, settings::on_gain::nothing);
  EXPECT_EQ(s.target.gain_signal, 0);
  EXPECT_THAT(effective(s),
              HasSubstr("\ntarget_executable: postgres         # --target-executable\n"
                        "while_standby: stop                 # default\n"
                        "on_gain: nothing                    # default\n"));
}

TEST(Target, MayLearnByASignalThatItIsActive) {
  const configuration s =
      good(with_file("target_pid_file: /run/app.pid\nwhile_standby: run\non_gain: signal\n"
                     "gain_signal: SIGCONT\n"));
  EXPECT_EQ(s.target.by, settings::target::kind::pid_file);
  EXPECT_EQ(s.target.value, "/run/app.pid");
  EXPECT_EQ(s.target.while_standby, settings::on_standby::run);
  EXPECT_EQ(signal_name(s.target.gain_signal), "CONT");
  EXPECT_THAT(s.warnings, IsEmpty());
}

TEST(Target, AndGuardMayBelongToANamedUser) {
  const configuration s = good(with_file("target_pid_file: /run/app.pid\ntarget_uid: 1000\n"));
  EXPECT_EQ(s.target.uid, 1000U);
  EXPECT_THAT(effective(s), HasSubstr("\ntarget_uid: 1000"));
  const configuration guarded = good(with_file("guard_dir: /run/tenure\nguard_uid: 0\n"));
  EXPECT_EQ(guarded.guard_uid, 0U);
  EXPECT_THAT(effective(guarded), HasSubstr("\nguard_uid: 0"));
  expect_golden(problems_of(with_flags({{"--target-uid", "1000"}})));
  expect_golden(problems_of(with_flags({{"--guard-uid", "1000"}})));
}

TEST(Target, IsFoundInOneWay) {
  expect_golden(problems_of(with_flags({{"--target-executable", "app"},
                                        {"--target-command-line", "app --all"},
                                        {"--target-pid-file", "/run/app.pid"}})));
}

TEST(Target, IsWhatItsSettingsAreFor) {
  expect_golden(problems_of(with_flags({{"--while-standby", "stop"}})));
  expect_golden(problems_of(with_flags({{"--while-standby", "run"}, {"--target-executable", ""}})));
}

TEST(Target, ASignalNeedsAWorkloadThatRunsAndOneThatIsSent) {
  expect_golden(problems_of(with_file("target_executable: app\non_gain: signal\n")));
  expect_golden(problems_of(with_file("target_executable: app\ngain_signal: USR1\n")));
  expect_golden(problems_of(with_file("target_executable: app\ngain_signal: KILL\n")));
}

TEST(Target, ThatRunsAndIsToldNothingIsAcceptedWithAWarning) {
  const configuration s =
      good(with_flags({{"--target-executable", "app"}, {"--while-standby", "run"}}));
  ASSERT_EQ(s.warnings.size(), 1U);
  EXPECT_EQ(render(s.warnings.front()),
            "--while-standby: while_standby is run, and nothing tells the workload that it is "
            "active; give on_gain signal, or gain_http, gain_command or gain_file, unless it asks "
            "the API");
}

TEST(Target, BelongsToOneElectionInWhichWeTakePart) {
  expect_golden(problems_of(with_flags({{"--target-executable", "app"}, {"--election", "other"}})));
  expect_golden(problems_of(with_flags({{"--target-executable", "app"}, {"--observe", "true"}})));
}

TEST(Target, AProgramIsAnAbsolutePathOrAName) {
  for (const char* good_one : {"/usr/bin/app", "app", "app-2.1", "my app", "/srv/my app"}) {
    EXPECT_THAT(problems_of(with_flags({{"--target-executable", good_one}})), IsEmpty());
  }
  struct row {
    const char* text;
    const char* message;
  };
  for (const row& r : {row{"", "is empty"}, row{"./app", "depends on a directory to begin in"},
                       row{"bin/app", "depends on a directory to begin in"},
                       row{"/usr/bin/", "which is a directory"}, row{"/", "which is a directory"},
                       row{"a\nb", "control character"}}) {
    EXPECT_THAT(problems_of(with_flags({{"--target-executable", r.text}})),
                ElementsAre(HasSubstr(r.message)))
        << r.text;
  }
}

TEST(Target, ACommandLineIsOneLineAsPsShowsIt) {
  EXPECT_THAT(problems_of(with_file("target_command_line: python3 -m orders\n")), IsEmpty());
  struct row {
    const char* text;
    const char* message;
  };
  for (const row& r : {row{"''", "is empty"}, row{"' app'", "begins or ends with a blank"},
                       row{"|\n  app\n", "such as the end of a line"},
                       row{"[python3, -m]", "is a list; give one text, as ps -o args shows it"},
                       row{"5", "write it in quotes"}}) {
    EXPECT_THAT(problems_of(with_file("target_command_line: " + std::string(r.text) + "\n")),
                ElementsAre(HasSubstr(r.message)))
        << r.text;
  }
}

}  // namespace
}  // namespace tenure::config::test
