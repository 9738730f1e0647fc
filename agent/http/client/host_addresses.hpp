#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "settings/endpoint.hpp"

namespace tenure::http {

/// The addresses of a host: an IP literal as it is, or the result of the last successful look-up of
/// its name.
///
/// A look-up can hang for as long as the name service does and cannot be canceled, so it runs on a
/// thread of its own that owns everything it uses: neither the event loop nor its end waits for it.
/// At most one look-up at a time. Used on its executor only.
class host_addresses {
 public:
  /// The most addresses tried; a name with more usually belongs to a load balancer.
  static constexpr std::size_t most = 8;

  host_addresses(boost::asio::any_io_executor where, const settings::endpoint& of);
  ~host_addresses();
  host_addresses(const host_addresses&) = delete;
  host_addresses& operator=(const host_addresses&) = delete;

  /// In the order in which to try them. Empty: not known yet.
  [[nodiscard]] const std::vector<boost::asio::ip::tcp::endpoint>& known() const { return known_; }

  /// Replaces the addresses, as a successful look-up does.
  void learn(std::vector<boost::asio::ip::tcp::endpoint> addresses) {
    known_ = std::move(addresses);
  }

  /// Call when this address has answered: from now on it is tried first.
  void prefer(const boost::asio::ip::tcp::endpoint& which);

  /// Looks the name up, unless a look-up is under way. Does nothing for a literal. `known` is
  /// unchanged until a look-up succeeds.
  void refresh();

  /// Calls `then`, once, when the look-up under way ends.
  void when_refreshed(std::function<void()> then) { waiting_.push_back(std::move(then)); }

  [[nodiscard]] bool refreshing() const { return job_ != nullptr; }

  /// Why the last look-up failed, e.g. "Name or service not known"; empty if it did not.
  [[nodiscard]] const std::string& failure() const { return failure_; }

 private:
  struct job;
  void ended(std::string failure);

  boost::asio::any_io_executor executor_;
  std::string host_;
  std::uint16_t port_;
  bool literal_;
  std::vector<boost::asio::ip::tcp::endpoint> known_;
  std::string failure_;
  std::shared_ptr<job> job_;
  std::vector<std::function<void()>> waiting_;
};

}  // namespace tenure::http
