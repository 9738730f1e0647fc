#include "api/service.hpp"

#include <utility>

#include "api/admission.hpp"
#include "api/answer.hpp"

namespace tenure::api {
namespace {

/// What to do about a listener that cannot be opened.
std::string advice(listener which) {
  const std::string flag = which == listener::api ? "--listen" : "--probe-listen";
  return "; give another address with " + flag + ", or " + flag + " off";
}

}  // namespace

std::expected<std::unique_ptr<service>, service_error> service::start(
    const board& from, service_settings with, clocks time, fresh_reader fresh, controller control) {
  std::unique_ptr<service> out(new service);
  const auto instant_of = [time = std::move(time)] {
    return instant{.now = time.boot(), .unix_ms = time.unix_ms()};
  };
  const auto pulse_of = [&from, bound = with.beat_bound] {
    return pulse{.last_beat = from.last_beat(), .bound = bound};
  };
  const auto open =
      [&](listener which, const std::optional<net::listen_address>& where,
          auto answered) -> std::expected<std::optional<net::listen_address>, service_error> {
    if (!where) return std::nullopt;
    auto bound = out->server_.listen_on(*where, std::move(answered), with.limits);
    if (bound) return std::move(*bound);
    return std::unexpected(service_error{
        .which = which, .kind = bound.error().kind, .text = bound.error().text + advice(which)});
  };

  const auto order = [&from, who = with.control, hosts = with.hosts, control = std::move(control)](
                         const net::request& asked, net::responder& respond) {
    if (!control || !is_control(asked)) return false;
    if (auto refused = refusal(asked, hosts)) {
      respond(std::move(*refused));
      return true;
    }
    auto wanted = read_control(asked, *from.current(), who);
    if (!wanted) {
      respond(std::move(wanted.error()));
      return true;
    }
    control(wanted->which, wanted->what,
            [asked, what = wanted->what,
             respond = std::move(respond)](const control_result& result) mutable {
              respond(control_response(asked, what, result));
            });
    return true;
  };

  // The snapshot is taken before the clock is read: time that passes in between can only make an
  // answer more careful.
  auto api = open(listener::api, with.api,
                  [&from, instant_of, pulse_of, order, hosts = with.hosts,
                   fresh = std::move(fresh)](const net::request& asked, net::responder respond) {
                    if (order(asked, respond)) return;
                    const auto seen = from.current();
                    const auto which = fresh ? needs_fresh_read(asked, *seen, hosts) : std::nullopt;
                    if (!which) {
                      const pulse alive = pulse_of();
                      return respond(answer(asked, *seen, alive, instant_of(), hosts));
                    }
                    fresh(*which, [&from, instant_of, which = *which, asked,
                                   respond = std::move(respond)](fresh_result read) mutable {
                      const auto now = from.current();
                      respond(answer_fresh(asked, which, *now, instant_of(), read));
                    });
                  });
  if (!api) return std::unexpected(std::move(api.error()));
  auto probe =
      open(listener::probe, with.probe, [&from, instant_of, pulse_of](const net::request& asked) {
        const auto seen = from.current();
        const pulse alive = pulse_of();
        return answer_probe(asked, *seen, alive, instant_of());
      });
  if (!probe) return std::unexpected(std::move(probe.error()));

  out->api_ = std::move(*api);
  out->probe_ = std::move(*probe);
  if (auto started = out->server_.start(); !started) {
    return std::unexpected(service_error{.text = std::move(started.error())});
  }
  return out;
}

service::~service() {
  stop();
}

void service::stop() {
  server_.shutdown();
}

}  // namespace tenure::api
