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
  const auto printable = [](std::expected<std::unique_ptr<store>, open_error> made) {
    if (made) made = make_printable_store(std::move(*made));
    return made;
  };
  with.hears = printable_hearing(std::move(with.hears));
  if (with.kind == "sqlite") return printable(make_sqlite_store(on, std::move(with)));
  if (with.kind == "etcd") {
    return printable(make_etcd_store(on, http::over_network(on.executor()), std::move(with)));
  }
  if (with.kind == "consul") {
    return printable(make_consul_store(on, http::over_network(on.executor()), std::move(with)));
  }
  if (with.kind == "kubernetes") {
    return printable(make_kubernetes_store(on, http::over_network(on.executor()), std::move(with)));
  }
  std::string kinds;
  for (const std::string_view name : settings::store_names) {
    kinds.append(kinds.empty() ? "" : ", ").append(name);
  }
  return std::unexpected(
      open_error{"store \"" + with.kind + "\" is not in this build; there are: " + kinds});
}

}  // namespace tenure::stores
