#include "cli/ask.hpp"

#include <boost/asio/io_context.hpp>
#include <optional>
#include <utility>

#include "net/http_client.hpp"
#include "os/boot_time.hpp"

namespace tenure::cli {

std::expected<net::client_reply, net::client_error> ask(const net::endpoint& server,
                                                        net::client_request what,
                                                        core::duration patience) {
  boost::asio::io_context loop;
  net::http_client client(loop.get_executor(), server);
  std::optional<std::expected<net::client_reply, net::client_error>> answer;
  client.send(std::move(what), os::boot_now() + patience, [&](auto reply) {
    answer.emplace(std::move(reply));
    client.close();
  });
  while (!answer) loop.run_one();
  return std::move(*answer);
}

}  // namespace tenure::cli
