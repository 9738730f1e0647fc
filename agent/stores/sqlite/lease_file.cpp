#include "stores/sqlite/lease_file.hpp"

#include <algorithm>
#include <utility>

#include "base/duration_text.hpp"
#include "core/sometimes.hpp"

namespace tenure::stores::sqlite {

lease_file::lease_file(std::string path, member self, std::vector<settings::election> elections,
                       bool announce, const std::atomic<bool>& stop, const thread_clock& waits_by)
    : path_(std::move(path)),
      self_(std::move(self)),
      elections_(std::move(elections)),
      announce_(announce),
      stop_(stop),
      waits_by_(waits_by),
      members_(path_, {.boot_id = self_.boot_id, .clock = self_.clock}) {}

std::expected<std::vector<std::string>, std::string> lease_file::open(core::time_point deadline) {
  const auto opened = reopen(deadline);
  if (!opened) return std::unexpected(opened.error());
  std::vector<std::string> warnings;
  if (!opened->empty()) warnings.push_back(*opened);
  if (auto ready = members_.prepare(); !ready) {
    members_directory_usable_ = false;
    warnings.push_back(std::move(ready.error()));
  }
  members_.appear(self_.identity, elections_, announce_);
  if (auto news = news_of_replacement(); !news.empty()) warnings.push_back(std::move(news));
  return warnings;
}

/// Why nothing is granted for some time. Empty if that is not so, or was reported already.
std::string lease_file::news_of_replacement() {
  const core::time_point until = table_->grants_from();
  const core::duration left = until - self_.clock();
  if (left <= left.zero() || std::exchange(told_wait_until_, until) == until) return {};
  TENURE_SOMETIMES(sqlite_replaced_file_waits_for_its_holders);
  return path_ +
         " was deleted, replaced or overwritten while members held leases in it; "
         "nothing is granted for " +
         std::string(base::spoken(left).view()) + ", until these have run out";
}

/// The directory may become usable or unusable at any time.
void lease_file::look_at_members_directory() {
  auto ready = members_.prepare();
  if (std::exchange(members_directory_usable_, ready.has_value()) == ready.has_value()) return;
  if (ready) {
    notices_.push_back(
        {.is_trouble = false, .text = members_directory(path_) + " can be used again"});
  } else {
    notices_.push_back({.text = std::move(ready.error())});
  }
}

std::expected<std::string, std::string> lease_file::reopen(core::time_point deadline) {
  if (auto fit = check_directory(path_); !fit) return std::unexpected(fit.error());
  const auto lock = directory_lock::take(split(path_).directory, until(deadline));
  if (!lock) return std::unexpected("cannot open " + path_ + ": " + lock.error());

  if (table_) {
    TENURE_SOMETIMES(sqlite_file_replaced);
    const file_set old = table_->files();
    // Close the old connection, remove its leftovers, then open the new one: SQLite shares state
    // between the connections of a process by inode.
    table_.reset();
    old.remove_leftovers();
  }
  auto warning = prepare(path_);
  if (!warning) return warning;
  auto opened = lease_table::open(path_, self_, members_, until(deadline));
  if (!opened) return std::unexpected(std::move(opened.error()));
  table_ = std::move(*opened);
  cluster_id_ = table_->cluster_id();
  return warning;
}

/// Runs `operation` on the file that has the name now. Every operation may be repeated: if the file
/// turns out to be replaced meanwhile, it runs again in the new one.
template <class Operation>
auto lease_file::with_table(core::time_point deadline, Operation operation)
    -> std::expected<decltype(operation(std::declval<lease_table&>())), unknown> {
  constexpr int most_replacements = 2;
  for (int tries = 0;; ++tries) {
    if (!table_ || table_->replaced()) {
      if (auto opened = reopen(deadline); !opened) return std::unexpected(unknown{opened.error()});
      if (auto news = news_of_replacement(); !news.empty()) {
        notices_.push_back({.text = std::move(news)});
      }
    }
    auto outcome = operation(*table_);
    if (!table_->replaced() || tries == most_replacements) return outcome;
  }
}

/// The same for an operation that returns `unknown` if no file can be opened.
template <class Operation>
auto lease_file::asked(core::time_point deadline, Operation operation)
    -> decltype(operation(std::declval<lease_table&>())) {
  auto outcome = with_table(deadline, std::move(operation));
  if (!outcome) return std::move(outcome.error());
  return std::move(*outcome);
}

acquire_outcome lease_file::acquire(core::election_index which, core::version above,
                                    core::time_point deadline) {
  return asked(deadline, [&](lease_table& table) {
    return table.acquire(subject_of(which), above, until(deadline));
  });
}

renew_outcome lease_file::renew(std::span<const core::renewal_item> items,
                                core::time_point deadline) {
  return asked(deadline, [&](lease_table& table) {
    std::vector<held_term> terms;
    terms.reserve(items.size());
    for (const core::renewal_item& item : items) {
      terms.push_back({item.which, subject_of(item.which), item.version});
    }
    return table.renew(terms, until(deadline));
  });
}

release_outcome lease_file::release(core::election_index which, core::version version,
                                    const release_details& how, core::time_point deadline) {
  return asked(deadline, [&](lease_table& table) {
    return table.release(subject_of(which), version, how, until(deadline));
  });
}

release_outcome lease_file::end_term(core::election_index which, const core::holder& whose,
                                     const release_details& how, core::time_point deadline) {
  return asked(deadline, [&](lease_table& table) {
    return table.end_term(subject_of(which), whose, how, until(deadline));
  });
}

std::optional<unknown> lease_file::line_up(std::span<const core::election_index> stand,
                                           std::span<const core::election_index> leave,
                                           core::time_point deadline) {
  auto outcome = with_table(deadline, [&](lease_table& table) {
    return table.line_up(subjects_of(stand), subjects_of(leave), until(deadline));
  });
  if (!outcome) return std::move(outcome.error());
  return std::move(*outcome);
}

order_outcome lease_file::leave_order(core::election_index which, const core::left_order& what,
                                      core::time_point deadline) {
  return asked(deadline, [&](lease_table& table) {
    return table.leave_order(subject_of(which), what, until(deadline));
  });
}

order_outcome lease_file::answer_order(core::election_index which, const std::string& id,
                                       const core::order_reply& reply, core::time_point deadline) {
  return asked(deadline, [&](lease_table& table) {
    return table.answer_order(subject_of(which), id, reply, until(deadline));
  });
}

order_outcome lease_file::drop_order(core::election_index which, const std::string& id,
                                     core::time_point deadline) {
  return asked(deadline, [&](lease_table& table) {
    return table.drop_order(subject_of(which), id, until(deadline));
  });
}

/// Members first: one that releases its lease and leaves meanwhile is then not taken for one that
/// has vanished while it held.
std::expected<std::vector<looked>, unknown> lease_file::read(
    std::span<const core::election_index> which, core::time_point deadline) {
  look_at_members_directory();
  members_.repeat_words();
  const auto others = members_.others();
  auto outcome = with_table(deadline, [&](lease_table& table) {
    return table.read(subjects_of(which), until(deadline));
  });
  if (!outcome) return std::unexpected(std::move(outcome.error()));
  if (*outcome) {
    members_.forget_dead(others);
    for (std::size_t i = 0; i < which.size(); ++i) {
      core::observation& seen = (**outcome)[i].seen;
      const std::string_view election = subject_of(which[i]).election;
      seen.members = members_.members_of(others, election);
      seen.identity_in_use = seen.identity_in_use || members_.has_namesake(others, election);
    }
  }
  return std::move(*outcome);
}

std::vector<subject> lease_file::subjects_of(std::span<const core::election_index> which) const {
  std::vector<subject> out;
  out.reserve(which.size());
  for (const core::election_index one : which) out.push_back(subject_of(one));
  return out;
}

subject lease_file::subject_of(core::election_index which) const {
  const settings::election& one = elections_[core::place(which)];
  return {.election = one.name, .slots = one.slots};
}

}  // namespace tenure::stores::sqlite
