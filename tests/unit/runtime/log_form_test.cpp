#include "runtime/log_form.hpp"

#include <gtest/gtest.h>

namespace tenure::runtime {
namespace {

TEST(Log, IsLogfmtWhereNoTerminalReadsItUnlessAnotherFormWasAskedFor) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(form_of(settings::log_format::automatic), log::log_form::logfmt);
  EXPECT_EQ(form_of(settings::log_format::logfmt), log::log_form::logfmt);
  EXPECT_EQ(form_of(settings::log_format::json), log::log_form::json);
  EXPECT_EQ(form_of(settings::log_format::text), log::log_form::text) << "and no colours";
  testing::internal::GetCapturedStderr();
}

}  // namespace
}  // namespace tenure::runtime
