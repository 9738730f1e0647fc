#include "stores/records/agreement_text.hpp"

#include <gtest/gtest.h>

namespace tenure::stores {
namespace {

TEST(EtcdAgreement, IsReadAsItWasWritten) {
  for (const core::agreement& one :
       {core::agreement{.slots = 1}, core::agreement{.slots = 3,
                                                     .versions_from = core::version{812},
                                                     .accepted_unix_ms = 1'700'000'000'000}}) {
    EXPECT_EQ(parse_agreement(agreement_text(one)), one) << agreement_text(one);
  }
}

TEST(EtcdAgreement, WhatALaterReleaseAddsIsSkipped) {
  EXPECT_EQ(parse_agreement("slots=2 colour=blue"), core::agreement{.slots = 2});
}

TEST(EtcdAgreement, WhatIsNoneAgreesUponNothing) {
  for (const char* text : {"", "2", "slots", "slots=", "slots=0", "slots=-1", "slots=x",
                           "slots=4294967296", "slots=1 versions_from=x", "colour=blue"}) {
    EXPECT_EQ(parse_agreement(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace tenure::stores
