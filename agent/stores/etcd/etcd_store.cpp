#include "stores/etcd/etcd_store.hpp"

#include <functional>
#include <optional>
#include <utility>

#include "base/number_text.hpp"
#include "core/check.hpp"
#include "settings/store_kind.hpp"
#include "stores/etcd/agreements.hpp"
#include "stores/etcd/campaigns.hpp"
#include "stores/etcd/line.hpp"
#include "stores/etcd/membership.hpp"
#include "stores/etcd/orders.hpp"
#include "stores/etcd/renewals.hpp"
#include "stores/etcd/server_version.hpp"
#include "stores/etcd/session.hpp"
#include "stores/etcd/subscriptions.hpp"
#include "stores/etcd/words.hpp"
#include "stores/records/release_record_text.hpp"

namespace tenure::stores {
namespace {

using namespace etcd;

/// How long a start waits before it reports that etcd cannot be reached.
constexpr core::duration open_patience = std::chrono::seconds(5);
constexpr const settings::store_kind& etcd_kind = *settings::find_store_kind("etcd");

/// True for an error that only a change of the configuration can end. With a user it is not final
/// that a token is refused: it may have expired.
bool is_final(error_meaning what, const settings::security& with) {
  return what == error_meaning::denied || what == error_meaning::unsupported ||
         what == error_meaning::invalid ||
         (what == error_meaning::unauthenticated && with.user.empty());
}

held_term term_of(const contender& of) {
  return {.version = core::version{of.create_revision}, .key = of.key, .lease = of.lease};
}

class etcd_store final : public store {
 public:
  etcd_store(base::event_loop& on, const http::http_connector& connect, setup with,
             const std::vector<settings::endpoint>& endpoints)
      : namesakes_(
            on, with.elections.size(),
            {.answer = [this](core::election_index which) { membership_.answer_namesake(which); },
             .changed = [this](core::election_index which) { changed(which); }}),
        session_(on, connect, std::move(with), endpoints,
                 {.changed = [this](core::election_index which) { changed(which); },
                  .live = [this] { live(); },
                  .broken = [this](const call_failure& what) { broken(what); },
                  .heard = [this] { heard(); }}),
        campaigns_(session_),
        renewals_(session_),
        subscriptions_(session_.loop, session_.endpoints, session_.mirrors, session_.ranges,
                       session_.connection,
                       [this](core::election_index which) { return line_.may_stand(which); }),
        agreements_(session_),
        orders_(session_),
        membership_(session_.loop, session_.endpoints, session_.self.ids, session_.with.identity,
                    session_.with.peer_address, session_.with.ttl, session_.with.elections),
        line_(session_, [this](core::election_index which) { subscriptions_.changed(which); }),
        words_(session_, line_) {
    session_.self.namesakes = &namesakes_;
  }

  ~etcd_store() override { close(); }

  void open(handler<std::expected<description, open_error>> done) override;
  [[nodiscard]] description describe() const override { return self_; }

  void acquire(core::election_index which, core::version /*above*/, core::time_point deadline,
               handler<acquire_outcome> done) override {
    TENURE_CHECK(core::place(which) < session_.mirrors.size());
    campaigns_.acquire(which, deadline, std::move(done));
  }

  void renew(std::vector<core::renewal_item> items, core::time_point deadline,
             handler<renew_outcome> done) override {
    for (const auto& item : items) TENURE_CHECK(core::place(item.which) < session_.mirrors.size());
    renewals_.renew(std::move(items), deadline, std::move(done));
  }

  void release(core::election_index which, core::version version, release_details how,
               core::time_point deadline, handler<release_outcome> done) override;

  void end_term(core::election_index which, const core::holder& whose, release_details how,
                core::time_point deadline, handler<release_outcome> done) override;

  void read(core::election_index which, core::time_point deadline,
            handler<read_outcome> done) override;

  void watch(core::election_index which, watch_handler seen) override {
    TENURE_CHECK(core::place(which) < session_.mirrors.size());
    subscriptions_.add(which, std::move(seen));
  }

  void accept_versions(core::election_index which, core::time_point deadline,
                       handler<agree_outcome> done) override {
    TENURE_CHECK(core::place(which) < session_.mirrors.size());
    agreements_.accept_versions(which, deadline, std::move(done));
  }

