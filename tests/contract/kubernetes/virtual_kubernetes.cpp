#include "virtual_kubernetes.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <ctime>
#include <utility>

namespace tenure::tests {
namespace {

constexpr core::duration latency = std::chrono::milliseconds(1);

}  // namespace

http::client_reply virtual_reply(unsigned status, std::string body,
                                 std::vector<http::header> headers) {
  http::client_reply out;
  out.status = status;
  out.headers = std::move(headers);
  out.body = std::move(body);
  return out;
}

class virtual_stream final : public http::http_stream {
 public:
  virtual_stream(virtual_kubernetes& at, virtual_kubernetes::watch_ptr which)
      : at_(at), which_(std::move(which)) {}
  ~virtual_stream() override { at_.open_.remove(which_); }
  void send(std::string_view) override {}
  void pause(core::duration) override {}

 private:
  virtual_kubernetes& at_;
  virtual_kubernetes::watch_ptr which_;
};

class virtual_client final : public http::http_client {
 public:
  virtual_client(virtual_kubernetes& at, settings::endpoint server)
      : at_(at), server_(std::move(server)) {}

  std::expected<void, std::string> check() override { return {}; }
  void send(http::client_request what, core::time_point deadline,
            http::reply_handler done) override {
    struct waiting {
      explicit waiting(base::event_loop& on) : patience(on) {}
      http::reply_handler done;
      base::timer patience;
    };
    const auto one = std::make_shared<waiting>(at_.loop_);
    one->done = std::move(done);
    const auto finish = [one, alive = std::weak_ptr(alive_)](auto outcome) {
      one->patience.cancel();
      if (one->done && !alive.expired()) std::exchange(one->done, nullptr)(std::move(outcome));
    };
    one->patience.at(deadline, [this, finish] {
      at_.loop_.post([finish] {
        finish(std::expected<http::client_reply, http::client_error>(
            std::unexpected(http::client_error{.text = "no answer in time"})));
      });
    });
    at_.asked_ = server_.host;
    at_.send(what, finish);
  }
  void warm_up(core::time_point) override {}
  std::unique_ptr<http::http_stream> stream(http::client_request what, core::time_point,
                                            http::stream_handlers on) override {
    at_.asked_ = server_.host;
    return std::make_unique<virtual_stream>(at_, at_.open(what, std::move(on)));
  }
  void close() override { alive_.reset(); }
  [[nodiscard]] const settings::endpoint& server() const override { return server_; }

 private:
  virtual_kubernetes& at_;
  settings::endpoint server_;
  std::shared_ptr<const bool> alive_ = std::make_shared<const bool>(true);
};

http::http_connector virtual_kubernetes::connector() {
  return [this](settings::endpoint server, const http::tls_settings&, const http::client_limits&) {
    return std::make_unique<virtual_client>(*this, std::move(server));
  };
}

int virtual_kubernetes::count(const std::string& name) const {
  const auto found = count_.find(name);
  return found == count_.end() ? 0 : found->second;
}

std::int64_t virtual_kubernetes::wall_ms() const {
  const auto now = loop_.now().time_since_epoch();
  return 1'769'860'800'000 + std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

http::client_reply virtual_kubernetes::truth(const http::client_request& what) {
  const lease_model::reply came = model_.answer(what.method, what.target, what.body);
  show();
  const std::time_t now_s = wall_ms() / 1000;
  std::tm now{};
  gmtime_r(&now_s, &now);
  std::array<char, 40> date{};
  std::strftime(date.data(), date.size(), "%a, %d %b %Y %H:%M:%S GMT", &now);
  return virtual_reply(static_cast<unsigned>(came.status), came.body.dump(),
                       {{.name = "Date", .value = date.data()}});
}

void virtual_kubernetes::send(const http::client_request& what, http::reply_handler done) {
  const std::string name = lease_model::name_of(what.method, what.target);
  ++count_[name];
  const auto told = told_.find(name);
  const auto reply = told == told_.end() ? truth(what) : told->second(what);
  if (!reply) return;
  const auto on_its_way = std::make_shared<std::pair<base::timer, http::reply_handler>>(
      std::piecewise_construct, std::forward_as_tuple(loop_),
      std::forward_as_tuple(std::move(done)));
  on_its_way->first.after(latency, [on_its_way, reply] { on_its_way->second(*reply); });
}

// Watches ----------------------------------------------------------------------------------------

virtual_kubernetes::watch_ptr virtual_kubernetes::open(const http::client_request& what,
                                                       http::stream_handlers on) {
  const auto one = std::make_shared<open_watch>(loop_);
  one->target = what.target;
  one->on = std::move(on);
  one->opened_at = loop_.now();
  watched_.push_back(what.target);
  ++count_["watch"];
  open_.push_back(one);
  one->cut.after(latency,
                 [this, one, what] { loop_.post([this, one, what] { begin(one, what); }); });
  return one;
}

bool virtual_kubernetes::is_open(const watch_ptr& which) const {
  return std::ranges::find(open_, which) != open_.end();
}

void virtual_kubernetes::begin(const watch_ptr& which, const http::client_request& what) {
  const auto told = told_.find("watch");
  if (!is_open(which)) return;
  const auto said = told == told_.end() ? virtual_reply(200, "") : told->second(what);
  if (!said) return;
  which->known = lease_model::begin_of(which->target);
  which->on.head(*said);
  if (said->status != 200) {
    if (is_open(which) && !said->body.empty()) which->on.data(said->body);
    if (is_open(which)) which->on.ended(std::nullopt);
    return;
  }
  if (!is_open(which)) return;
  cut_later(which);
  show(which);
}

void virtual_kubernetes::show() {
  for (const watch_ptr& one : open_) {
    loop_.post([this, one] {
      if (is_open(one)) show(one);
    });
  }
}

void virtual_kubernetes::show(const watch_ptr& which) {
  std::string all;
  for (const lease_model::event& one : model_.events_after(which->known, which->target)) {
    which->known = one.version;
    all += one.what.dump() + "\n";
  }
  if (all.empty()) return;
  cut_later(which);
  which->on.data(all);
}

void virtual_kubernetes::cut_later(const watch_ptr& which) {
  const core::time_point old = core::later(which->opened_at, old_after_);
  which->cut.at(std::min(old, core::later(loop_.now(), silent_for_)),
                [this, which] { loop_.post([this, which] { cut(which); }); });
}

void virtual_kubernetes::cut(const watch_ptr& which) {
  if (!is_open(which)) return;
  which->cut.cancel();
  which->on.ended(http::client_error{.text = "the connection was reset"});
}

void virtual_kubernetes::cut_watches(std::size_t but_newest) {
  std::vector<watch_ptr> all(open_.begin(), open_.end());
  all.resize(all.size() - std::min(all.size(), but_newest));
  for (const watch_ptr& one : all) cut(one);
}

}  // namespace tenure::tests
