#include "config/values.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/configuration.hpp"

namespace tenure::config {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

std::string render(const mistake& m) {
  return config::render(problem{"", m.what, m.suggestion});
}

TEST(Values, DurationsAreExact) {
  struct row {
    const char* text;
    core::duration expected;
  };
  for (const row& r : {
           row{"500ms", 500ms},
           row{"15s", 15s},
           row{"1.5s", 1500ms},
           row{"2m", 2min},
           row{"1h", 1h},
           row{"1m30s", 90s},
           row{"1h30m1.5s250ms", 1h + 30min + 1750ms},
           row{"0s", 0s},
           row{"0.000000001s", 1ns},
           row{"250us", 250us},
           row{"1000h", 1000h},
       }) {
    const auto parsed = parse_duration(r.text);
    ASSERT_TRUE(parsed) << r.text << " " << render(parsed.error());
    EXPECT_EQ(*parsed, r.expected) << r.text;
  }
}

TEST(Values, ABadDurationSaysWhatToWriteInstead) {
  struct row {
    const char* text;
    const char* message;
  };
  for (const row& r : {
           row{"15", R"(is "15", without a unit; say which unit: "15s")"},
           row{"1.5", R"(say which unit: "1.5s")"},
           row{"1m30", "without a unit"},
           row{"15 s", R"(with a blank in it; write "15s")"},
           row{"15sec", R"("sec" is not a unit; the units are h, m, s, ms and us)"},
           row{"15S", R"("S" is not a unit)"},
           row{"1d", R"("d" is not a unit)"},
           row{"", "is empty"},
           row{"s", "is not a duration"},
           row{"-5s", "less than nothing"},
           row{"+5s", "is not a duration"},
           row{".5s", "is not a duration"},
           row{"5.s", "is not a duration"},
           row{"1,5s", "is not a unit"},
           row{"30s1m", "out of order"},
           row{"1s1s", "out of order"},
           row{"1000h1us", "longer than anything here lasts"},
           row{"999999999h", "longer than anything here lasts"},
           row{"9999999999s", "is not a duration"},
           row{"99999999999999999999s", "is not a duration"},
       }) {
    const auto parsed = parse_duration(r.text);
    ASSERT_FALSE(parsed) << r.text;
    EXPECT_THAT(render(parsed.error()), HasSubstr(r.message)) << r.text;
  }
}

TEST(Values, PercentsArePartsPerMillion) {
  EXPECT_EQ(parse_percent("1%").value(), 10'000U);
  EXPECT_EQ(parse_percent("0.5%").value(), 5'000U);
  EXPECT_EQ(parse_percent("0.0001%").value(), 1U);
  EXPECT_EQ(parse_percent("0%").value(), 0U);
  EXPECT_THAT(render(parse_percent("1").error()), HasSubstr("write it as 1%"));
  EXPECT_THAT(render(parse_percent("1 %").error()), HasSubstr("write it as 1%"));
  for (const char* bad : {"", "%", "-1%", "1%%", "0.00001%", "101%", "9999999999%"}) {
    EXPECT_FALSE(parse_percent(bad)) << bad;
  }
}

TEST(Values, IntegersAreDigitsInTheirRange) {
  EXPECT_EQ(parse_integer("4294967294", 0, max_user_id).value(), max_user_id);
  EXPECT_FALSE(parse_integer("4294967295", 0, max_user_id));
  EXPECT_EQ(parse_integer("1", 1, 1000).value(), 1U);
  EXPECT_EQ(parse_integer("1000", 1, 1000).value(), 1000U);
  EXPECT_EQ(parse_integer("0", 0, 9).value(), 0U);
  EXPECT_EQ(render(parse_integer("1001", 1, 1000).error()),
            R"(is "1001", out of its range; give 1 to 1000)");
  for (const char* bad : {"", "0", "-1", "+1", "01", "1.0", "1e2", "0x1", " 1", "4294967297",
                          "99999999999999999999"}) {
    EXPECT_FALSE(parse_integer(bad, 1, 1000)) << bad;
  }
}

TEST(Values, IntegersMayBeBelowZeroWhereTheirRangeIs) {
  EXPECT_EQ(parse_integer("-5", -5, 5).value(), -5);
  EXPECT_EQ(parse_integer("0", -5, 5).value(), 0);
  EXPECT_EQ(render(parse_integer("-6", -5, 5).error()),
            R"(is "-6", out of its range; give -5 to 5)");
  EXPECT_EQ(render(parse_integer("-1", 1, 1000).error()),
            R"(is "-1", out of its range; give 1 to 1000)");
  EXPECT_EQ(render(parse_integer("-0", -5, 5).error()),
            R"(is "-0", which is not a whole number; give -5 to 5)");
  for (const char* bad : {"-", "--5", "-05", "+5", "5-", "- 5", "-5.0", "-99999999999999999999"}) {
    EXPECT_FALSE(parse_integer(bad, -5, 5)) << bad;
  }
}

TEST(Values, ListenAddresses) {
  struct row {
    const char* text;
    const char* host;
    std::uint16_t port;
    bool loopback;
  };
  for (const row& r : {
           row{"127.0.0.1:4040", "127.0.0.1", 4040, true},
           row{"127.8.9.10:0", "127.8.9.10", 0, true},
           row{"localhost:80", "127.0.0.1", 80, true},
           row{"0.0.0.0:65535", "0.0.0.0", 65535, false},
           row{"128.0.0.1:1", "128.0.0.1", 1, false},
           row{"[::1]:4040", "::1", 4040, true},
           row{"[::]:4040", "::", 4040, false},
           row{"[fe80::1]:1", "fe80::1", 1, false},
       }) {
    const auto parsed = parse_listen(r.text);
    ASSERT_TRUE(parsed) << r.text << " " << render(parsed.error());
    ASSERT_TRUE(parsed->has_value()) << r.text;
    EXPECT_EQ((*parsed)->host, r.host) << r.text;
    EXPECT_EQ((*parsed)->port, r.port) << r.text;
    EXPECT_EQ(settings::is_loopback((*parsed)->host), r.loopback) << r.text;
  }
  EXPECT_EQ(parse_listen("off").value(), std::nullopt);
  EXPECT_EQ(text(settings::listener{.at = parse_listen("[::1]:7").value()}), "[::1]:7");
  EXPECT_EQ(text(settings::listener{}), "off");
}

TEST(Values, ABadListenAddressSaysWhatToWriteInstead) {
  struct row {
    const char* text;
    const char* message;
  };
  for (const row& r : {
           row{"4040", "give 127.0.0.1:4040 for this machine or 0.0.0.0:4040 for all"},
           row{":4040", "give 127.0.0.1:4040 for this machine"},
           row{"*:4040", "0.0.0.0:4040 for all"},
           row{"::1:4040", "without brackets; write [::1]:4040"},
           row{"unix:/run/tenure.sock",
               "which is a Unix socket; give its path as the setting socket"},
           row{"http://127.0.0.1:4040", "which is a URL"},
           row{"127.0.0.1", "without a port"},
           row{"", "without a port"},
           row{"127.0.0.1:", "its port is not from 0 to 65535"},
           row{"127.0.0.1:65536", "its port is not from 0 to 65535"},
           row{"127.0.0.1:http", "its port is not from 0 to 65535"},
           row{"example.org:80", "names are not looked up"},
           row{"256.0.0.1:80", "is not an IP address"},
           row{"[127.0.0.1]:80", "is not an IPv6 address"},
           row{"[]:80", "is not an IPv6 address"},
       }) {
    const auto parsed = parse_listen(r.text);
    ASSERT_FALSE(parsed) << r.text;
    EXPECT_THAT(render(parsed.error()), HasSubstr(r.message)) << r.text;
  }
}

TEST(Values, ElectionNamesAreThoseThatAllStoresCanCarry) {
  for (const std::string& name :
       {std::string("db"), std::string("orders-db.leader"), std::string("service/db/leader"),
        std::string("Team_A/1"), std::string(253, 'a')}) {
    EXPECT_TRUE(parse_election_name(name)) << name;
  }
  for (const std::string& name :
       {std::string(), std::string("/db"), std::string("db/"), std::string("a//b"),
        std::string("."), std::string(".."), std::string("a/../b"), std::string("a/.lock"),
        std::string("-db"), std::string("my db"), std::string("a\nb"), std::string("a\0b", 3),
        std::string("caf\u00e9"), std::string("a?b"), std::string("a%2fb"),
        std::string(254, 'a')}) {
    EXPECT_FALSE(parse_election_name(name)) << quote(name);
  }
}

TEST(Values, EverySignalOfTheTableHasANumberAndBack) {
  for (const std::string_view name : field_of(setting::stop_signal).words) {
    EXPECT_EQ(signal_name(signal_number(name)), name);
  }
}

}  // namespace
}  // namespace tenure::config
