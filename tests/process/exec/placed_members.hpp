#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <utility>

#include "harness.hpp"
#include "places.hpp"

namespace tenure::tests {

/// True once an answer of `whom` contains this.
inline bool comes_to_say(const member& whom, const std::string& path, const std::string& what) {
  return eventually([&] { return whom.get(path).contains(what); });
}

/// A test of members that compete in the store of one place. A derived `SetUp` calls this one, and
/// returns if the test is skipped.
class PlacedMembers : public testing::TestWithParam<place> {
 protected:
  void SetUp() override {
    if (!GetParam().missing().empty()) GTEST_SKIP() << GetParam().missing();
    store_ = make_placed_store(GetParam(), in_);
  }

  std::unique_ptr<member> member_of_store(member::options how) {
    how.store = GetParam().kind;
    how.endpoint = store_->endpoint();
    return std::make_unique<member>(in_, how);
  }

  temporary_directory in_;
  std::unique_ptr<placed_store> store_;
};

}  // namespace tenure::tests
