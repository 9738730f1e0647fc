// Asio and Beast are compiled here, once; every other file sees declarations only. Separate
// compilation must be on for every file of a program or for none, so it is a definition that
// comes with the room.
#include <boost/asio/impl/src.hpp>
#include <boost/beast/src.hpp>
