#pragma once

#include <string>

namespace tenure::process {

/// "exited with status 3" or "was ended by SIGKILL", for a status of waitpid.
std::string describe_wait_status(int wait_status);

}  // namespace tenure::process
