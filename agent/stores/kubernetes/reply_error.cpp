#include "stores/kubernetes/reply_error.hpp"

#include <algorithm>

#include "stores/kubernetes/codec.hpp"
#include "stores/server_text.hpp"

namespace tenure::stores::kubernetes {
namespace {

constexpr std::string_view any_reason{};

struct row {
  int code;
  std::string_view reason;  ///< what the Status says; empty: anything
  error_meaning meaning;
  std::string_view advice;
};

constexpr std::string_view not_kubernetes =
    "check the endpoint: it must be the address of a Kubernetes API server";

/// The words of Kubernetes 1.35, which the suite asks where it can. The first row counts that fits.
constexpr row table[] = {
    {401, any_reason, error_meaning::unauthorized, ""},  // `refusal_advice`
    {403, any_reason, error_meaning::denied, ""},        // the same
    {404, "NotFound", error_meaning::missing, ""},
    {405, any_reason, error_meaning::unsupported, not_kubernetes},
    {406, any_reason, error_meaning::unsupported, not_kubernetes},
    {409, "Conflict", error_meaning::conflict, ""},
    {409, "AlreadyExists", error_meaning::conflict, ""},
    {410, any_reason, error_meaning::expired, ""},
    {413, any_reason, error_meaning::invalid, ""},
    {415, any_reason, error_meaning::unsupported, not_kubernetes},
    {429, any_reason, error_meaning::busy, "the API server limits the rate of requests"},
    {400, any_reason, error_meaning::invalid, ""},
};

}  // namespace

reply_error read_error(unsigned status_code, std::string_view body, const refusal_advice& with) {
  reply_error out{.status = status_code, .message = server_text(body)};
  const auto said = parse_status(body);
  if (!said || said->code != static_cast<int>(status_code)) {
    if (status_code == 429) out.meaning = error_meaning::busy;
    if (status_code == 405 || status_code == 501) out.meaning = error_meaning::unsupported;
    if (status_code == 400) out.meaning = error_meaning::invalid;
    // A proxy that answers so is worth telling the user, too.
    if (status_code == 401) out.meaning = error_meaning::unauthorized;
    if (status_code == 403) out.meaning = error_meaning::denied;
    if (status_code == 400 && out.message.contains("HTTP request to an HTTPS server")) {
      out.meaning = error_meaning::unsupported;
      out.advice = "write the endpoint as https://";
    }
    return out;
  }
  out.message = said->message;
  if (said->code == 422) {
    // A JSON Patch whose test fails names no field of the object.
    out.meaning = said->has_causes ? error_meaning::invalid : error_meaning::conflict;
    return out;
  }
  if (said->code == 404 && said->kind == "namespaces") {
    out.meaning = error_meaning::nowhere;
    out.advice = "create the namespace, or give another one";
    return out;
  }
  const auto* const found = std::ranges::find_if(table, [&](const row& one) {
    return one.code == said->code && (one.reason.empty() || one.reason == said->reason);
  });
  if (found == std::ranges::end(table)) return out;
  out.meaning = found->meaning;
  out.advice = out.meaning == error_meaning::unauthorized ? with.if_unauthorized
               : out.meaning == error_meaning::denied     ? with.if_denied
                                                          : found->advice;
  return out;
}

std::string text(const reply_error& what) {
  if (what.advice.empty()) return what.message;
  return (what.message.empty() ? "" : what.message + "; ").append(what.advice);
}

}  // namespace tenure::stores::kubernetes
