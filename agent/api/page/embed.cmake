# cmake -D PAGE=folder -D OUT=file.cpp -P embed.cmake
#
# Assembles the page, and writes it as a C++ source with a policy that allows exactly its own style
# and script. Pure CMake, so that the build needs no other tool.
cmake_minimum_required(VERSION 3.25)

function(base64_of_hex variable hex)
  set(alphabet "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
  # SHA-256 is 32 bytes: ten groups of three bytes, and two bytes padded with one "=".
  set(padded "${hex}00")
  set(out "")
  foreach(place RANGE 0 60 6)
    string(SUBSTRING "${padded}" ${place} 6 group)
    foreach(shift IN ITEMS 18 12 6 0)
      math(EXPR digit "(0x${group} >> ${shift}) & 63")
      string(SUBSTRING "${alphabet}" ${digit} 1 letter)
      string(APPEND out "${letter}")
    endforeach()
  endforeach()
  string(SUBSTRING "${out}" 0 43 out)
  set(${variable} "${out}=" PARENT_SCOPE)
endfunction()

# Removes comment lines and indentation, which only developers need.
function(pack variable text)
  string(REGEX REPLACE "\n *//[^\n]*" "" text "\n${text}")
  string(REGEX REPLACE "\n[ \n]+" "\n" text "${text}")
  set(${variable} "${text}" PARENT_SCOPE)
endfunction()

set(script "")
foreach(part IN ITEMS words summary feed sections detail overview main)
  file(READ "${PAGE}/${part}.js" text)
  string(APPEND script "${text}")
endforeach()
file(READ "${PAGE}/style.css" style)
file(READ "${PAGE}/index.html" page)
pack(script "${script}")
pack(style "${style}")
string(SHA256 script_hash "${script}")
string(SHA256 style_hash "${style}")
base64_of_hex(script_hash "${script_hash}")
base64_of_hex(style_hash "${style_hash}")
string(REPLACE "@style@" "${style}" page "${page}")
string(REPLACE "@script@" "${script}" page "${page}")

string(LENGTH "${page}" size)
if(size GREATER 48000)
  message(FATAL_ERROR "the status page is ${size} bytes; 48,000 is its limit")
endif()
string(FIND "${page}" ")page\"" end)
if(NOT end EQUAL -1)
  message(FATAL_ERROR "the status page contains )page\", which ends the literal that holds it")
endif()

file(WRITE "${OUT}" "// Made by agent/api/page/embed.cmake.
#include \"api/status_page.hpp\"

namespace tenure::api {

const std::string_view status_page_text = R\"page(${page})page\";

const std::string_view status_page_policy =
    \"default-src 'none'; script-src 'sha256-${script_hash}'; style-src 'sha256-${style_hash}'; \"
    \"img-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; \"
    \"frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'\";

}  // namespace tenure::api
")
