#include "workload/guard_link.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <cstdlib>

#include "http/asio_loop.hpp"

namespace tenure::workload {
namespace {

std::string error_with(const std::string& fds) {
  ::setenv("TENURE_GUARD_FDS", fds.c_str(), 1);
  boost::asio::io_context io;
  http::asio_loop loop(io.get_executor());
  const auto link =
      guard_link::from_environment(loop, loop.executor(), {}, [](const guard_event&) {});
  EXPECT_FALSE(guard_link::in_environment()) << "it is gone after one look";
  return link ? "no error" : link.error();
}

TEST(GuardLink, ToldOfNoGuardItSaysSo) {
  ::unsetenv("TENURE_GUARD_FDS");
  EXPECT_FALSE(guard_link::in_environment());
  boost::asio::io_context io;
  http::asio_loop loop(io.get_executor());
  const auto link =
      guard_link::from_environment(loop, loop.executor(), {}, [](const guard_event&) {});
  ASSERT_FALSE(link);
  EXPECT_NE(link.error().find("not started by a guard"), std::string::npos) << link.error();
}

TEST(GuardLink, WhatIsNoGuardIsNotTakenForOne) {
  const int file = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  const std::string number = std::to_string(file);
  for (const std::string& fds :
       {std::string("nonsense"), std::string("3"), std::string("-1,-1"), number + "," + number}) {
    const std::string error = error_with(fds);
    EXPECT_NE(error.find("TENURE_GUARD_FDS=" + fds), std::string::npos) << error;
  }
  EXPECT_EQ(::close(file), 0) << "it was not ours to close";
}

}  // namespace
}  // namespace tenure::workload
