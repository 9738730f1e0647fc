#include "store_under_test.hpp"

namespace tenure::tests {
namespace {

class sqlite_under_test final : public store_under_test {
 public:
  [[nodiscard]] std::string kind() const override { return "sqlite"; }
  [[nodiscard]] std::string endpoint() const override { return directory_ / "leases.db"; }

  void delete_lock(const std::string& election) override {
    child shell(
        {FOREIGN_PROGRAM, endpoint(), "DELETE FROM lease WHERE election = '" + election + "'"});
    EXPECT_EQ(shell.wait(), 0);
  }

 private:
  temporary_directory directory_;
};

template <class Store>
std::unique_ptr<store_under_test> make() {
  return std::make_unique<Store>();
}

}  // namespace

std::vector<store_factory> all_stores() {
  return {{"sqlite", make<sqlite_under_test>}};
}

INSTANTIATE_TEST_SUITE_P(Stores, StoreContract, testing::ValuesIn(all_stores()),
                         [](const auto& one) { return one.param.name; });

}  // namespace tenure::tests
