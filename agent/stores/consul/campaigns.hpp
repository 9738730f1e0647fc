#pragma once

#include <memory>
#include <string>

#include "stores/consul/shared_state.hpp"
#include "stores/turnstile.hpp"

namespace tenure::stores::consul {

/// `acquire` for Consul.
///
/// An agent asks for a lock only when it would hold at once, so a standby sends nothing. A campaign
/// obtains the session first, then takes the slot in one transaction that relies on what it has
/// seen. A place in line that has become a term (line.hpp) is taken up without any request.
///
/// Used on its loop only.
class campaigns {
 public:
  explicit campaigns(shared_state& of) : shared_(of), turns_(of.loop) {}

  void acquire(core::election_index which, core::time_point deadline,
               handler<acquire_outcome> done);

  void close() { turns_.close(); }

 private:
  struct attempt {
    core::election_index which{};
    core::time_point deadline{};
    handler<acquire_outcome> done;
    int tries = 0;
    bool is_clean = false;  ///< nothing of an earlier term ran when the one that was found began
  };
  using attempt_ptr = std::shared_ptr<attempt>;

  void begin(const attempt_ptr& a);
  bool take_place(const attempt_ptr& a);
  void look_first(const attempt_ptr& a);
  void judge(const attempt_ptr& a, const looked& now);
  void campaign(const attempt_ptr& a, const basis& on);
  void ask_for_lock(const attempt_ptr& a, const kept_session& with, const basis& on);
  void asked(const attempt_ptr& a, const kept_session& with, const basis& on,
             const transaction_reply& what);
  void refused(const attempt_ptr& a, const kept_session& with, const basis& on,
               const failed_operation& why);
  void delayed(const attempt_ptr& a);
  void adopt(const attempt_ptr& a, const looked& now, const slot_holder& own);
  void move(const attempt_ptr& a, const slot_holder& own, const basis& on);
  void moved(const attempt_ptr& a, const slot_holder& own, const kept_session& to,
             const transaction_reply& what);
  void found(const attempt_ptr& a, const slot_holder& own, const kept_session& kept);
  void won(const attempt_ptr& a, const held_term& held, const kept_session& kept);
  void fail(const attempt_ptr& a, std::string why);
  void finish(const attempt_ptr& a, acquire_outcome outcome);

  shared_state& shared_;
  turnstile turns_;
};

}  // namespace tenure::stores::consul
