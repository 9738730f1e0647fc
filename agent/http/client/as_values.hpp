#pragma once

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace tenure::http {

/// For coroutines: operations complete with a value, never with an exception.
inline constexpr auto as_values = boost::asio::as_tuple(boost::asio::use_awaitable);

}  // namespace tenure::http
