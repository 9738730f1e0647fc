// Compiles Asio and Beast once; every other file sees declarations only. Separate compilation must
// be on for every file of a program or for none, so this room's target defines it for its users.
#include <boost/asio/impl/src.hpp>
#include <boost/beast/src.hpp>
