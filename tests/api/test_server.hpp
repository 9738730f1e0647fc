#pragma once

#include <gtest/gtest.h>

#include <utility>

#include "net/http_server.hpp"
#include "raw_client.hpp"

namespace tenure::tests {

/// Says what it was asked: "GET /path body".
inline net::response echo(const net::request& asked) {
  return {.content_type = "text/plain",
          .body = asked.method + " " + asked.target.path +
                  (asked.body.empty() ? "" : " " + asked.body)};
}

/// A server on loopback, at a port that the kernel chooses.
struct test_server {
  explicit test_server(net::http_limits limits = {}, net::http_server::handler answer = echo,
                       const char* host = "127.0.0.1") {
    auto bound = server.listen_on({host, 0}, std::move(answer), limits);
    if (!bound) {
      ADD_FAILURE() << bound.error().text;
      return;
    }
    where = *bound;
    EXPECT_TRUE(server.start());
  }

  net::listen_address where;
  net::http_server server;
};

}  // namespace tenure::tests
