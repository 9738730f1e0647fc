# Compiler flags for all targets, and the definition of a room.

find_program(TENURE_CCACHE ccache)
if(TENURE_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${TENURE_CCACHE}")
endif()

# No warning ends a build, but one: a newer Boost or standard library deprecates something each year. CI and
# `./dev lint` set CMAKE_COMPILE_WARNING_AS_ERROR (DEV_WERROR=ON in the environment of ./dev).
add_library(tenure_flags INTERFACE)
target_compile_options(tenure_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wnon-virtual-dtor
  -Wold-style-cast -Wimplicit-fallthrough -Wundef -Werror=return-type
  -ffile-prefix-map=${CMAKE_SOURCE_DIR}/=)
# Sources are compiled a dozen at a time, since most of the time would go into reading the same headers and
# instantiating the same templates once for each. TENURE_UNITY=OFF compiles each alone: `./dev lint`
# does so, and finds missing includes.
option(TENURE_UNITY "Compile sources a dozen at a time" ON)
if(NOT TENURE_UNITY)
  # A source may harmlessly hide a name of another one.
  target_compile_options(tenure_flags INTERFACE -Wshadow)
endif()

if(TENURE_SANITIZE)
  target_compile_options(tenure_flags INTERFACE
    -fsanitize=${TENURE_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(tenure_flags INTERFACE -fsanitize=${TENURE_SANITIZE})
endif()
find_program(TENURE_LLD NAMES ld.lld-19 ld.lld-20 ld.lld-21)
if(TENURE_LLD)
  target_link_options(tenure_flags INTERFACE --ld-path=${TENURE_LLD})
endif()

# touched_by(VARIABLE PATCH...): the files that the patches change, as paths in the project.
function(touched_by variable)
  set(all)
  foreach(patch IN LISTS ARGN)
    file(STRINGS ${patch} touched REGEX "^\\+\\+\\+ b/")
    list(TRANSFORM touched REPLACE "^\\+\\+\\+ b/" "")
    list(APPEND all ${touched})
  endforeach()
  set(${variable} ${all} PARENT_SCOPE)
endfunction()

# A source that such a mutant replaces has to be an object of its own (tests/chaos/CMakeLists.txt, cmake/mutant.cmake). tests/shell compiles
# each source of core, runtime and stores by itself.
file(GLOB patches CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/chaos/mutants/*.patch
     ${PROJECT_SOURCE_DIR}/tests/shell/mutants/*.patch ${PROJECT_SOURCE_DIR}/tests/unit/*/mutants/*.patch
     ${PROJECT_SOURCE_DIR}/tests/http/mutants/*.patch ${PROJECT_SOURCE_DIR}/tests/api/mutants/*.patch)
set(TENURE_MUTATED)
foreach(patch IN LISTS patches)
  touched_by(touched ${patch})
  if(patch MATCHES "tests/shell/")
    list(FILTER touched EXCLUDE REGEX "^agent/(core|runtime|stores)/")
  endif()
  list(TRANSFORM touched PREPEND "${PROJECT_SOURCE_DIR}/")
  list(APPEND TENURE_MUTATED ${touched})
endforeach()

# Sources that are changed again and again (tests/mutate.py) are compiled by themselves, too.
set(TENURE_ALONE "" CACHE STRING "Sources, as paths in the project, that are not compiled with others")
foreach(source IN LISTS TENURE_ALONE)
  list(APPEND TENURE_MUTATED "${PROJECT_SOURCE_DIR}/${source}")
endforeach()

# tenure_room(NAME KNOWS other rooms [SMALL] [APART a.cpp ...])
#
# A room is a static library of all sources in its folder. SMALL is for what runs once, at a start or for a command: it is
# compiled for size. APART are those whose private names clash with those of
# others. tests/headers compiles headers one by one, so that each of them is self-sufficient. tests/unit/layering, not
# this file alone, checks which room may include which.
function(tenure_room name)
  cmake_parse_arguments(room "SMALL" "" "KNOWS;APART" ${ARGN})
  file(GLOB_RECURSE sources RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} CONFIGURE_DEPENDS *.cpp)
  list(FILTER sources EXCLUDE REGEX "^main\\.cpp$")
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS *.hpp *.h)
  add_library(tenure_${name} STATIC ${sources})
  target_sources(tenure_${name} PUBLIC FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR}/agent FILES ${headers})
  target_include_directories(tenure_${name} PUBLIC ${PROJECT_SOURCE_DIR}/agent)
  target_link_libraries(tenure_${name} PUBLIC tenure_flags)
  if(room_SMALL)
    target_compile_options(tenure_${name} PRIVATE $<$<CONFIG:Release>:-Os>)
  endif()
  foreach(other IN LISTS room_KNOWS)
    target_link_libraries(tenure_${name} PUBLIC tenure_${other})
  endforeach()
  if(TENURE_UNITY)
    set_target_properties(tenure_${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 12)
    set_source_files_properties(${room_APART} ${TENURE_MUTATED} PROPERTIES
      SKIP_UNITY_BUILD_INCLUSION ON)
  endif()
  set_target_properties(tenure_${name} PROPERTIES VERIFY_INTERFACE_HEADER_SETS ON)
  set_property(GLOBAL APPEND PROPERTY TENURE_ROOMS ${name})
  if(TENURE_TESTS AND NOT TENURE_SANITIZE)
    # Once all else of its folder has been said of it.
    cmake_language(EVAL CODE "cmake_language(DEFER CALL tenure_watched_twin ${name})")
  endif()
endfunction()

# tenure_watched_twin(NAME): tenure_NAME_watched, the same room under the address sanitizer and that of undefined behaviour,
# instrumented for fuzz targets as well. Built for those that link it.
function(tenure_watched_twin name)
  set(room tenure_${name})
  set(twin tenure_${name}_watched)
  get_target_property(sources ${room} SOURCES)
  add_library(${twin} STATIC EXCLUDE_FROM_ALL ${sources})
  # `./dev lint` reads each source once.
  set_target_properties(${twin} PROPERTIES EXPORT_COMPILE_COMMANDS OFF)
  foreach(property IN ITEMS COMPILE_DEFINITIONS INCLUDE_DIRECTORIES INTERFACE_COMPILE_DEFINITIONS INTERFACE_INCLUDE_DIRECTORIES
                            INTERFACE_LINK_LIBRARIES LINK_LIBRARIES UNITY_BUILD UNITY_BUILD_BATCH_SIZE)
    get_target_property(value ${room} ${property})
    if(NOT value)
      continue()
    endif()
    if(property MATCHES "LINK_LIBRARIES")
      tenure_watched(value)
    endif()
    set_property(TARGET ${twin} PROPERTY ${property} "${value}")
  endforeach()
  get_target_property(needed ${room} MANUALLY_ADDED_DEPENDENCIES)
  if(needed)
    add_dependencies(${twin} ${needed})
  endif()
  target_compile_options(${twin} PRIVATE -O1 -fno-omit-frame-pointer
    -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all)
  target_link_options(${twin} INTERFACE -fsanitize=address,undefined)
endfunction()

# tenure_watched(VARIABLE): names the twins in a list of libraries, instead of the rooms.
function(tenure_watched variable)
  set(given ${${variable}})
  get_property(rooms GLOBAL PROPERTY TENURE_ROOMS)
  list(JOIN rooms "|" any)
  set(all)
  foreach(library IN LISTS given)
    string(REGEX REPLACE "(^|:)tenure_(${any})($|>)" "\\1tenure_\\2_watched\\3" library "${library}")
    list(APPEND all "${library}")
  endforeach()
  set(${variable} "${all}" PARENT_SCOPE)
endfunction()

# tenure_library(VARIABLE NAME): the static library where everything is linked statically, else
# the one that the linker finds.
function(tenure_library variable name)
  if(TENURE_STATIC)
    find_library(${variable} NAMES lib${name}.a REQUIRED)
  else()
    find_library(${variable} NAMES ${name} REQUIRED)
  endif()
endfunction()

# precompiled_for_all_clones(TARGET HEADER...): what ccache takes instead of TARGET's precompiled headers, since those have the
# paths of a clone in them: a hash of what they are made of (CCACHE_PCH_EXTSUM, ./dev). Installing a package configures
# anew, since it may change a header.
function(precompiled_for_all_clones target)
  set(text)
  foreach(header IN LISTS ARGN)
    string(APPEND text "#include ${header}\n")
  endforeach()
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/${target}.dir)
  file(WRITE ${folder}/all.hpp "${text}")
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} -std=c++23 -E -P ${folder}/all.hpp
    OUTPUT_VARIABLE whole COMMAND_ERROR_IS_FATAL ANY)
  string(SHA256 hash "${whole}")
  file(CONFIGURE OUTPUT ${folder}/cmake_pch.hxx.pch.sum CONTENT "${hash}\n")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS /var/lib/dpkg/status)
endfunction()