  void leave_order(core::election_index which, core::left_order what, core::time_point deadline,
                   handler<order_outcome> done) override {
    orders_.leave(which, std::move(what), deadline, std::move(done));
  }

  void answer_order(core::election_index which, const std::string& id, core::order_reply reply,
                    core::time_point deadline, handler<order_outcome> done) override {
    orders_.answer(which, id, std::move(reply), deadline, std::move(done));
  }

  void drop_order(core::election_index which, const std::string& id, core::time_point deadline,
                  handler<order_outcome> done) override {
    orders_.drop(which, id, deadline, std::move(done));
  }

  void announce(core::election_index which, const core::readiness& says) override {
    if (session_.with.announce) membership_.say(which, says);
  }

  void stand_in_line(core::election_index which, bool stands) override {
    if (session_.with.announce) line_.want(which, stands);
  }

  bool hear(const core::word& what) override {
    const auto which = words_.hear(what);
    if (which) changed(*which);
    return which.has_value();
  }

  void leave(core::time_point deadline, handler<release_outcome> done) override {
    struct departure {
      int left = 2;
      handler<release_outcome> done;
    };
    const auto both = std::make_shared<departure>();
    both->done = std::move(done);
    const auto gone = [both](const release_outcome&) {
      if (--both->left == 0) both->done(released{});
    };
    line_.leave(deadline, gone);
    membership_.leave(deadline, gone);
  }

  void close() override {
    namesakes_.close();
    membership_.close();
    line_.close();
    campaigns_.close();
    subscriptions_.close();
    session_.close();
    opening_ = nullptr;
  }

 private:
  std::optional<std::string> note_version(const reply_or_failure& what);
  void refuse_to_open(std::string why);
  void opened();
  using term_finder = std::function<const contender*(const mirror&)>;
  using found_handler = std::move_only_function<void(const mirror& at, const contender& its,
                                                     handler<release_outcome> done)>;
  void look_for(core::election_index which, term_finder find, core::time_point deadline,
                handler<release_outcome> done, found_handler then);
  void give_up(core::election_index which, const held_term& own, const std::string& note,
               std::vector<std::string> also, core::time_point deadline,
               handler<release_outcome> done);
  void erase(core::election_index which, const held_term& term, const std::string& note,
             const std::vector<std::string>& also, core::time_point deadline,
             handler<release_outcome> done);

  void look_for_namesakes(core::election_index which, bool missed) {
    const names_like_ours names = session_.seen(which).names();
    namesakes_.see(which, names.others, names.has_ours, missed);
  }
  void changed(core::election_index which) {
    look_for_namesakes(which, false);
    campaigns_.changed(which);
    line_.changed(which);
    words_.changed(which);
    if (!session_.closed()) subscriptions_.changed(which);
  }
  void live();
  void heard() {
    if (session_.with.hears) session_.with.hears(core::contact::showed{});
  }
  void broken(const call_failure& what) {
    // At start this is a mistake in the configuration, and waiting does not help.
    if (is_final(what.meaning, session_.with.secure)) refuse_to_open(what.why);
    if (opening_) {
      self_.warnings.push_back("etcd cannot be used yet, retrying: " + what.why);
    }
    opened();
    if (!session_.closed()) subscriptions_.broken(what.why);
  }

