#pragma once

#include <string>

namespace tenure::process {

/// "exited with status 3", "was ended by SIGKILL", for what waitpid has returned.
std::string describe_wait_status(int wait_status);

}  // namespace tenure::process
