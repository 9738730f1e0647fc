#include "cli/ask.hpp"

#include <boost/asio/io_context.hpp>
#include <optional>
#include <utility>

#include "net/endpoint.hpp"
#include "net/http_client.hpp"
#include "os/boot_time.hpp"

namespace tenure::cli {
namespace {

constexpr std::uint16_t default_port = 80;

}  // namespace

std::expected<net::client_reply, net::client_error> ask(const std::string& url,
                                                        net::client_request what,
                                                        core::duration patience) {
  auto server = net::parse_endpoint(url, default_port);
  if (!server) return std::unexpected(net::client_error{.text = std::move(server.error())});
  boost::asio::io_context loop;
  net::http_client client(loop.get_executor(), std::move(*server));
  std::optional<std::expected<net::client_reply, net::client_error>> answer;
  client.send(std::move(what), os::boot_now() + patience, [&](auto reply) {
    answer.emplace(std::move(reply));
    client.close();
  });
  while (!answer) loop.run_one();
  return std::move(*answer);
}

}  // namespace tenure::cli
