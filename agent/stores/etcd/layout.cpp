#include "stores/etcd/layout.hpp"

#include "base/digest.hpp"
#include "base/number_text.hpp"

namespace tenure::stores::etcd {
namespace {

constexpr std::uint64_t mask(int bits) {
  return (std::uint64_t{1} << bits) - 1;
}

constexpr char slot_mark = '.';

std::string_view last_part(std::string_view key) {
  return key.substr(key.rfind('/') + 1);
}

std::string in_hex(std::int64_t lease) {
  return base::hex(static_cast<std::uint64_t>(lease));
}

}  // namespace

std::string prefix_of(std::string_view election) {
  return std::string(election) + "/";
}

std::string contender_key(std::string_view election, std::int64_t lease, std::uint32_t slot) {
  const std::string key = prefix_of(election) + in_hex(lease);
  return slot == 0 ? key : key + slot_mark + std::to_string(slot);
}

std::uint32_t slot_in(std::string_view key) {
  const std::string_view name = last_part(key);
  const std::size_t mark = name.find(slot_mark);
  if (mark == std::string_view::npos ||
      !base::read_number<std::uint64_t>(name.substr(0, mark), 16)) {
    return 0;
  }
  return base::read_number<std::uint32_t>(name.substr(mark + 1)).value_or(0);
}

std::string release_record(std::string_view election) {
  return std::string(election) + ".tenure";
}

std::string agreement_key(std::string_view election) {
  return release_record(election) + ".agreement";
}

std::string member_prefix(std::string_view election) {
  return release_record(election) + ".members/";
}

std::string member_key(std::string_view election, std::int64_t lease) {
  return member_prefix(election) + in_hex(lease);
}

std::string ready_prefix(std::string_view election) {
  return release_record(election) + ".ready/";
}

std::string ready_key(std::string_view election, std::int64_t lease) {
  return ready_prefix(election) + in_hex(lease);
}

std::string seal_prefix(std::string_view election) {
  return release_record(election) + ".seal/";
}

std::string seal_key(std::string_view election, std::int64_t lease) {
  return seal_prefix(election) + in_hex(lease);
}

std::string order_prefix(std::string_view election) {
  return release_record(election) + ".orders/";
}

std::string order_key(std::string_view election, std::string_view id) {
  return order_prefix(election).append(id);
}

key_range range_of(std::string_view election) {
  // The character after '/' is '0': the end of all keys with the prefix.
  return {.begin = release_record(election), .end = std::string(election) + "0"};
}

lease_ids::lease_ids(std::string_view session, std::uint64_t salt)
    // A positive number of 63 bits, whose session part is never 0.
    : session_((base::digest(session) >> (counter_bits + 1)) | 1U),
      first_(salt & mask(counter_bits)),
      counter_(first_) {}

std::int64_t lease_ids::next() {
  counter_ = (counter_ + 1) & mask(counter_bits);
  return static_cast<std::int64_t>(session_ << counter_bits | counter_);
}

bool lease_ids::made(std::string_view key) const {
  const std::string_view name = last_part(key);
  const auto lease = base::read_number<std::uint64_t>(name.substr(0, name.find(slot_mark)), 16);
  return lease && *lease >> counter_bits == session_;
}

bool lease_ids::gave(std::int64_t lease) const {
  const auto id = static_cast<std::uint64_t>(lease);
  // How many have been given up to the one that is asked for, and up to now.
  const std::uint64_t until_it = (id - first_) & mask(counter_bits);
  const std::uint64_t until_now = (counter_ - first_) & mask(counter_bits);
  return id >> counter_bits == session_ && until_it > 0 && until_it <= until_now;
}

}  // namespace tenure::stores::etcd
