#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/backoff.hpp"
#include "core/clock.hpp"
#include "core/version.hpp"
#include "kube/api_server.hpp"
#include "kube/marked_object.hpp"

/// Which pod is named as the active one, as a pure state machine.
namespace tenure::kube {

/// What the election wants to be shown.
struct traffic_wish {
  enum class kind : std::uint8_t {
    as_it_is,  ///< the workload of an earlier agent runs, and its term may be confirmed
    standby,   ///< this pod is not active
    gaining,   ///< we hold the lease, and our workload does not run yet: nobody is active
    active,    ///< our workload runs
  };
  kind what = kind::as_it_is;
  /// The term; of `standby` our last one, as far as is known.
  core::version version = core::no_version;

  friend bool operator==(const traffic_wish&, const traffic_wish&) = default;
};

/// What shows it.
struct traffic_places {
  std::string pod;                    ///< ours
  std::vector<std::string> slices{};  ///< empty: the pods themselves show it

  [[nodiscard]] bool in_slices() const { return !slices.empty(); }
};

struct traffic_request {
  enum class kind : std::uint8_t {
    list,   ///< all pods of the election, or all slices of a Service
    read,   ///< one object
    write,  ///< one object, if it is still as `seen`
  };
  std::uint64_t number = 0;  ///< the reply carries it
  kind what = kind::list;
  std::string object{};  ///< a list of slices: their Service; one of pods: empty

  // What is written.
  marked_object seen{};
  bool names_us = false;  ///< false: it names nobody any more
  core::version version = core::no_version;
};

/// The objects of a list, or the one that was read or written, as it is now.
using traffic_reply = std::expected<std::vector<marked_object>, api_failure>;

/// The slices of a Service that lead clients somewhere, without ours.
std::vector<marked_object> slices_of_others(std::vector<marked_object> all,
                                            const std::vector<std::string>& ours);

namespace notice {

/// The API server has acknowledged that this pod is named.
struct named_us {
  core::version version = core::no_version;
  bool again = false;  ///< somebody had taken that away in the middle of the term
};
/// It has acknowledged that this pod is not named any more.
struct not_named {};
/// It has not done what was asked; it is asked again later.
struct failed {
  api_failure why{};
  traffic_request asked{};
  traffic_wish::kind wanted = traffic_wish::kind::as_it_is;
};
/// It does what is asked again.
struct works_again {};
/// An object has a later version than ours, so nothing is written.
struct overtaken {
  std::string object{};
  core::version by = core::no_version;
  core::version ours = core::no_version;
};

/// Slices of others lead the Service's clients elsewhere; if none, they do not any more.
struct led_astray {
  std::vector<marked_object> by{};
};

}  // namespace notice

using traffic_notice = std::variant<notice::named_us, notice::not_named, notice::failed,
                                    notice::works_again, notice::overtaken, notice::led_astray>;

struct traffic_effects {
  std::vector<traffic_request> requests{};
  std::vector<traffic_notice> notices{};
  std::uint32_t failures = 0;  ///< requests that have failed in this step
};

/// Decides what the API server is asked, so that it names the pod whose workload runs, and no
/// other.
///
/// Works in rounds: it reads the objects; it takes the name of every other pod away, and writes the
/// version of our term on them; it names our pod. A round that fails is begun again after a pause.
/// Where slices show it, a round that has named our pod is followed by a look at the other slices
/// of the Service. Whose they are only people can say, so they are told.
///
/// Safety rule: of two holders, that of the later term is named in the end, and from then on it
/// alone, in any order in which the requests of both arrive. Each write relies on what was read,
/// and a new holder writes to each object, so a late write of an earlier term is refused; and
/// nobody writes to an object that has a later version than his own.
///
/// Not thread-safe; does no I/O, reads no clock. Precondition of all calls: `at.now` never goes
/// backwards.
class traffic_switch {
 public:
  /// While this pod is active, it is looked this often whether what was written is still there; on
  /// a standby once, as a write of an earlier agent of this pod may have arrived late.
  static constexpr core::duration look_every = std::chrono::seconds(30);
  /// Pauses after rounds that have failed.
  static constexpr core::backoff pauses{.first = std::chrono::milliseconds(200),
                                        .most = std::chrono::seconds(30)};
  /// After so many rounds in a row in which somebody else wrote in between, a round has failed.
  static constexpr std::uint32_t most_overwritings = 5;

