#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/clock.hpp"
#include "stores/document_splitter.hpp"
#include "stores/kubernetes/cluster.hpp"

namespace tenure::stores::kubernetes {

/// A GET of JSON documents without an end, a watch, at one API server.
///
/// Used on its loop only. No handler is called after its destruction, which may happen in any of
/// them, nor from within the constructor.
class document_stream {
 public:
  struct handlers {
    std::function<void()> confirmed;  ///< once, first: the server lets us watch
    /// Documents in their order, and how many bytes that took.
    std::function<void(std::span<const std::string>, std::size_t)> shows;
    std::function<void(const call_failure&)> ended;  ///< once, last
  };

  /// The server must confirm by the deadline. `most_levels`: how deeply a document may be nested.
  document_stream(cluster& through, const request& what, core::time_point deadline, handlers on,
                  int most_levels = document_splitter::max_nesting);
  ~document_stream();
  document_stream(const document_stream&) = delete;
  document_stream& operator=(const document_stream&) = delete;

  [[nodiscard]] bool is_confirmed() const { return status_ == status_ok; }

  /// Reads nothing for this long. Call from within `handlers::shows`.
  void pause(core::duration how_long);

  /// Ends it, as if the server had.
  void end(const call_failure& why);

 private:
  static constexpr unsigned status_ok = 200;

  void head(const http::reply_head& what);
  void data(std::string_view piece);
  void ended(std::optional<http::client_error> why);
  void refused(std::string_view body);

  cluster& cluster_;
  handlers on_;
  unsigned status_ = 0;  ///< 0: there is no answer yet
  document_splitter documents_;
  std::unique_ptr<http::http_stream> stream_;
};

}  // namespace tenure::stores::kubernetes
