#pragma once

#include <expected>
#include <memory>

#include "stores/sqlite/surroundings.hpp"
#include "stores/store.hpp"

namespace tenure::stores {

/// A store in one file on this host, without a server, for agents that share its kernel.
/// `with.endpoints` is exactly one path (or file:// URL). If there is no such file, the store makes
/// it, in a directory that exists. Leases run on CLOCK_BOOTTIME and end with the boot, as their
/// workloads do.
///
/// A term is lost (revoked) when the file is deleted or replaced. The store goes on with the file
/// that has the name then, with larger versions. Replace the file by a rename; never write over it.
std::expected<std::unique_ptr<store>, open_error> make_sqlite_store(http::asio_loop& on,
                                                                    setup with);

/// The same in other surroundings than the kernel's, for tests and the simulator.
std::expected<std::unique_ptr<store>, open_error> make_sqlite_store(
    std::unique_ptr<sqlite::surroundings> in, setup with);

}  // namespace tenure::stores
