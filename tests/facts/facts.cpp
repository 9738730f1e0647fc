#include "facts/facts.hpp"

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>

#include "base/base64.hpp"

namespace tenure::tests {
namespace {

using nlohmann::json;

[[noreturn]] void unreadable(const std::string& path, int line, const char* why) {
  std::cerr << path << ":" << line << ": " << why << "\n";
  std::abort();
}

/// Strings that begin with `64:`, in base64.
void encode(json& in) {
  if (in.is_string()) {
    const auto& text = in.get_ref<const std::string&>();
    if (text.starts_with("64:")) in = base::to_base64(text.substr(3));
  } else if (in.is_structured()) {
    for (json& one : in) encode(one);
  }
}

std::string text_of(const json& one) {
  return one.is_string() ? one.get<std::string>() : one.dump();
}

/// Empty, or how `got` differs from what is wanted `where`.
std::string compare(const json& wanted, const json& got, const std::string& where,
                    std::map<std::string, std::string>& bound) {
  const auto wrong = [&] {
    return where + " is " + got.dump() + " instead of " + wanted.dump() + "\n";
  };
  if (wanted.is_string()) {
    const auto& text = wanted.get_ref<const std::string&>();
    if (text == "*") return "";
    if (text.size() > 1 && text.front() == '$') {
      const auto [it, is_new] = bound.emplace(text.substr(1), text_of(got));
      return is_new || it->second == text_of(got)
                 ? ""
                 : where + " is " + got.dump() + " instead of " + it->second + "\n";
    }
  }
  if (wanted.is_object()) {
    if (!got.is_object()) return wrong();
    std::string out;
    for (const auto& [name, one] : wanted.items()) {
      const bool has = got.contains(name);
      const bool may_lack = one.is_null() || one == false;
      if (!has && !may_lack) {
        out += where + "." + name + " is absent\n";
      } else if (has && one.is_null() && !got.at(name).is_null()) {
        out += where + "." + name + " is " + got.at(name).dump() + ", and is to be absent\n";
      } else if (has && !one.is_null()) {
        out += compare(one, got.at(name), where + "." + name, bound);
      }
    }
    return out;
  }
  if (wanted.is_array()) {
    if (!got.is_array() || got.size() != wanted.size()) return wrong();
    std::string out;
    for (std::size_t i = 0; i < wanted.size(); ++i)
      out += compare(wanted[i], got[i], where + "[" + std::to_string(i) + "]", bound);
    return out;
  }
  return wanted == got ? "" : wrong();
}

}  // namespace

std::vector<fact> facts_in(const std::string& path) {
  std::vector<fact> out;
  std::ifstream file(path);
  if (!file) unreadable(path, 0, "cannot be opened");
  bool is_asked = false;
  int number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    if (line.empty() || line.front() == '#') continue;
    if (line.starts_with("== ")) {
      if (is_asked) unreadable(path, number, "the call before has no answer");
      out.push_back({.title = line.substr(3), .calls = {}});
      continue;
    }
    if (out.empty()) unreadable(path, number, "a call of no fact");
    std::istringstream words(line);
    if (!is_asked) {
      fact_call& call = out.back().calls.emplace_back();
      call.line = number;
      words >> call.method >> call.target >> std::ws;
      std::getline(words, call.body);
      if (!call.target.starts_with('/')) unreadable(path, number, "not METHOD TARGET BODY");
    } else {
      fact_call& call = out.back().calls.back();
      do {
        if (!(words >> call.status.emplace_back())) unreadable(path, number, "not STATUS ANSWER");
      } while (words.get() == '|');
      words >> std::ws;
      std::getline(words, call.answer);
    }
    is_asked = !is_asked;
  }
  if (is_asked) unreadable(path, number, "the last call has no answer");
  return out;
}

std::string fact_run::sent(const std::string& text) const {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const char closing = text[at] == '<' ? '>' : text[at] == '{' ? '}' : '\0';
    const std::size_t end =
        closing == '\0' ? std::string::npos
                        : text.find_first_not_of("abcdefghijklmnopqrstuvwxyz_0123456789", at + 1);
    if (end == std::string::npos || end == at + 1 || text[end] != closing) {
      out += text[at++];
      continue;
    }
    const std::string name = text.substr(at + 1, end - at - 1);
    const auto found = bound_.find(name);
    if (closing == '>') {
      out += place_ + name;
    } else if (found != bound_.end()) {
      out += found->second;
    } else {
      out += "(unbound " + name + ")";
    }
    at = end + 1;
  }
  json body = json::parse(out, nullptr, false);
  if (body.is_discarded() || !body.is_structured()) return out;
  encode(body);
  return body.dump();
}

std::string fact_run::differs(const std::string& wanted, const std::string& got) {
  if (wanted.empty()) return "";
  const json said = json::parse(got, nullptr, false);
  if (said.is_discarded()) return "not JSON: " + got + "\n";
  return compare(json::parse(sent(wanted)), said, "the answer", bound_);
}

}  // namespace tenure::tests
