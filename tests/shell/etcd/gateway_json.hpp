#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "base/base64.hpp"
#include "base/number_text.hpp"
#include "raft_cluster.hpp"

/// How etcd's gateway writes things as JSON: bytes as base64, numbers of 64 bits as strings.
namespace tenure::shell {

/// Empty if there is no such field.
inline std::string bytes(const nlohmann::json& of, const char* field) {
  return of.contains(field) ? base::from_base64(of.at(field).get<std::string>()).value_or("") : "";
}

/// 0 if there is no such field.
template <class Number>
Number number(const nlohmann::json& of, const char* field) {
  if (!of.contains(field)) return 0;
  const nlohmann::json& found = of.at(field);
  if (found.is_number()) return found.get<Number>();
  return base::read_number<Number>(found.get<std::string>()).value_or(0);
}

/// An error of gRPC.
inline std::string refusal(int code, const std::string& text) {
  return nlohmann::json{{"code", code}, {"message", text}}.dump();
}

/// One document of a streamed reply.
inline std::string in_stream(nlohmann::json what) {
  return nlohmann::json{{"result", std::move(what)}}.dump() + "\n";
}

/// What an answer of this member begins with.
inline nlohmann::json header(const raft_cluster& of, std::size_t member, std::uint64_t revision) {
  return {{"cluster_id", std::to_string(of.cluster_id())},
          {"member_id", std::to_string(member + 1)},
          {"revision", std::to_string(revision)},
          {"raft_term", std::to_string(of.term(member))}};
}

}  // namespace tenure::shell