  namesakes namesakes_;
  session session_;
  campaigns campaigns_;
  renewals renewals_;
  subscriptions subscriptions_;
  agreements agreements_;
  orders orders_;
  membership membership_;
  line line_;
  words words_;
  description self_;
  handler<std::expected<description, open_error>>
      opening_;  ///< until the first connection or failure
};

// Opening --------------------------------------------------------------------------------------

void etcd_store::open(handler<std::expected<description, open_error>> done) {
  opening_ = std::move(done);
  self_.store = etcd_kind.name;
  self_.expiry_lag = etcd_kind.expiry_lag;
  self_.min_ttl = std::chrono::seconds(1);
  self_.max_ttl = std::chrono::seconds(max_ttl_seconds);
  if (auto checked = session_.endpoints.check(); !checked) {
    session_.loop.post(session_.guarded([this, why = checked.error()] { refuse_to_open(why); }));
    return;
  }
  session_.endpoints.call(version_path, "", session_.loop.now() + open_patience,
                          session_.guarded([this](const reply_or_failure& what) {
                            if (!what && is_final(what.error().meaning, session_.with.secure)) {
                              return refuse_to_open(what.error().why);
                            }
                            if (const auto wrong = note_version(what))
                              return refuse_to_open(*wrong);
                            // Even if no endpoint has answered: the watcher goes on until one does.
                            session_.connection.connect();
                          }));
}

/// Why this server cannot be used, if so. A version that cannot be read is not a reason: a proxy
/// may have answered for a moment. Each new connection asks for the version again.
std::optional<std::string> etcd_store::note_version(const reply_or_failure& what) {
  if (!what) return {};
  const auto version = parse_version(what->body);
  if (!version) {
    self_.warnings = {"the version of etcd is unknown, asking again: " +
                      session_.broken_reply(version.error()).why};
    return {};
  }
  auto judged = judge_version(version->server);
  if (!judged) return std::move(judged.error());
  self_.server_version = version->server;
  self_.warnings = std::move(*judged);
  return {};
}

/// Connected, for the first time or again. The server is described before the watches are served.
void etcd_store::live() {
  self_.cluster_id = base::hex(session_.connection.cluster_id());
  // First: nobody may rely on what was there before the gap.
  session_.watch_had_gap();
  for (std::uint32_t i = 0; i < session_.mirrors.size(); ++i) {
    look_for_namesakes(core::election_index{i}, true);
  }
  line_.live();
  const auto tell = [this] {
    opened();
    if (!session_.closed()) subscriptions_.all_changed();
    if (!session_.closed() && session_.with.announce) membership_.appear();
  };
  // Members may run different versions, and with many elections the version of ours matters.
  const bool many = session_.with.elections.size() > most_operations;
  if (!self_.server_version.empty() && !many) return tell();
  session_.endpoints.call(
      version_path, "", session_.loop.now() + open_patience,
      session_.guarded([this, tell](const reply_or_failure& what) {
        note_version(what);
        session_.connection.tells_progress(what && progress_keeps_order(self_.server_version));
        tell();
      }));
}

void etcd_store::refuse_to_open(std::string why) {
  if (opening_) std::exchange(opening_, nullptr)(std::unexpected(open_error{std::move(why)}));
}

void etcd_store::opened() {
  if (opening_) std::exchange(opening_, nullptr)(self_);
}

// Releasing and reading ------------------------------------------------------------------------

void etcd_store::release(core::election_index which, core::version version, release_details how,
                         core::time_point deadline, handler<release_outcome> done) {
  TENURE_CHECK(core::place(which) < session_.mirrors.size());
  const auto& held = session_.held(which);
  const bool is_held = held && version == held->version;
  const core::version told = is_held ? words_.tell(which, *held, how) : core::no_version;
  // A caller that names no term leaves no record.
  const std::string note = version == core::no_version
                               ? ""
                               : release_record_text(version, session_.with.identity, how, told);
  // A member that is named comes before the one that stands in line, unless that was told.
  const std::vector<std::string> others = how.heir.empty() || told != core::no_version
                                              ? std::vector<std::string>()
                                              : session_.seen(which).places_besides(how.heir);
  if (is_held) return give_up(which, *held, note, others, deadline, std::move(done));
  // Our term may be over, or the reply that granted one may be lost.
  const auto find = [version](const mirror& m) {
    const contender* own = m.find_own();
    const bool is_meant = own != nullptr && (version == core::no_version ||
                                             core::number(version) == own->create_revision);
    return is_meant ? own : nullptr;
  };
  look_for(which, find, deadline, std::move(done),
           [=, this](const mirror&, const contender& own, handler<release_outcome> to) {
             give_up(which, term_of(own), note, others, deadline, std::move(to));
           });
}

void etcd_store::end_term(core::election_index which, const core::holder& whose,
                          release_details how, core::time_point deadline,
                          handler<release_outcome> done) {
  TENURE_CHECK(core::place(which) < session_.mirrors.size());
  const auto find = [whose](const mirror& m) { return m.find_term(whose); };
  const auto end = [=, this](const mirror& at, const contender& its, handler<release_outcome> to) {
    // A holder with a seal may have told a place that its term is over. That place may have held
    // and be gone, and only a release of the holder's own would say which one it was.
    release_details said = how;
    said.clean = how.clean && at.seal_of(its) == nullptr;
    erase(which, term_of(its), release_record_text(whose.version, its.identity, said), {}, deadline,
          std::move(to));
  };
  const mirror& shown = session_.seen(which);
  // What the watch shows is mostly true, and the transaction says if it is not.
  if (const contender* its = find(shown)) return end(shown, *its, std::move(done));
  look_for(which, find, deadline, std::move(done), end);
}

/// Reads what etcd holds: `then` is called with the term that is found there. Without one there is
/// nothing to release.
void etcd_store::look_for(core::election_index which, term_finder find, core::time_point deadline,
                          handler<release_outcome> done, found_handler then) {
  session_.read(which, deadline,
                [this, find = std::move(find), done = std::move(done),
                 then = std::move(then)](std::expected<looked, unknown> now) mutable {
                  if (!now) return session_.answer(std::move(done), release_outcome(now.error()));
                  const contender* its = find(now->at);
                  if (its == nullptr) {
                    return session_.answer(std::move(done), release_outcome(released{}));
                  }
                  then(now->at, *its, std::move(done));
                });
}

void etcd_store::give_up(core::election_index which, const held_term& own, const std::string& note,
                         std::vector<std::string> also, core::time_point deadline,
                         handler<release_outcome> done) {
  session_.released[core::place(which)] = core::number(own.version);
  for (std::string& one : session_.seals(which, own.lease)) also.push_back(std::move(one));
  erase(which, own, note, also, deadline, std::move(done));
}

/// Ends this term, ours or another one.
void etcd_store::erase(core::election_index which, const held_term& term, const std::string& note,
                       const std::vector<std::string>& also, core::time_point deadline,
                       handler<release_outcome> done) {
  session_.endpoints.call(
      transaction_path,
      transaction_request(
          release_transaction(session_.spec(which).name, term.key, term.version, note, also)),
      deadline,
      session_.guarded([this, which, term, also, deadline, has_record = !note.empty(),
                        done = std::move(done)](const reply_or_failure& what) mutable {
        // Without a record the next holder waits for the lock delay, and not for the lease to end.
        if (!what && what.error().meaning == error_meaning::full && has_record) {
          return erase(which, term, "", also, deadline, std::move(done));
        }
        if (!what) {
          return session_.answer(std::move(done), release_outcome(unknown{what.error().why}));
        }
        // Whether it succeeded or not: without a key of this term there is nothing to release.
        if (const auto reply = parse_transaction(what->body); !reply) {
          return session_.answer(std::move(done),
                                 release_outcome(session_.broken_reply(reply.error())));
        }
        auto& held = session_.held(which);
        if (held && held->version == term.version && held->key == term.key) held.reset();
        session_.answer(std::move(done), release_outcome(released{}));
      }));
}

void etcd_store::read(core::election_index which, core::time_point deadline,
                      handler<read_outcome> done) {
  TENURE_CHECK(core::place(which) < session_.mirrors.size());
  session_.read(which, deadline,
                [this, done = std::move(done)](std::expected<looked, unknown> now) mutable {
                  if (!now) return session_.answer(std::move(done), read_outcome(now.error()));
                  session_.answer(std::move(done), read_outcome(now->at.observe()));
                });
}

}  // namespace

std::expected<std::unique_ptr<store>, open_error> make_etcd_store(
    base::event_loop& on, const http::http_connector& connect, setup with) {
  std::vector<settings::endpoint> endpoints;
  for (const std::string& url : with.endpoints) {
    auto parsed = settings::parse_endpoint(url, etcd_kind.default_port);
    if (!parsed) return std::unexpected(open_error{"endpoint " + settings::text(parsed.error())});
    endpoints.push_back(std::move(*parsed));
  }
  if (endpoints.empty()) {
    return std::unexpected(open_error{"store etcd needs an endpoint; give --endpoint " +
                                      std::string(etcd_kind.example)});
  }
  return std::make_unique<etcd_store>(on, connect, std::move(with), endpoints);
}

}  // namespace tenure::stores
