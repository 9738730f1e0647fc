#include "etcd_scene.hpp"

#include <boost/asio/steady_timer.hpp>
#include <charconv>
#include <fstream>
#include <optional>
#include <utility>

#include "base/base64.hpp"
#include "stores/etcd/codec.hpp"
#include "stores/etcd/layout.hpp"

namespace tenure::tests {
namespace {

using base::to_base64;

/// Between looks at what no handler of the loop tells of.
constexpr auto between_looks = std::chrono::milliseconds(5);

template <class Outcome, class Call>
Outcome answer_of(loop& where, Call call) {
  const auto answer = std::make_shared<std::optional<Outcome>>();
  call([answer](Outcome outcome) { answer->emplace(std::move(outcome)); });
  EXPECT_TRUE(where.run_until([&] { return answer->has_value(); })) << "no answer";
  return answer->has_value() ? std::move(**answer) : Outcome(stores::unknown{"no answer"});
}

std::string quoted(const std::string& bytes) {
  return '"' + to_base64(bytes) + '"';
}

}  // namespace

std::string words(const std::expected<stores::description, stores::open_error>& outcome) {
  return outcome ? "open" : "error: " + outcome.error().text;
}

std::string warnings_of(const std::expected<stores::description, stores::open_error>& outcome) {
  std::string all;
  if (!outcome) return all;
  for (const std::string& one : outcome->warnings) all += one + "\n";
  return all;
}

bool etcd_scene::eventually(const std::function<bool()>& condition) {
  boost::asio::steady_timer look(loop_.context());
  std::function<void()> again = [&] {
    look.expires_after(between_looks);
    look.async_wait([&](boost::system::error_code canceled) {
      if (!canceled) again();
    });
  };
  again();
  const bool came = loop_.run_until(condition);
  look.cancel();
  loop_.context().poll();
  return came;
}

void password_file::write(const std::string& password) const {
  std::ofstream(folder / "password") << password << "\n";
}

stores::setup password_file::of(const std::string& user, stores::setup with) const {
  with.secure.user = user;
  with.secure.password_file = folder / "password";
  return with;
}

stores::setup etcd_scene::settings(const std::string& identity, std::vector<std::string> endpoints,
                                   core::duration ttl, std::uint32_t elections) {
  stores::setup made = settings_for("etcd", "", identity, ttl, 1, elections);
  made.endpoints = std::move(endpoints);
  return made;
}

std::unique_ptr<member> etcd_scene::join(const stores::setup& with) {
  auto made = std::make_unique<member>(loop_, with);
  const auto opened = made->open();
  EXPECT_TRUE(opened) << opened.error().text;
  return made;
}

std::vector<core::renewal_item> etcd_scene::hold_all(member& who, std::uint32_t elections) {
  const auto terms = std::make_shared<std::vector<core::renewal_item>>();
  for (std::uint32_t i = 0; i < elections; ++i) {
    who->acquire(core::election_index{i}, core::no_version, soon(),
                 [terms, i](const stores::acquire_outcome& what) {
                   const auto* got = std::get_if<stores::grant>(&what);
                   ASSERT_NE(got, nullptr) << words(what);
                   terms->push_back({core::election_index{i}, got->version});
                 });
  }
  EXPECT_TRUE(loop_.run_until([&] { return terms->size() == elections; }));
  return *terms;
}

stores::renew_outcome etcd_scene::renew(member& who, core::version version, core::duration within) {
  return renew(who, {{.which = core::election_index{0}, .version = version}}, within);
}

stores::renew_outcome etcd_scene::renew(member& who, const std::vector<core::renewal_item>& terms,
                                        core::duration within) {
  return answer_of<stores::renew_outcome>(
      loop_, [&](auto done) { who->renew(terms, base::boot_now() + within, std::move(done)); });
}

stores::acquire_outcome etcd_scene::acquire(member& who, core::duration within,
                                            std::uint32_t which) {
  return answer_of<stores::acquire_outcome>(loop_, [&](auto done) {
    who->acquire(core::election_index{which}, core::no_version, base::boot_now() + within,
                 std::move(done));
  });
}

stores::release_outcome etcd_scene::release(member& who, core::version version,
                                            core::duration within) {
  return answer_of<stores::release_outcome>(loop_, [&](auto done) {
    who->release(core::election_index{0}, version, {.clean = true}, base::boot_now() + within,
                 std::move(done));
  });
}

bool etcd_scene::renews_until(member& who, core::version version,
                              const std::function<bool(const std::string&)>& good) {
  const core::time_point deadline = base::boot_now() + servers::patience;
  std::string last;
  while (base::boot_now() < deadline) {
    last = words(renew(who, version, renewal_time));
    if (good(last)) return true;
  }
  ADD_FAILURE() << "the last renewal ended as: " << last;
  return false;
}

// The operator ---------------------------------------------------------------------------------

void etcd_operator::erase(const std::string& key) const {
  cluster_.post("/v3/kv/deleterange", R"({"key":)" + quoted(key) + "}", member_);
}

void etcd_operator::erase_election(const std::string& name) const {
  cluster_.post("/v3/kv/deleterange",
                R"({"key":)" + quoted(name + "/") + R"(,"range_end":)" +
                    quoted(stores::etcd::prefix_end(name + "/")) + "}",
                member_);
}

void etcd_operator::put(const std::string& key, const std::string& value) const {
  cluster_.post("/v3/kv/put", R"({"key":)" + quoted(key) + R"(,"value":)" + quoted(value) + "}",
                member_);
}

void etcd_operator::revoke_lease_of(const std::string& key) const {
  const std::string id = key.substr(key.rfind('/') + 1);
  std::int64_t lease = 0;
  std::from_chars(id.data(), id.data() + id.size(), lease, 16);
  const auto done = stores::etcd::parse_revoke(
      cluster_.post("/v3/lease/revoke", stores::etcd::revoke_request(lease), member_));
  EXPECT_TRUE(done) << done.error().why;
}

std::vector<stores::etcd::key_value> etcd_operator::keys(const std::string& prefix) const {
  auto listed = stores::etcd::parse_range(
      cluster_.post("/v3/kv/range",
                    stores::etcd::range_request({.key = prefix,
                                                 .end = stores::etcd::prefix_end(prefix),
                                                 .by = stores::etcd::range::order::create_ascend}),
                    member_));
  EXPECT_TRUE(listed) << listed.error().why;
  return listed ? std::move(listed->values) : std::vector<stores::etcd::key_value>();
}

void etcd_operator::revoke_members(const std::string& election) const {
  const auto listed = keys(stores::etcd::member_prefix(election));
  ASSERT_FALSE(listed.empty());
  for (const auto& one : listed) revoke_lease_of(one.key);
}

std::uint64_t etcd_operator::revision() const {
  const auto read = stores::etcd::parse_range(
      cluster_.post("/v3/kv/range", stores::etcd::range_request({.key = "k", .end = {}}), member_));
  EXPECT_TRUE(read) << read.error().why;
  return read ? read->header.revision : 0;
}

void etcd_operator::compact() const {
  const std::string said = cluster_.post(
      "/v3/kv/compaction",
      R"({"revision":")" + std::to_string(revision()) + R"(","physical":true})", member_);
  EXPECT_NE(said.find("header"), std::string::npos) << said;
}

std::size_t etcd_operator::leases() const {
  const std::string all = cluster_.post("/v3/lease/leases", "{}", member_);
  std::size_t found = 0;
  for (auto at = all.find(R"("ID")"); at != std::string::npos; at = all.find(R"("ID")", at + 1)) {
    ++found;
  }
  return found;
}

void etcd_operator::add_user(const std::string& name, const std::string& password,
                             const std::string& from, const std::string& until, bool writes) const {
  cluster_.post("/v3/auth/user/add", R"({"name":")" + name + R"(","password":")" + password + "\"}",
                member_);
  cluster_.post("/v3/auth/role/add", R"({"name":")" + name + "\"}", member_);
  cluster_.post("/v3/auth/role/grant",
                R"({"name":")" + name + R"(","perm":{"permType":")" +
                    (writes ? "READWRITE" : "READ") + R"(","key":)" + quoted(from) +
                    R"(,"range_end":)" + quoted(until) + "}}",
                member_);
  cluster_.post("/v3/auth/user/grant", R"({"user":")" + name + R"(","role":")" + name + "\"}",
                member_);
}

std::string key_of(const stores::grant& what) {
  return what.sequencer.substr(0, what.sequencer.rfind('@'));
}

INSTANTIATE_TEST_SUITE_P(Servers, EtcdFault, testing::ValuesIn(servers::etcd_releases()),
                         [](const auto& one) { return one.param.name; });

}  // namespace tenure::tests
