#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "kube/api_server.hpp"
#include "process.hpp"
#include "world.hpp"

namespace tenure::shell {

/// What the kubelets write of the containers of the pods, late, and which API server shows it, to
/// streams that break. In some worlds nobody asks. Draws from dice of its own.
class modelled_kubelet {
 public:
  modelled_kubelet(world& in, std::uint64_t seed);

  /// The members of this world ask it.
  [[nodiscard]] bool is_asked() const { return is_asked_; }
  [[nodiscard]] std::unique_ptr<kube::api_server> open(const std::shared_ptr<process>& agent);

  /// A container of this pod has left these last words. Its runtime may lose sight of it, and says
  /// then that it has ended although it goes on.
  void speaks(const std::string& pod, const std::string& words);
  /// Nothing in it is alive. The pod's next container may begin before anybody shows that.
  void has_ended(const std::string& pod, const std::string& words);

 private:
  friend class modelled_api_server;

  struct follower {
    std::weak_ptr<process> agent;
    std::string pod;
    kube::stream_handlers on;
  };

  void write(const std::string& pod, const std::string& words, const char* reason, int exit_code);
  void show(const std::weak_ptr<follower>& to);

  world& world_;
  rng dice_;
  bool is_asked_;
  std::map<std::string, std::string> documents_;  ///< of each pod, the newest
  std::vector<std::weak_ptr<follower>> followers_;
};

}  // namespace tenure::shell
