#pragma once

#include <cstdint>
#include <optional>
#include <string>

/// What `tenure verify` asks an agent, and what it makes of the reply.
namespace tenure::cli {

/// Which term `tenure verify` asks for, and how.
struct verify_query {
  std::string election;
  std::string version;                ///< as given; the agent judges it
  std::optional<std::string> holder;  ///< nothing: whoever it is
  bool fresh = false;                 ///< have the store asked
};

/// What the reply means to whoever waits for a yes or a no.
enum class verify_meaning : std::uint8_t { valid, not_valid, cannot_tell, bad_question };

struct verify_reading {
  verify_meaning is = verify_meaning::cannot_tell;
  bool store_may_tell = false;  ///< it cannot from what it has seen, but might if it asked
  std::string text;             ///< one line for a person
};

/// Path and query, percent-encoded.
std::string verify_target(const verify_query& what);

/// Reads a reply. What does not come from an agent, or does not answer this very question, is
/// neither a yes nor a no: a proxy in between may answer 200 to anything.
verify_reading read_verify_reply(const verify_query& asked, unsigned status,
                                 const std::string& body);

}  // namespace tenure::cli
