#pragma once

#include <gtest/gtest.h>

#include <utility>

#include "http/server/http_server.hpp"
#include "raw_client.hpp"

namespace tenure::tests {

/// Says what it was asked: "GET /path body".
inline http::response echo(const http::request& asked) {
  return {.content_type = "text/plain",
          .body = asked.method + " " + asked.target.path +
                  (asked.body.empty() ? "" : " " + asked.body)};
}

/// A server on loopback, at a port that the kernel chooses.
struct test_server {
  explicit test_server(http::http_limits limits = {}, http::http_server::handler answer = echo,
                       const char* host = "127.0.0.1") {
    auto bound = server.listen_on({host, 0}, std::move(answer), limits);
    if (!bound) {
      ADD_FAILURE() << bound.error().text;
      return;
    }
    where = *bound;
    EXPECT_TRUE(server.start());
  }

  settings::listen_address where;
  http::http_server server;
};

}  // namespace tenure::tests
