// Compiles Asio's TLS once, apart from asio.cpp, so that a program without https endpoints does not
// link it.
#include <boost/asio/ssl/impl/src.hpp>
