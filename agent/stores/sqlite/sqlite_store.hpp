#pragma once

#include <expected>
#include <memory>

#include "stores/sqlite/surroundings.hpp"
#include "stores/store.hpp"

namespace tenure::stores {

/// A store in one file on this host, for agents that share its kernel: no server is needed.
///
/// `with.endpoints` is exactly one path (or file:// URL). The file is made if there is none, in a
/// directory that exists. Leases run on CLOCK_BOOTTIME and end with the boot, as whatever ran
/// under them does.
///
/// A term is lost (revoked) when the file is deleted or replaced; the store then goes on with the
/// file that has the name, with larger versions. Replace it by renaming, never by writing over
/// it.
std::expected<std::unique_ptr<store>, open_error> make_sqlite_store(http::asio_loop& on,
                                                                    setup with);

/// The same in other surroundings than the kernel's.
std::expected<std::unique_ptr<store>, open_error> make_sqlite_store(
    std::unique_ptr<sqlite::surroundings> in, setup with);

}  // namespace tenure::stores
