#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

/// What replies of agents are read with: nothing in them is taken for granted, and no text out of
/// them steers a terminal.
namespace tenure::cli {

/// null or discarded if it is no JSON, or nested too deeply.
nlohmann::json parsed_reply(std::string_view body);

/// The member of that name; null if there is none, or `from` is no object.
nlohmann::json member(const nlohmann::json& from, const char* name);

/// The text member of that name; empty if there is none.
std::string text_in(const nlohmann::json& from, const char* name);

}  // namespace tenure::cli
