#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/text/report.hpp"

/// Bodies of an agent's replies. What is not JSON, or not of the expected shape, is nothing.
namespace tenure::cli {

bool is_object(const std::string& body);

/// "message; action" of {"error":{...}}.
std::optional<std::string> error_in(const std::string& body);

/// The message alone, without what to do; empty if there is none.
std::string error_message_in(const std::string& body);

/// "token_missing"; empty if there is none.
std::string error_code_in(const std::string& body);

/// {"error":{"code":...,"message":...}}
std::string error_json(std::string_view code, std::string_view message);

/// The elections of a list, or the one of an answer about one.
std::optional<std::vector<election_report>> read_elections(const std::string& body);
std::vector<std::string> election_names(const std::string& list);

std::optional<history_report> read_history(const std::string& body);

/// How many meaningful changes there were; nothing from an agent that does not count them.
std::optional<std::uint64_t> index_in(const std::string& body);

/// The same for two answers between which nothing meaningful has happened.
std::string lasting_part(const std::string& body);

/// The body of an order; what is empty is left out.
std::string order_json(const std::string& to, const std::string& aside, const std::string& member);

/// Who has accepted an order, by the answer to it; nothing from an agent that does not say so.
std::optional<std::string> accepting_member(const std::string& body);

/// True if an accepted order has changed nothing.
bool changed_nothing(const std::string& body);

/// The body of `set`; 0 and false are left out.
std::string agreement_json(std::uint32_t slots, bool accept_versions);

}  // namespace tenure::cli
