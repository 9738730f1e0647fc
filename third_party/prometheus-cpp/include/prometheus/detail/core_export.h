#pragma once

// What CMake's generate_export_header makes of it for a static library.
#define PROMETHEUS_CPP_CORE_EXPORT
