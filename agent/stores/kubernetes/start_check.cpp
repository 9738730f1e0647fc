#include "stores/kubernetes/start_check.hpp"

#include <algorithm>
#include <utility>

namespace tenure::stores::kubernetes {
namespace {

constexpr const char* reviews = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";

}  // namespace

void start_check::run(core::duration patience, handler_of_findings then) {
  const auto all = std::make_shared<checking>();
  all->deadline = shared_.loop.now() + patience;
  all->then = std::move(then);
  ask_version(all);
}

/// A user who may not ask for the version can still keep leases.
void start_check::ask_version(const checking_ptr& all) {
  shared_.servers.call(
      {.path = "/version"}, all->deadline,
      shared_.guarded([this, all](const reply_or_failure& what) {
        const auto said =
            what ? parse_version(what->body) : std::unexpected(malformed{.why = what.error().why});
        if (said) {
          all->found.server_version = *said;
        } else {
          all->found.warnings.push_back("the version of Kubernetes is unknown: " +
                                        said.error().why);
        }
        const bool reached = what || what.error().meaning != error_meaning::unknown;
        if (reached) {
          const std::string& lease = shared_.with.elections.front().name;
          look_for_namespace(all);
          for (const char* verb : {"get", "patch"}) ask_for_verb(all, verb, lease);
          // A user who makes the Leases beforehand leaves these out.
          if (shared_.with.announce) {
            for (const char* verb : {"create", "delete"}) ask_for_verb(all, verb, "");
          }
        }
        ended(all);
      }));
}

/// Lists and watches of a namespace that does not exist are empty, so we try what would fail: to
/// create a Lease, without doing it. A user who may not create any is refused, and goes on.
void start_check::look_for_namespace(const checking_ptr& all) {
  ++all->left;
  shared_.servers.call({.method = "POST",
                        .path = shared_.path,
                        .query = "dryRun=All",
                        .body = creation(shared_.with.elections.front().name, {}, {}, {})},
                       all->deadline, shared_.guarded([this, all](const reply_or_failure& what) {
                         if (!what && what.error().meaning == error_meaning::nowhere) {
                           all->found.refusal = what.error().why;
                         }
                         ended(all);
                       }));
}

/// `list` and `watch` are tried anyway.
void start_check::ask_for_verb(const checking_ptr& all, const std::string& verb,
                               const std::string& lease) {
  ++all->left;
  shared_.servers.call({.method = "POST",
                        .path = reviews,
                        .body = access_review(shared_.self.name_space, verb, lease)},
                       all->deadline,
                       shared_.guarded([this, all, verb](const reply_or_failure& what) {
                         const bool is_missing = what && parse_access(what->body) == false;
                         if (is_missing) all->missing.push_back(verb);
                         ended(all);
                       }));
}

void start_check::ended(const checking_ptr& all) {
  if (--all->left > 0) return;
  if (!all->missing.empty()) {
    std::ranges::sort(all->missing);
    std::string verbs;
    for (const std::string& one : all->missing) verbs += (verbs.empty() ? "" : ", ") + one;
    all->found.warnings.push_back(std::string(lacks_verbs) + shared_.self.name_space + ": " +
                                  verbs +
                                  "; add them to its Role, or see Permissions in "
                                  "docs/kubernetes.md for what works without");
  }
  all->then(std::move(all->found));
}

}  // namespace tenure::stores::kubernetes
