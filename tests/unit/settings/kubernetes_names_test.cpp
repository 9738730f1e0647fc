#include "settings/kubernetes_names.hpp"

#include <gmock/gmock.h>

namespace tenure::settings {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

TEST(KubernetesNames, AnElectionIsNamedAsALeaseMayBe) {
  for (const std::string& name :
       {std::string("db"), std::string("a"), std::string("7"), std::string("my-app.example"),
        std::string("a.b.c"), std::string("a--b"), std::string(63, 'a')}) {
    EXPECT_THAT(why_not_a_lease_name(name), IsEmpty()) << name;
  }
  EXPECT_THAT(why_not_a_lease_name(std::string(64, 'a')), HasSubstr("more than 63"));
  for (const char* name : {"", ".", "-", "a.", "-a", "a-", ".a", "a..b", "a.-b", "a-.b", "A", "a_b",
                           "a/b", "a b", "\xc3\xa4", "a:b"}) {
    EXPECT_FALSE(why_not_a_lease_name(name).empty()) << '"' << name << '"';
  }
  for (const char* name : {"", "a.", "a.b."}) {
    EXPECT_THAT(why_not_a_lease_name(name), HasSubstr("ends with a dot, or is empty")) << name;
  }
  for (const char* name : {".", "a..", "a-.", "A."}) {
    EXPECT_THAT(why_not_a_lease_name(name), HasSubstr("only small letters")) << name;
  }
}

TEST(KubernetesNames, AnElectionIsNotNamedAsALeaseOfAnotherOne) {
  for (const char* name : {"db.slot-1", "db.member-x", "a.slot-b.c"}) {
    EXPECT_THAT(why_not_a_lease_name(name), HasSubstr("is for Leases of other elections")) << name;
  }
  EXPECT_THAT(why_not_a_lease_name("slot-1.db-member-2"), IsEmpty());
}

}  // namespace
}  // namespace tenure::settings
