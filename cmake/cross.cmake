# A build for another architecture of Debian's by the same clang, on Debian's packages for that architecture.
# The presets arm64 and amd64 name it.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_CXX_COMPILER clang++-19)
set(CMAKE_CXX_COMPILER_TARGET ${TENURE_TARGET})
set(CMAKE_C_COMPILER clang-19)
set(CMAKE_C_COMPILER_TARGET ${TENURE_TARGET})
string(REGEX MATCH "^[^-]+" CMAKE_SYSTEM_PROCESSOR ${TENURE_TARGET})
# GNU's linker knows this machine's architecture only.
set(CMAKE_EXE_LINKER_FLAGS_INIT -fuse-ld=lld-19)
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES TENURE_TARGET)

# pkg-config tells what to link; its own default is this machine's.
set(ENV{PKG_CONFIG_LIBDIR} /usr/lib/${TENURE_TARGET}/pkgconfig:/usr/share/pkgconfig)
