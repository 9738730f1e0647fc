#include <cstdint>
#include <utility>

#include "core/timing.hpp"
#include "health/health_check.hpp"
#include "http/client/http_network.hpp"
#include "http/client/local_url.hpp"

namespace tenure::health {
namespace {

/// The longest answer; a health check's is shorter.
constexpr std::size_t most_answer_bytes = 1024 * 1024;

/// The connection of a cancelled check may still be open when the next check begins.
constexpr std::size_t most_connections = 2;

class http_check final : public health_check {
 public:
  http_check(http::asio_loop& on, http::local_url what)
      : loop_(on),
        target_(what.target),
        subject_(http::subject_of("GET", what)),
        client_(http::make_http_client(
            on.executor(), std::move(what.server), {},
            {.body_bytes = most_answer_bytes, .connections = most_connections, .idle = {}})) {}

  void begin(core::duration limit, handler done) override {
    done_ = std::move(done);
    const core::time_point deadline = loop_.now() + limit;
    client_->send(
        {.method = "GET", .target = target_, .headers = {{.name = "Connection", .value = "close"}}},
        deadline,
        [this, limit, deadline,
         number = ++number_](const std::expected<http::client_reply, http::client_error>& how) {
          if (number == number_) done_with(how, limit, loop_.now() >= deadline);
        });
  }

  void cancel() override {
    ++number_;
    done_ = nullptr;
  }

  [[nodiscard]] const std::string& subject() const override { return subject_; }

 private:
  void done_with(const std::expected<http::client_reply, http::client_error>& how,
                 core::duration limit, bool late) {
    const handler done = std::exchange(done_, nullptr);
    if (!how && late) {
      done(subject_ + ": no answer within " + core::text(limit));
    } else if (!how) {
      done(how.error().text);
    } else if (how->status < 200 || how->status > 299) {
      done(subject_ + " answered " + std::to_string(how->status));
    } else {
      done(std::nullopt);
    }
  }

  http::asio_loop& loop_;
  std::string target_;
  std::string subject_;
  handler done_;
  std::uint64_t number_ =
      0;  ///< the number of the newest check: an earlier one may still be answered
  std::unique_ptr<http::http_client> client_;
};

}  // namespace

std::unique_ptr<health_check> make_http_check(http::asio_loop& on, const std::string& url) {
  return std::make_unique<http_check>(on, http::take_apart(url));
}

}  // namespace tenure::health
