#include <cstddef>
#include <utility>

#include "http/client/http_network.hpp"
#include "http/client/local_url.hpp"
#include "workload/hook.hpp"

namespace tenure::workload {
namespace {

/// The longest answer body; nobody reads it.
constexpr std::size_t most_unread_bytes = 1024 * 1024;

class http_hook final : public hook {
 public:
  http_hook(http::asio_loop& on, http::local_url what)
      : target_(what.target),
        subject_(http::subject_of("POST", what)),
        loop_(on),
        server_(std::move(what.server)) {}

  void call(const hook_order& what, core::time_point until, handler done) override {
    done_ = std::move(done);
    client_ =
        http::make_http_client(loop_.executor(), server_, {},
                               {.body_bytes = most_unread_bytes, .connections = 1, .idle = {}});
    client_->send({.method = "POST",
                   .target = target_,
                   .headers = {{.name = "Connection", .value = "close"}},
                   .body = what.body},
                  until, [this](const std::expected<http::client_reply, http::client_error>& how) {
                    ended(how);
                  });
  }

  /// Closes the connection, so that the server does not act later on what it has not yet read.
  void cancel() override {
    client_.reset();
    done_ = nullptr;
  }

  bool settled(std::function<void()>) override { return true; }

  [[nodiscard]] const std::string& subject() const override { return subject_; }

 private:
  void ended(const std::expected<http::client_reply, http::client_error>& how) {
    const handler done = std::exchange(done_, nullptr);
    if (!how) {
      done(hook_failure{.why = how.error().text,
                        .in_doubt = how.error().how == http::sending::in_doubt});
    } else if (how->status < 200 || how->status > 299) {
      // The workload itself says that it did not accept.
      done(hook_failure{.why = subject_ + " answered " + std::to_string(how->status)});
    } else {
      done(std::nullopt);
    }
  }

  std::string target_;
  std::string subject_;
  http::asio_loop& loop_;
  settings::endpoint server_;
  handler done_;
  std::unique_ptr<http::http_client> client_;  ///< the newest call's client
};

}  // namespace

std::unique_ptr<hook> make_http_hook(http::asio_loop& on, const std::string& url) {
  return std::make_unique<http_hook>(on, http::take_apart(url));
}

}  // namespace tenure::workload
