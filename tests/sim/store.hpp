#pragma once

#include <array>
#include <memory>

#include "network.hpp"
#include "stage.hpp"

namespace tenure::sim {

/// A store as its clients can tell: linearizable, one clock, durable.
class store {
 public:
  virtual ~store() = default;

  /// A request has arrived.
  void receive(const message& m);
  /// A lease may have run out.
  virtual void expire() = 0;
  /// An operator removes what is held in this election; false if nothing was.
  virtual bool delete_key(std::size_t election) = 0;
  /// An operator ends the session that holds this election; false if nothing was.
  virtual bool revoke_session(std::size_t election) = 0;
  /// The process is back. Leases have run on, or get a full TTL.
  virtual void restarted(bool extends) = 0;
  /// A backup takes the place of the data: nothing is held, and versions have moved back.
  virtual void restore() = 0;
  /// An operator moves the versions beyond all that were ever granted (etcd: `--bump-revision`).
  virtual void bump() = 0;
  [[nodiscard]] virtual bool holds(std::size_t election, core::version version) const = 0;

 protected:
  store(stage& s, network& n) : stage_(s), network_(n) {}

  virtual void read(const message& m) = 0;
  virtual void acquire(const message& m) = 0;
  virtual void renew(const message& m) = 0;
  virtual void tell_own(const message& m) = 0;
  virtual void release(const message& m) = 0;
  /// Writes what is held in this election into `m`.
  virtual void fill(message& m, std::size_t election) const = 0;
  /// Sends that to the pod, if it watches.
  void show(std::size_t election, std::size_t pod);

  stage& stage_;
  network& network_;

 private:
  /// The last word of each pod stays, also when its agent is gone.
  std::array<std::array<listed, max_pods>, max_elections> members_{};
};

std::unique_ptr<store> make_expiring_store(stage& s, network& n);
std::unique_ptr<store> make_record_store(stage& s, network& n);

}  // namespace tenure::sim
