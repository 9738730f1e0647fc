#include "stores/printable_store.hpp"

#include <algorithm>
#include <utility>

#include "base/printable_text.hpp"
#include "stores/sent_secrets.hpp"

namespace tenure::stores {
namespace {

/// 9999-12-31T23:59:59.999Z: RFC 3339 cannot express later times.
constexpr std::int64_t last_unix_ms = 253'402'300'799'999;

void clean(std::string& text) {
  text = base::printable(text);
}

void clean(core::order_reply& said) {
  clean(said.code);
  clean(said.message);
  clean(said.action);
}

void clean(core::member& one) {
  clean(one.identity);
  if (!one.says) return;
  one.says->since_unix_ms = std::clamp<std::int64_t>(one.says->since_unix_ms, 0, last_unix_ms);
  one.says->started_unix_ms = std::clamp<std::int64_t>(one.says->started_unix_ms, 0, last_unix_ms);
}

void clean(core::member_list& all) {
  std::vector<core::member> cleaned(all.begin(), all.end());
  std::ranges::for_each(cleaned, [](core::member& one) { clean(one); });
  all = std::move(cleaned);
}

void clean_all_but_members(core::observation& seen) {
  for (core::holder& one : seen.holders) clean(one.identity);
  if (seen.last_release) {
    clean(seen.last_release->holder);
    clean(seen.last_release->heir);
    std::int64_t& at = seen.last_release->at_unix_ms;
    if (at < 0 || at > last_unix_ms) at = 0;
  }
  for (core::left_order& one : seen.orders) {
    clean(one.wanted.heir);
    if (one.reply) clean(*one.reply);
  }
}

void clean(core::observation& seen) {
  clean_all_but_members(seen);
  if (seen.members) clean(*seen.members);
}

void clean(description& what) {
  clean(what.server_version);
  clean(what.cluster_id);
  std::ranges::for_each(what.warnings, [](std::string& one) { clean(one); });
}

void clean(unknown& what) {
  clean(what.why);
}
void clean(core::agreement&) {}
void clean(not_agreed& what) {
  clean(what.why);
}
void clean(refusal& what) {
  clean(what.seen);
}
/// The sequencer is the store's proof, and must reach the resource byte by byte.
void clean(grant&) {}
void clean(renewal& what) {
  for (unanswered_renewal& one : what.unanswered) clean(one.why);
}
void clean(released&) {}
void clean(order_written& what) {
  if (what.reply) clean(*what.reply);
}

/// Cleans what one watch shows. Most observations have the list of members of the one before.
class watch_cleaner {
 public:
  void clean(core::observation& seen) {
    clean_all_but_members(seen);
    if (!seen.members) return;
    if (raw_ != *seen.members) {
      raw_ = cleaned_ = *seen.members;
      stores::clean(cleaned_);
    }
    seen.members = cleaned_;
  }
  void clean(unknown& what) { stores::clean(what); }

 private:
  core::member_list raw_;
  core::member_list cleaned_;
};

using secrets_ptr = std::shared_ptr<const sent_secrets>;

/// Hides secrets where a store says what a server has said; names are not such text.
template <class What>
void hide(What& what, const sent_secrets& sent) {
  if constexpr (requires { what.why = sent.hide(std::move(what.why)); }) {
    what.why = sent.hide(std::move(what.why));
  }
  if constexpr (requires { what.text; }) what.text = sent.hide(std::move(what.text));
  if constexpr (requires { what.unanswered; }) {
    for (unanswered_renewal& one : what.unanswered) hide(one, sent);
  }
  if constexpr (requires { what.warnings; }) {
    for (std::string& one : what.warnings) one = sent.hide(std::move(one));
    what.server_version = sent.hide(std::move(what.server_version));
  }
}

class printable_store final : public store {
 public:
  printable_store(std::unique_ptr<store> of, secrets_ptr sent)
      : of_(std::move(of)), sent_(std::move(sent)) {}

  void open(handler<std::expected<description, open_error>> done) override {
    of_->open([done = std::move(done),
               sent = sent_](std::expected<description, open_error> came) mutable {
      if (came) {
        clean(*came);
        hide(*came, *sent);
      } else {
        clean(came.error().text);
        hide(came.error(), *sent);
      }
      done(std::move(came));
    });
  }

