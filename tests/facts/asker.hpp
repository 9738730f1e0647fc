#pragma once

#include <functional>
#include <string>
#include <vector>

#include "http/http_message.hpp"
#include "servers/server_cluster.hpp"

namespace tenure::tests {

struct answer {
  int status = 0;  ///< 0: none
  std::string body{};
  std::vector<http::header> headers{};  ///< none of Kubernetes
};

/// Makes a request of a store's server, or of a model of it, and waits for the answer.
using asker = std::function<answer(const std::string& method, const std::string& target,
                                   const std::string& body)>;

/// Of "etcd", "consul" or "kubernetes"; `is_old`: etcd of release 3.4.
asker ask_model(const std::string& store, bool is_old = false);

/// A server of its own.
asker ask_server(const std::string& store, const servers::server_release& release);

/// Those of a store that this machine has or lacks.
std::vector<servers::server_release> releases_of(const std::string& store);

}  // namespace tenure::tests