  explicit traffic_switch(traffic_places where) : where_(std::move(where)) {}

  /// A wish that has not changed does nothing.
  void want(const traffic_wish& what, traffic_effects& out);

  /// The answer to a request. One that does not matter any more is ignored.
  void replied(const core::moment& at, std::uint64_t number, traffic_reply what,
               traffic_effects& out);

  void woke(const core::moment& at, traffic_effects& out);

  /// When to call `woke`; `never` if there is no need.
  [[nodiscard]] core::time_point next_wake() const { return wake_at_; }

  /// True while this pod is named as the active one, as far as is known.
  [[nodiscard]] bool is_named() const { return is_named_; }
  /// True if the last wish is fulfilled.
  [[nodiscard]] bool is_settled() const {
    return stage_ == stage::idle || stage_ == stage::looking;
  }

 private:
  enum class stage : std::uint8_t {
    idle,      ///< all is as it should be
    reading,   ///< what the objects show
    clearing,  ///< takes away what names others
    naming,    ///< writes what our own show
    looking,   ///< all is as it should be; it is asked whether slices of others lead elsewhere
    pausing,   ///< after a failure, or because a later term has written
  };

  /// What a round knows. The next one begins without it.
  struct round {
    std::map<std::uint64_t, traffic_request> open{};  ///< not answered yet
    std::map<std::string, marked_object> objects{};   ///< by name
    std::vector<marked_object> astray{};              ///< slices of others that name somebody
    std::optional<notice::failed> failure{};          ///< the first one
    bool is_look = false;                             ///< it looks whether all is as it was left
    bool others_are_known = true;                     ///< false: somebody else may be named
    bool was_overwritten = false;                     ///< somebody has written since we read
    bool has_read_ours = false;                       ///< our own pod was asked for by name
    bool has_changed_ours = false;                    ///< we have named ourselves, or ceased to
    bool others_are_listed = true;                    ///< false: a list of slices has failed
  };

  void begin(bool is_look, traffic_effects& out);
  void ask(traffic_request what, traffic_effects& out);
  void write(const marked_object& to, bool names_us, core::version version, traffic_effects& out);
  void answered(const traffic_request& asked, std::vector<marked_object> what);
  void refused(const traffic_request& asked, api_failure why, traffic_effects& out);
  void proceed(const core::moment& at, traffic_effects& out);
  void read_ours(traffic_effects& out);
  bool is_overtaken(const core::moment& at, traffic_effects& out);
  void clear_others(traffic_effects& out);
  void write_ours(traffic_effects& out);
  void list_slices(traffic_effects& out);
  void say_astray(traffic_effects& out);
  void end_round(const core::moment& at, traffic_effects& out);
  void succeed(const core::moment& at, traffic_effects& out);
  void fail(const core::moment& at, notice::failed how, traffic_effects& out);
  [[nodiscard]] bool has_to_be_cleared(const marked_object& one) const;
  [[nodiscard]] bool is_ours(const marked_object& one) const {
    return where_.in_slices() || one.name == where_.pod;
  }
  [[nodiscard]] bool holds() const {
    return wish_.what == traffic_wish::kind::gaining || wish_.what == traffic_wish::kind::active;
  }

  traffic_places where_;
  traffic_wish wish_{};
  stage stage_ = stage::idle;
  round round_{};
  std::uint64_t last_number_ = 0;
  core::version last_term_ = core::no_version;     ///< the newest one of ours
  std::uint32_t failures_ = 0;                     ///< rounds in a row
  std::uint32_t overwritings_ = 0;                 ///< likewise
  std::string said_{};                             ///< which failure was said last; empty: it works
  std::string astray_{};                           ///< the slices of others that were said last
  core::version named_ = core::no_version;         ///< the term for which it was said
  core::version overtaken_by_ = core::no_version;  ///< likewise
  core::time_point wake_at_ = core::never;
  bool is_named_ = false;
};

}  // namespace tenure::kube