  [[nodiscard]] description describe() const override {
    description out = of_->describe();
    clean(out);
    hide(out, *sent_);
    return out;
  }

  void acquire(core::election_index which, core::version above, core::time_point deadline,
               handler<acquire_outcome> done) override {
    of_->acquire(which, above, deadline, cleaned(std::move(done)));
  }

  void renew(std::vector<core::renewal_item> items, core::time_point deadline,
             handler<renew_outcome> done) override {
    of_->renew(std::move(items), deadline, cleaned(std::move(done)));
  }

  void release(core::election_index which, core::version version, release_details how,
               core::time_point deadline, handler<release_outcome> done) override {
    of_->release(which, version, std::move(how), deadline, cleaned(std::move(done)));
  }

  void end_term(core::election_index which, const core::holder& whose, release_details how,
                core::time_point deadline, handler<release_outcome> done) override {
    of_->end_term(which, whose, std::move(how), deadline, cleaned(std::move(done)));
  }

  void read(core::election_index which, core::time_point deadline,
            handler<read_outcome> done) override {
    of_->read(which, deadline, cleaned(std::move(done)));
  }

  void watch(core::election_index which, watch_handler seen) override {
    of_->watch(which,
               [seen = std::move(seen), sent = sent_, cleaner = std::make_shared<watch_cleaner>()](
                   std::variant<core::observation, unknown> what) {
                 std::visit([&](auto& one) { cleaner->clean(one); }, what);
                 if (auto* const broke = std::get_if<unknown>(&what)) hide(*broke, *sent);
                 seen(std::move(what));
               });
  }

  void accept_versions(core::election_index which, core::time_point deadline,
                       handler<agree_outcome> done) override {
    of_->accept_versions(which, deadline, cleaned(std::move(done)));
  }

  void leave_order(core::election_index which, core::left_order what, core::time_point deadline,
                   handler<order_outcome> done) override {
    of_->leave_order(which, std::move(what), deadline, cleaned(std::move(done)));
  }

  void answer_order(core::election_index which, const std::string& id, core::order_reply reply,
                    core::time_point deadline, handler<order_outcome> done) override {
    of_->answer_order(which, id, std::move(reply), deadline, cleaned(std::move(done)));
  }

  void drop_order(core::election_index which, const std::string& id, core::time_point deadline,
                  handler<order_outcome> done) override {
    of_->drop_order(which, id, deadline, cleaned(std::move(done)));
  }

  void announce(core::election_index which, const core::readiness& says) override {
    of_->announce(which, says);
  }

  bool hear(const core::word& what) override { return of_->hear(what); }
  void stand_in_line(core::election_index which, bool stands) override {
    of_->stand_in_line(which, stands);
  }
  void leave(core::time_point deadline, handler<release_outcome> done) override {
    of_->leave(deadline, cleaned(std::move(done)));
  }

  void close() override { of_->close(); }

 private:
  template <class Outcome>
  handler<Outcome> cleaned(handler<Outcome> done) const {
    return [done = std::move(done), sent = sent_](Outcome came) mutable {
      std::visit(
          [&](auto& one) {
            clean(one);
            hide(one, *sent);
          },
          came);
      done(std::move(came));
    };
  }

  std::unique_ptr<store> of_;
  secrets_ptr sent_;
};

}  // namespace

std::expected<std::unique_ptr<store>, open_error> make_printable_store(setup with,
                                                                       const store_maker& make) {
  const secrets_ptr sent = with.sent;
  if (with.hears) {
    with.hears = [of = std::move(with.hears), sent](core::contact_event what) {
      if (auto* const failed = std::get_if<core::contact::failed>(&what)) {
        clean(failed->why);
        hide(*failed, *sent);
      }
      of(what);
    };
  }
  if (with.notes) {
    with.notes = [of = std::move(with.notes), sent](notice what) {
      clean(what.text);
      hide(what, *sent);
      of(what);
    };
  }
  auto made = make(std::move(with));
  if (made) made = std::make_unique<printable_store>(std::move(*made), sent);
  return made;
}

}  // namespace tenure::stores
