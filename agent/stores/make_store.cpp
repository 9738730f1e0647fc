#include <utility>

#include "http/asio_loop.hpp"
#include "http/client/http_network.hpp"
#include "settings/store_kind.hpp"
#include "stores/consul/consul_store.hpp"
#include "stores/etcd/etcd_store.hpp"
#include "stores/kubernetes/kubernetes_store.hpp"
#include "stores/printable_store.hpp"
#include "stores/sqlite/sqlite_store.hpp"
#include "stores/store.hpp"

namespace tenure::stores {

std::expected<std::unique_ptr<store>, open_error> make_store(http::asio_loop& on, setup with) {
  const auto network = [&on] { return http::over_network(on.executor()); };
  store_maker make;
  if (with.kind == "sqlite") {
    make = [&](setup s) { return make_sqlite_store(on, std::move(s)); };
  } else if (with.kind == "etcd") {
    make = [&](setup s) { return make_etcd_store(on, network(), std::move(s)); };
  } else if (with.kind == "consul") {
    make = [&](setup s) { return make_consul_store(on, network(), std::move(s)); };
  } else if (with.kind == "kubernetes") {
    make = [&](setup s) { return make_kubernetes_store(on, network(), std::move(s)); };
  }
  if (make) return make_printable_store(std::move(with), make);
  std::string kinds;
  for (const std::string_view name : settings::store_names) {
    kinds.append(kinds.empty() ? "" : ", ").append(name);
  }
  return std::unexpected(
      open_error{"store \"" + with.kind + "\" is not in this build; there are: " + kinds});
}

}  // namespace tenure::stores
