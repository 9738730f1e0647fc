#include "stores/etcd/watcher.hpp"

#include <algorithm>
#include <utility>

#include "core/check.hpp"
#include "core/sometimes.hpp"
#include "stores/etcd/requests.hpp"

namespace tenure::stores::etcd {
namespace {

/// For each read while connecting, and for the first bytes of the stream.
constexpr core::duration connect_patience = std::chrono::seconds(3);
/// Pauses between attempts to connect: doubled from the first to the longest, with jitter.
constexpr core::duration first_pause = std::chrono::milliseconds(50);
constexpr core::duration longest_pause = std::chrono::seconds(2);
/// A stream that breaks after this time has worked, and is opened again without a pause.
constexpr core::duration steady_after = longest_pause;

/// Not 0: for 0, etcd chooses an id.
std::int64_t watch_id_of(std::size_t election) {
  return static_cast<std::int64_t>(election) + 1;
}

/// The id of replies about all watches of a stream.
constexpr std::int64_t all_watches = -1;

core::duration pause_after(std::uint32_t failures, std::uint64_t chance) {
  const core::duration most = std::min(longest_pause, first_pause * (1U << std::min(failures, 6U)));
  return most / 2 + core::duration(static_cast<core::duration::rep>(
                        chance % static_cast<std::uint64_t>((most / 2).count())));
}

}  // namespace

watcher::watcher(base::event_loop& where, cluster& through, std::vector<mirror>& mirrors,
                 const std::vector<key_range>& ranges, core::duration check_every, handlers on)
    : loop_(where),
      cluster_(through),
      mirrors_(mirrors),
      ranges_(ranges),
      check_every_(check_every),
      on_(std::move(on)),
      next_(loop_) {}

watcher::~watcher() = default;

/// Drops the stream and everything that is on its way on it.
void watcher::drop_stream() {
  live_ = tells_progress_ = false;
  awaited_.clear();
  stream_.reset();
  ++generation_;
}

void watcher::connect() {
  drop_stream();
  next_.cancel();
  documents_ = document_splitter();
  created_.assign(ranges_.size(), false);
  read_at_ = 0;
  reached_ = false;
  read_from(0);
}

/// Reads a limited number of elections at a time, then opens the stream.
void watcher::read_from(std::size_t first) {
  const std::size_t count = std::min(ranges_.size() - first, most_operations);
  const auto some = std::span(ranges_).subspan(first, count);
  cluster_.call(transaction_path, transaction_request(read_transaction(some)),
                loop_.now() + connect_patience,
                [this, first, count, generation = generation_,
                 alive = std::weak_ptr(alive_)](reply_or_failure answer) {
                  if (alive.expired() || generation != generation_) return;
                  if (!answer) return fail(std::move(answer.error()));
                  auto read = reads_in(answer->body, count);
                  if (!read) return fail({.why = cluster_.present() + ": " + read.error().why});
                  cluster_id_ = read->header.cluster_id;
                  read_at_ = read->header.revision;
                  for (std::size_t i = 0; i < count; ++i) {
                    mirrors_[first + i].replace(read->values[i], read->header.revision);
                  }
                  if (first + count < ranges_.size()) return read_from(first + count);
                  open_stream();
                });
}

void watcher::open_stream() {
  // From the revision of the read, although the mirror knows that one: etcd reports no progress as
  // long as any watch begins later than its revision.
  std::string body;
  for (std::size_t i = 0; i < ranges_.size(); ++i) {
    body += watch_request(ranges_[i].begin, ranges_[i].end, mirrors_[i].revision(), watch_id_of(i));
  }
  const auto current = [this, generation = generation_, alive = std::weak_ptr(alive_)] {
    return !alive.expired() && generation == generation_;
  };
  next_.after(connect_patience, [this, current] {
    if (!current() || live_) return;
    fail({.why = cluster_.present() +
                 " has not confirmed in time that it lets us watch; is there a proxy that "
                 "waits for the end of a request?"});
  });
  auto status = std::make_shared<unsigned>(0);
  stream_ =
      cluster_.stream(watch_path, std::move(body), loop_.now() + connect_patience,
                      {.head = [status](const http::reply_head& head) { *status = head.status; },
                       .data =
                           [this, current, status](std::string_view piece) {
                             if (!current()) return;
                             if (*status == 200) return take(piece);
                             fail(read_error(*status, piece), "does not let us watch");
                           },
                       .ended =
                           [this, current](std::optional<http::client_error> why) {
                             if (!current()) return;
                             fail({.why = why ? std::move(why->text)
                                              : cluster_.present() + " has ended the watch"});
                           }});
}

void watcher::take(std::string_view piece) {
  const auto documents = documents_.feed(piece);
  if (!documents) return fail({.why = cluster_.present() + ": " + documents.error().why});
  stream_->pause(taken_.take(loop_.now(), piece.size(), documents->size()));
  const std::weak_ptr alive = alive_;
  const std::uint64_t generation = generation_;
  for (const std::string& document : *documents) {
    heard_ = true;
    if (parse_error(document)) return fail(read_error(200, document), "has ended the watch");
    const auto reply = parse_watch(document);
    if (!reply) return fail({.why = cluster_.present() + ": " + reply.error().why});
    take(*reply);
    if (alive.expired() || generation != generation_) return;
  }
  if (live_ && !documents->empty() && on_.heard) on_.heard();
}

void watcher::take(const watch_reply& what) {
  reached_ = reached_ || what.header.revision >= read_at_;
  if (what.canceled && what.compact_revision > 0) {
    TENURE_SOMETIMES(etcd_watch_begins_before_a_compaction);
    return fail({.why = cluster_.present() + " has compacted what a watch was to begin with"});
  }
  if (what.canceled) return fail(read_cancel_reason(what.cancel_reason), "has canceled a watch");
  if (what.events.empty() && !what.created) {
    // Progress of a single watch says nothing about the others.
    if (what.watch_id == all_watches) progressed(what.header.revision);
    return;
  }
  const auto most = watch_id_of(mirrors_.size());
  if (what.watch_id < watch_id_of(0) || what.watch_id >= most) {
    return fail({.why = cluster_.present() + " speaks of a watch that is not ours"});
  }
  const auto which = static_cast<std::size_t>(what.watch_id - watch_id_of(0));
  if (what.created) return confirm(which);
  mirrors_[which].apply(what.events);
  on_.changed(core::election_index{static_cast<std::uint32_t>(which)});
}

void watcher::confirm(std::size_t which) {
  created_[which] = true;
  if (live_ || std::ranges::find(created_, false) != created_.end()) return;
  live_ = true;
  live_since_ = loop_.now();
  heard_ = true;
  check_later();
  cluster_.warm_up(loop_.now() + connect_patience);
  on_.live();
}

void watcher::await(std::uint64_t revision, std::move_only_function<void()> reached) {
  TENURE_CHECK(tells_progress());
  awaited_.push_back({.revision = revision, .reached = std::move(reached)});
  stream_->send(progress_request());
}

void watcher::progressed(std::uint64_t revision) {
  if (!tells_progress_) return;
  std::vector<awaited> there;
  std::erase_if(awaited_, [&](awaited& one) {
    if (one.revision > revision) return false;
    there.push_back(std::move(one));
    return true;
  });
  const std::weak_ptr alive = alive_;
  for (awaited& one : there) {
    one.reached();
    if (alive.expired()) return;
  }
}

void watcher::check_later() {
  next_.after(check_every_, [this, generation = generation_] {
    if (generation == generation_) check();
  });
}

void watcher::check() {
  if (!heard_) {
    TENURE_SOMETIMES(etcd_watch_is_silent);
    return fail({.why = cluster_.present() + " says nothing on a watch, not even when asked"});
  }
  // The store may have been restored from a backup between the read and the watch: then the watch
  // would say nothing before the new history is as long as the old one was.
  if (!reached_) {
    TENURE_SOMETIMES(etcd_watch_is_behind_its_read);
    return fail(
        {.why = cluster_.present() +
                " is behind what it has just been read at; was it restored from a backup?"});
  }
  heard_ = false;
  stream_->send(progress_request());
  cluster_.warm_up(loop_.now() + connect_patience);
  check_later();
}

void watcher::close() {
  alive_.reset();
  drop_stream();
  next_.cancel();
}

void watcher::fail(const gateway_error& what, std::string_view doing) {
  fail({.meaning = what.meaning,
        .why = cluster_.present() + " " + std::string(doing) + ": " + text(what)});
}

/// Reconnects once without a pause, as the next endpoint may work; not if it breaks again and
/// again.
void watcher::fail(call_failure what) {
  const bool was_live = live_;
  drop_stream();
  if (was_live && loop_.now() - live_since_ >= steady_after) failures_ = 0;
  const std::uint32_t before = failures_++;
  if (was_live && before == 0) return connect();
  cluster_.move_on();
  next_.after(pause_after(before, loop_.random_bits()), [this] { connect(); });
  on_.broken(std::move(what));
}

}  // namespace tenure::stores::etcd
