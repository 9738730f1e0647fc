#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "servers/etcd_server.hpp"
#include "servers/secure_http.hpp"
#include "servers/server_cluster.hpp"

namespace tenure::servers {

/// Today's release, with Debian's etcd as its store. `./dev test` leaves both in build/servers; the
/// variable TENURE_KUBERNETES_TODAY names another kube-apiserver.
std::vector<server_release> kubernetes_releases();

struct kubernetes_options {
  std::size_t members = 1;           ///< API servers; all share one etcd
  std::vector<std::string> flags{};  ///< further ones, e.g. "--watch-cache=false"
  std::string etcd = "debian";       ///< which of `etcd_releases`
};

/// Who calls.
struct kubernetes_user {
  std::string name;  ///< in RBAC and in messages, e.g. "system:serviceaccount:default:a"
  std::string token;
  std::string token_file;  ///< has the token; mode 0600
};

/// What a user may do with the objects of one kind in a namespace.
struct kubernetes_rights {
  std::vector<std::string> verbs{"get", "list", "watch", "create", "update", "patch", "delete"};
  std::string group = "coordination.k8s.io";
  std::string resource = "leases";
  std::string name_space = "default";
  std::vector<std::string> names{};  ///< of objects; empty: all
};

/// Further properties of a request.
struct kubernetes_request {
  std::size_t member = 0;
  /// For PATCH: "application/merge-patch+json" or "application/json-patch+json".
  std::string_view content_type = "application/json";
};

inline constexpr kubernetes_request merge_patch{.content_type = "application/merge-patch+json"};
inline constexpr kubernetes_request json_patch{.content_type = "application/json-patch+json"};

/// Real API servers of Kubernetes in front of a real etcd. There are no controllers and no nodes:
/// what is stored is all there is.
class kubernetes_server final : public server_cluster {
 public:
  /// Starts it and waits until every member is healthy and knows what `member_user` may do; fails
  /// the test if patience ends first.
  explicit kubernetes_server(const server_release& release, kubernetes_options options = {});

  [[nodiscard]] std::uint16_t port(std::size_t member = 0) const;
  /// "https://127.0.0.1:20123"
  [[nodiscard]] std::string endpoint(std::size_t member = 0) const override;
  /// The CA of every member's certificate, a PEM file.
  [[nodiscard]] std::string ca_file() const;

  /// Ready by its own word, and the namespace "default" exists.
  [[nodiscard]] bool healthy(std::size_t member) const override;

  /// May do everything: in the group system:masters.
  [[nodiscard]] const kubernetes_user& operator_user() const { return operator_; }
  [[nodiscard]] const std::string& token() const { return operator_.token; }
  [[nodiscard]] const std::string& token_file() const { return operator_.token_file; }

  /// "member", with the default `kubernetes_rights`.
  [[nodiscard]] const kubernetes_user& member_user() const { return member_; }

  /// That user may also sign in with this client certificate, both PEM files.
  [[nodiscard]] std::string member_certificate() const;
  [[nodiscard]] std::string member_key() const;

  /// A new namespace; its name is `begin` and a number.
  std::string add_name_space(const std::string& begin);

  /// A ServiceAccount with a token of its own, as pods have; it ends with the account.
  kubernetes_user add_user(const std::string& name, const kubernetes_rights& rights,
                           const std::string& name_space = "default");

  /// From now on `who` has exactly these rights on that resource in that namespace. Returns when
  /// every member that runs goes by them.
  void allow(const kubernetes_user& who, const kubernetes_rights& rights);

  /// The answer to a request of the operator. Status 0 without one within twice `patience`.
  secure_answer call(std::string_view method, std::string_view path, std::string_view body = {},
                     const kubernetes_request& more = {}) const;

  /// The same as another user.
  secure_answer call_as(const std::string& token, std::string_view method, std::string_view path,
                        std::string_view body = {}, const kubernetes_request& more = {}) const;

  /// Whom a request of this user to that member is made by, e.g. for a `secure_stream`.
  [[nodiscard]] secure_caller caller(const std::string& token, std::size_t member = 0) const;

  /// The etcd behind it, e.g. to freeze it.
  etcd_cluster& etcd() { return etcd_; }

 private:
  [[nodiscard]] std::vector<std::string> command(std::size_t member) const override;
  void make_keys();
  [[nodiscard]] kubernetes_user keep(std::string name, std::string token) const;
  [[nodiscard]] std::string file(const std::string& name) const { return folder() / name; }
  [[nodiscard]] bool goes_by(const kubernetes_user& who, const kubernetes_rights& rights,
                             std::size_t member) const;

  server_release release_;
  kubernetes_options options_;
  etcd_cluster etcd_;
  kubernetes_user operator_;
  kubernetes_user member_;
  int name_spaces_ = 0;
};

/// One server for the tests of a process that do not disturb each other, over that one of
/// `etcd_releases`: it starts with the first that asks and ends with the last test. Precondition:
/// there are binaries of both.
kubernetes_server& shared_kubernetes_server(const server_release& release,
                                            const std::string& etcd = kubernetes_options().etcd);

}  // namespace tenure::servers
