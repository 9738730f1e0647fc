// Asio's TLS is compiled here, once, apart from asio.cpp so that a program without a https
// endpoint does not get it linked in.
#include <boost/asio/ssl/impl/src.hpp>
