// A process that acquires and releases one lease for ever, and writes down when. The tests run
// several of them at once and compare what they have written.
//
//   contender KIND ENDPOINT IDENTITY TTL_MS [polite|keep|- [CA_FILE TOKEN_FILE NAMESPACE]]
//
// prints `+ VERSION NANOSECONDS` once it holds and `- VERSION NANOSECONDS` before it releases.
// A polite one lets somebody else have the lease in between; one that keeps it stays as it is after
// the first line. Ends with the first surprise.

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <variant>

#include "base/boot_time.hpp"
#include "http/asio_loop.hpp"
#include "stores/store.hpp"

namespace tenure::tests {
namespace {

constexpr core::duration call_limit = std::chrono::seconds(10);
constexpr core::election_index the_election{0};

class contender {
 public:
  contender(boost::asio::io_context& loop, std::unique_ptr<stores::store> store,
            std::string_view manner)
      : store_(std::move(store)),
        retry_(loop),
        polite_(manner == "polite"),
        keeps_(manner == "keep") {}

  void begin() {
    store_->open([this](auto opened) {
      if (!opened) fail(opened.error().text);
      store_->watch(the_election, [this](auto what) { saw(what); });
      acquire();
    });
  }

 private:
  [[noreturn]] static void fail(const std::string& why) {
    std::fprintf(stderr, "contender: %s\n", why.c_str());
    std::exit(1);
  }

  static void note(char what, core::version version) {
    const auto now = base::boot_now().time_since_epoch().count();
    std::printf("%c %llu %lld\n", what, static_cast<unsigned long long>(core::number(version)),
                static_cast<long long>(now));
  }

  void acquire() {
    if (asking_) return;
    asking_ = true;
    freed_ = false;
    store_->acquire(the_election, highest_, base::boot_now() + call_limit, [this](auto outcome) {
      asking_ = false;
      if (auto* got = std::get_if<stores::grant>(&outcome)) return hold(got->version);
      if (auto* failed = std::get_if<stores::unknown>(&outcome)) fail(failed->why);
      const core::observation& seen = std::get<stores::refusal>(outcome).seen;
      freed_ ? acquire() : wait_until(seen.retry_at);
    });
  }

  void hold(core::version version) {
    note('+', version);
    if (version <= highest_) fail("a version did not grow");
    highest_ = version;
    held_ = version;
    if (keeps_) {
      std::fflush(stdout);
      return;
    }
    store_->renew({{the_election, version}}, base::boot_now() + call_limit, [this](auto outcome) {
      auto* renewed = std::get_if<stores::renewal>(&outcome);
      if (renewed == nullptr) fail(std::get<stores::unknown>(outcome).why);
      if (!renewed->lost.empty()) fail("a held lease was lost");
      release();
    });
  }

  void release() {
    note('-', held_);
    store_->release(the_election, held_, {.clean = true}, base::boot_now() + call_limit,
                    [this](auto outcome) {
                      if (auto* failed = std::get_if<stores::unknown>(&outcome)) fail(failed->why);
                      std::fflush(stdout);
                      held_ = core::no_version;
                      // What was shown meanwhile counts now.
                      polite_ ? saw(last_) : acquire();
                    });
  }

  void saw(const std::variant<core::observation, stores::unknown>& what) {
    if (auto* broken = std::get_if<stores::unknown>(&what)) fail(broken->why);
    const auto& seen = std::get<core::observation>(what);
    last_ = seen;
    if (held_ != core::no_version) return;
    if (!seen.holders.empty()) return wait_until(seen.retry_at);
    if (polite_ && seen.as_of <= highest_) return;
    freed_ = true;
    acquire();
  }

  void wait_until(core::time_point when) {
    if (when == core::never) return;
    retry_.expires_after(when - base::boot_now());
    retry_.async_wait([this](auto error) {
      if (!error && held_ == core::no_version) acquire();
    });
  }

  std::unique_ptr<stores::store> store_;
  boost::asio::steady_timer retry_;
  bool polite_;
  bool keeps_;
  core::observation last_;
  bool asking_ = false;
  bool freed_ = false;
  core::version highest_ = core::no_version;
  core::version held_ = core::no_version;
};

int run(int count, char** words) {
  if (count < 5) return 2;
  stores::setup with;
  with.kind = words[1];
  with.endpoints = {words[2]};
  with.identity = words[3];
  with.session = std::string("session of ") + words[3];
  with.ttl = std::chrono::milliseconds(std::atoll(words[4]));
  with.elections = {{.name = "db0", .slots = 1}};
  if (count > 8) {
    with.secure.ca_file = words[6];
    with.secure.token_file = words[7];
    with.name_space = words[8];
  }
  boost::asio::io_context loop;
  http::asio_loop events(loop.get_executor());
  auto store = stores::make_store(events, with);
  if (!store) return 2;
  contender one(loop, std::move(*store), count > 5 ? words[5] : "");
  one.begin();
  loop.run();
  return 0;
}

}  // namespace
}  // namespace tenure::tests

int main(int count, char** words) {
  return tenure::tests::run(count, words);
}
