// Compiles Asio once; every other file sees declarations only. Separate compilation must be on for
// every file of a program or for none, so the lowest room whose users know Asio defines it for all.
#include <boost/asio/impl/src.hpp>
