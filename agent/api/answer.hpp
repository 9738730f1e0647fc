#pragma once

#include <string>
#include <vector>

#include "api/election_pages.hpp"
#include "api/snapshot.hpp"
#include "api/standing.hpp"
#include "core/clock.hpp"
#include "http/http_message.hpp"

/// Questions to answers, without sockets, clocks or state.
namespace tenure::api {

/// Proof that the election loop turns.
struct pulse {
  core::time_point last_beat;
  core::duration bound{};  ///< a beat older than this means that the loop hangs
};

/// Answers a request to the API listener: `/v1/elections`, `/v1/elections/{name}` and its
/// `/verify` (but for fresh reads, see verify.hpp), `/` and `/api/leader` for readers of older
/// sidecars, `/` for browsers (see status_page.hpp), and the probes.
///
/// Asked by a web page of a stranger it answers 403 (see admission.hpp); `hosts` are further
/// names that Host may have. `pages` saves composing what was asked for before.
http::response answer(const http::request& asked, const snapshot& seen, const pulse& alive,
                      const instant& at, const std::vector<std::string>& hosts,
                      election_pages& pages);

/// Answers a request to the probe listener: `/livez`, `/readyz`, `/leader`, `/primary`, `/replica`.
/// The status is the answer, also to HEAD and OPTIONS. Any Host will do: the kubelet uses the
/// address of the pod, load balancers whatever they like.
http::response answer_probe(const http::request& asked, const snapshot& seen, const pulse& alive,
                            const instant& at);

}  // namespace tenure::api
