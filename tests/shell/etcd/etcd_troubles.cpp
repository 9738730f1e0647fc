#include "etcd/etcd_troubles.hpp"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

#include "core/check.hpp"

namespace tenure::shell {
namespace {

using namespace std::chrono_literals;

constexpr std::uint32_t half = 500'000;
/// No pod has such a number.
constexpr std::size_t first_client = 100;
constexpr std::size_t most_clients = 3;
constexpr std::int64_t most_writes_of_others = 5000;
/// Nobody is active for so long, at most, because nobody looks.
constexpr core::duration longest_absence = 15s;
constexpr core::duration line_looks_every = 200ms;

}  // namespace

etcd_troubles::etcd_troubles(stage& s, modelled_etcd& of, std::uint64_t seed,
                             std::function<void(const std::string&)> say)
    : store_troubles(s, seed, std::move(say)),
      etcd_(of),
      restores_(dice_.chance(350'000)),
      has_accounts_(dice_.chance(250'000)),
      has_clients_(dice_.chance(250'000)),
      has_nonsense_(dice_.chance(200'000)),
      restores_lines_(!restores_ && dice_.chance(100'000)) {
  if (!has_accounts_) return;
  password_ = base::unique_fd(::memfd_create("password", MFD_CLOEXEC));
  TENURE_CHECK(password_ && ::fchmod(password_.get(), S_IRUSR | S_IWUSR) == 0);
  stage_.password_file = "/proc/self/fd/" + std::to_string(password_.get());
  change_password();
  etcd_.users().turn(dice_.chance(half));
  etcd_.users().set_token_life(dice_.spread(1s, 60s));
}

void etcd_troubles::give_password(const std::string& what) {
  TENURE_CHECK(::ftruncate(password_.get(), 0) == 0 &&
               ::pwrite(password_.get(), what.data(), what.size(), 0) ==
                   static_cast<ssize_t>(what.size()));
}

/// In the cluster, and for the agents.
void etcd_troubles::change_password() {
  const std::string next =
      std::string(accounts::mark_of_secrets) + "-password-" + std::to_string(++passwords_);
  etcd_.users().set_password(next);
  give_password(next + "\n");
}

void etcd_troubles::tell(std::vector<std::string>& traits) const {
  if (restores_) traits.emplace_back("restores");
  if (has_accounts_) traits.emplace_back("accounts");
  if (has_clients_) traits.emplace_back("clients");
  if (has_nonsense_) traits.emplace_back("nonsense");
  if (restores_lines_) traits.emplace_back("restored_line");
}

void etcd_troubles::plan(world_time quiet) {
  if (restores_) {
    for (auto times = dice_.between(std::int64_t{1}, 2); times > 0; --times) plan_restore(quiet);
  }
  if (restores_lines_) {
    stage_.in.at(before(quiet), [this, quiet] { back_up_a_line(quiet); });
  }
  if (has_accounts_) plan_accounts(quiet);
  for (auto times = has_nonsense_ ? dice_.between(std::int64_t{1}, 8) : 0; times > 0; --times) {
    stage_.in.at(before(quiet), [this] { write_nonsense(); });
  }
  const std::size_t clients = has_clients_ ? 1 + dice_.below(most_clients) : 0;
  for (std::size_t i = 0; i < clients; ++i) {
    stage_.in.at(before(quiet), [this, number = first_client + i, quiet] {
      if (stage_.in.now >= quiet) return;
      say_("another client contends");
      clients_.push_back(
          std::make_unique<foreign_client>(stage_, number, any_election(), dice_.bits()));
    });
  }
}

void etcd_troubles::plan_restore(world_time quiet) {
  const world_time when = before(quiet);
  const core::duration left = quiet - when;
  const core::duration ago = dice_.spread(1ms, std::max(core::duration(2ms), when - stage_.in.now));
  stage_.in.at(when - ago, [this] {
    backup_ = etcd_.back_up();
    say_("backed up at revision " + std::to_string(backup_.keys.revision));
    if (dice_.chance(half)) {
      etcd_.others_write(
          static_cast<std::uint64_t>(dice_.between(std::int64_t{1}, most_writes_of_others)));
    }
  });
  stage_.in.at(when, [this, takes = std::min(left, dice_.spread(100ms, 2 * stage_.when.ttl))] {
    restore(takes);
  });
}

/// When it is restored, who stood in line then has held since, and another one may after it.
void etcd_troubles::back_up_a_line(world_time quiet) {
  if (stage_.in.now >= quiet) return;
  const std::string& which = any_election();
  const auto next = stage_.referee.pod_in_line(which, stage_.slots);
  if (!next) return stage_.in.after(line_looks_every, [this, quiet] { back_up_a_line(quiet); });
  backup_ = etcd_.back_up();
  say_("backed up at revision " + std::to_string(backup_.keys.revision) + ", while pod " +
       std::to_string(*next) + " stands in line for " + which);
  // And once more, when the dust has settled.
  stage_.in.after(dice_.between(core::duration(5s), 15s), [this, quiet] { back_up_a_line(quiet); });
  if (dice_.chance(half)) return pass_on(which, dice_.chance(half) ? 1 : 2, quiet);
  pass_over(which, *next);
}

void etcd_troubles::pass_on(std::string which, int turns, world_time quiet) {
  if (stage_.in.now >= quiet) return;
  if (turns == 0) return restore(dice_.spread(100ms, 1s));
  holder_resigns(which);
  stage_.in.after(dice_.spread(100ms, stage_.when.ttl),
                  [this, which = std::move(which), turns, quiet]() mutable {
                    pass_on(std::move(which), turns - 1, quiet);
                  });
}

/// The one in line is cut off, so it neither sees that it holds nor that an operator deletes its
/// key, nor who holds after it.
void etcd_troubles::pass_over(const std::string& which, std::size_t next) {
  for (std::size_t s = 0; s < modelled_cluster::most_servers; ++s) stage_.network.cut(next, s);
  const auto heal = [this, next] {
    for (std::size_t s = 0; s < modelled_cluster::most_servers; ++s) stage_.network.heal(next, s);
  };
  holder_resigns(which);
  const core::duration over_after = dice_.spread(100ms, 500ms);
  stage_.in.after(over_after, [this, which, next] {
    if (stage_.referee.pod_in_line(which, 0) == next) etcd_.delete_one(which);
  });
  const core::duration restored_after =
      over_after + stage_.when.lock_delay + dice_.spread(10ms, 1s);
  stage_.in.after(restored_after, [this] { restore(dice_.spread(10ms, 200ms)); });
  stage_.in.after(restored_after + dice_.spread(100ms, 2s), heal);
}

void etcd_troubles::restore(core::duration takes) {
  if (etcd_.is_halted()) return;
  say_("stopped, to be restored");
  etcd_.halt();
  stage_.in.after(takes, [this] {
    const std::uint64_t gap = etcd_.revision() - backup_.keys.revision;
    // None, too little, or enough.
    const std::uint64_t bump = dice_.chance(half)      ? 0
                               : dice_.chance(250'000) ? dice_.below(gap + 1)
                                                       : gap + dice_.below(1'000'000);
    say_("restored: " + std::to_string(gap) + " revisions back, raised by " + std::to_string(bump));
    etcd_.restore(backup_, bump, dice_.chance(half));
    restored();
    stage_.in.after(dice_.between(core::duration(1s), longest_absence),
                    [this] { operator_comes(); });
  });
}

void etcd_troubles::plan_accounts(world_time quiet) {
  for (auto times = dice_.between(std::int64_t{1}, 4); times > 0; --times) {
    const world_time when = before(quiet);
    const core::duration lasts =
        std::min(dice_.spread(20ms, 3 * stage_.when.ttl), core::duration(quiet - when));
    stage_.in.at(when, [this, lasts] {
      accounts& users = etcd_.users();
      switch (dice_.below(3)) {
        case 0:
          say_("authentication is turned");
          return users.turn(!users.on());
        case 1: {
          say_("the password is changed, and the agents hear of it later");
          const std::string next =
              std::string(accounts::mark_of_secrets) + "-password-" + std::to_string(++passwords_);
          users.set_password(next);
          return stage_.in.after(lasts, [this] { give_password(etcd_.users().password()); });
        }
        default: {
          const std::string which = any_election();
          say_("access is denied to " + which);
          users.deny(which + ".tenure", which + "0");
          return stage_.in.after(lasts, [this] { etcd_.users().allow_all(); });
        }
      }
    });
  }
}

/// By somebody who takes an election's keys for his own.
void etcd_troubles::write_nonsense() {
  const std::string& which = any_election();
  const std::string record = which + ".tenure";
  const std::array values{std::string(), std::string("\xff\xfe\0 slots=", 10),
                          std::string("slots=x"), std::string("pod-0"),
                          std::string("term=99999999 clean")};
  const std::string& value = values[dice_.below(values.size())];
  const std::array keys{
      which + "/",           which + "/nonsense",          record,
      record + ".agreement", record + ".members/nonsense", record + ".orders/nonsense"};
  const std::string& key = keys[dice_.below(keys.size())];
  say_("an operator writes nonsense to " + key);
  etcd_.write(key, value);
}

void etcd_troubles::mend() {
  for (const auto& one : clients_) one->retire();
  if (has_accounts_) {
    etcd_.users().allow_all();
    give_password(etcd_.users().password());
  }
  if (!has_nonsense_) return;
  // There may be no leader yet.
  stage_.in.after(5s, [this] {
    for (const std::string& which : stage_.elections) {
      etcd_.clean(which + "/");
      etcd_.clean(which + ".tenure.members/");
      etcd_.clean(which + ".tenure.orders/");
    }
  });
}

}  // namespace tenure::shell
