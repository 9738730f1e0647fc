// Compiles Beast once; every other file sees declarations only. See base/asio.cpp.
#include <boost/beast/src.hpp>
