#pragma once

#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <string>

#include "core/clock.hpp"

namespace tenure::kube {

/// A request to the API server of the cluster in which this pod runs.
struct api_request {
  std::string method = "GET";
  std::string path;     ///< "/api/v1/namespaces/default/pods/db-0"
  std::string query{};  ///< percent-encoded
  std::string body{};
  std::string content_type = "application/json";  ///< the body's
};

/// Why a request was not carried out, or is not known to be.
enum class api_refusal : std::uint8_t {
  unknown,       ///< no answer, or one that says nothing: it may or may not have happened
  conflict,      ///< the object is not what the request relies on
  missing,       ///< there is no such object
  forbidden,     ///< our ServiceAccount may not do that
  unauthorized,  ///< the token is not accepted
  invalid,       ///< the API server will never do what was asked
};

struct api_failure {
  api_refusal what = api_refusal::unknown;
  std::string why{};  ///< for a person; contains no secret

  friend bool operator==(const api_failure&, const api_failure&) = default;
};

/// The body of a reply with status 200 or 201, not parsed yet; or why there is none.
using api_reply = std::expected<std::string, api_failure>;

/// A watch under way. Destroying it, also from within one of its handlers, ends it without a
/// callback.
class api_stream {
 public:
  virtual ~api_stream() = default;
};

struct stream_handlers {
  std::function<void(const std::string&)> shows;  ///< one JSON document
  std::function<void(const api_failure&)> ended;  ///< once, last
};

/// The API server of the cluster in which this pod runs. Used on its loop only.
class api_server {
 public:
  using handler = std::move_only_function<void(api_reply)>;

  virtual ~api_server() = default;

  /// Calls `done` once, by the deadline, and not from within this call. A server that is too busy
  /// is asked again when it says, within the deadline.
  virtual void call(api_request what, core::time_point deadline, handler done) = 0;

  /// A GET whose reply has no end. The server has to begin it by the deadline. No handler is called
  /// from within this call.
  [[nodiscard]] virtual std::unique_ptr<api_stream> follow(api_request what,
                                                           core::time_point deadline,
                                                           stream_handlers on) = 0;

  /// Ends everything; no handler is called afterwards.
  virtual void close() = 0;
};

}  // namespace tenure::kube
