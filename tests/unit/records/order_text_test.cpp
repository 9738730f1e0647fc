#include "stores/records/order_text.hpp"

#include <gtest/gtest.h>

namespace tenure::stores {
namespace {

using namespace std::chrono_literals;

TEST(EtcdOrder, SaysWhoIsToDoWhatAndWhatItSaid) {
  core::left_order order{.id = "7f",
                         .wanted = {.what = core::order_action::transfer,
                                    .member = "db 0",
                                    .aside = 30s,
                                    .heir = "team/a*"},
                         .version = core::version{7}};
  EXPECT_EQ(order_text(order), "transfer db%200 7 30000000000 team/a%2A");
  EXPECT_EQ(parse_order("7f", order_text(order)), order);
  order.reply = core::order_reply{.accepted = true};
  EXPECT_EQ(order_text(order, "me"), "transfer db%200 7 30000000000 team/a%2A accepted me");
  EXPECT_EQ(parse_order("7f", order_text(order, "me")), order);
  order.reply = core::order_reply{
      .code = "not_holder", .message = "\"db 0\" does not hold\nit", .action = ""};
  EXPECT_EQ(parse_order("7f", order_text(order, "me")), order);
}

TEST(EtcdOrder, WhatIsNotThereIsAStar) {
  const core::left_order pause{.id = "1",
                               .wanted = {.what = core::order_action::pause, .member = "b"}};
  EXPECT_EQ(order_text(pause), "pause b 0 * *");
  EXPECT_EQ(parse_order("1", "pause b 0 * *"), pause);
}

TEST(EtcdOrder, WhateverElseIsThereIsNoOrder) {
  for (const char* text :
       {"", "pause", "pause b 0 *", "obey b 0 * *", "pause * 0 * *", "pause b x * *",
        "pause b 0 -1 *", "pause b 0 1s *", "pause b 0 * %", "pause b 0 * * accepted",
        "pause b 0 * * maybe me", "pause b 0 * * refused me code", "pause b 0 * * accepted me more",
        "pause b -1 * *", "pause  0 * *"}) {
    EXPECT_FALSE(parse_order("1", text)) << text;
  }
}

}  // namespace
}  // namespace tenure::stores
