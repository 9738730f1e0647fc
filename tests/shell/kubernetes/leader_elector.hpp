#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "foreign_program.hpp"

namespace tenure::shell {

/// A Go program that contends for the first Lease of an election by client-go's `leaderelection`.
/// It compares what it reads with what it has read before, times in whole seconds; it takes a Lease
/// over that has not changed for as long as it says, by its own clock, with a write that relies on
/// the resourceVersion. When it holds, it acts for a while; then it releases, or dies without a
/// word and is started again later.
///
/// It stops acting when it could not renew for its renew deadline. It knows nothing of annotations,
/// and leaves them as they are.
class leader_elector : public foreign_program {
 public:
  /// `number`: unique among pods and clients.
  leader_elector(stage& s, std::size_t number, std::string election, std::uint64_t seed);

  /// It releases what it has, and does not contend any more.
  void retire();

 private:
  void start();
  void turn();
  void look();
  void judge(const nlohmann::json& lease);
  void make();
  void write(const nlohmann::json& lease, bool is_new_term);
  void wrote(const reply& found, world_time sent_at);
  void renewed(const std::string& body, world_time sent_at);
  void observe(const nlohmann::json& lease);
  void act_by(const nlohmann::json& lease);
  void release(answer then);
  void turn_later();
  void over();
  [[nodiscard]] std::string name() const { return "client-" + std::to_string(number_); }
  [[nodiscard]] bool holds() const;
  [[nodiscard]] bool others_wait() const;
  [[nodiscard]] std::string time_now() const;

  std::string identity_;
  std::int64_t duration_s_;
  core::duration wall_off_{};
  std::uint32_t runs_ = 0;
  std::optional<nlohmann::json> lease_;  ///< as it was last read or written
  std::string observed_;                 ///< its record, as far as it is compared
  world_time observed_at_{};
};

}  // namespace tenure::shell
