#include "manifest/json_form.hpp"

#include <cstddef>

#include "manifest/sidecar.hpp"

namespace tenure::manifest {
namespace {

using config::yaml_kind;
using config::yaml_node;

constexpr std::size_t json_indent = 4;

bool is_empty(const yaml_node& node) {
  return node.items.empty() && node.members.empty();
}

std::string scalar_in_line(const yaml_node& node) {
  switch (node.kind) {
    case yaml_kind::null:
      return "null";
    case yaml_kind::list:
      return "[]";
    case yaml_kind::mapping:
      return "{}";
    case yaml_kind::text:
      return scalar_text(node.scalar);
    default:
      return node.scalar;
  }
}

void write_lines(const yaml_node& node, std::size_t indent, std::string& out) {
  const auto value = [&out, indent](const yaml_node& of) {
    if (is_empty(of)) {
      out.append(" ").append(scalar_in_line(of)).append("\n");
    } else {
      out += '\n';
      write_lines(of, indent + 2, out);
    }
  };
  const std::string blanks(indent, ' ');
  for (const auto& one : node.items) {
    out.append(blanks).append("-");
    value(*one);
  }
  for (const auto& [key, one] : node.members) {
    out.append(blanks).append(scalar_text(key->scalar)).append(":");
    value(*one);
  }
}

std::string json_string(std::string_view text) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n') {
      out += "\\n";
    } else if (byte < 0x20) {
      out += "\\u00";
      out += digits[byte >> 4U];
      out += digits[byte & 0xfU];
    } else {
      if (c == '"' || c == '\\') out += '\\';
      out += c;
    }
  }
  return out + "\"";
}

void write_json(const yaml_node& node, std::size_t indent, std::string& out) {
  if (node.kind == yaml_kind::text) {
    out += json_string(node.scalar);
    return;
  }
  if (is_empty(node)) {
    out += scalar_in_line(node);
    return;
  }
  const bool is_list = node.kind == yaml_kind::list;
  const std::string blanks(indent + json_indent, ' ');
  out += is_list ? "[" : "{";
  std::string_view before = "\n";
  for (const auto& one : node.items) {
    out.append(before).append(blanks);
    write_json(*one, indent + json_indent, out);
    before = ",\n";
  }
  for (const auto& [key, one] : node.members) {
    out.append(before).append(blanks).append(json_string(key->scalar)).append(": ");
    write_json(*one, indent + json_indent, out);
    before = ",\n";
  }
  out.append("\n").append(indent, ' ').append(is_list ? "]" : "}");
}

}  // namespace

bool is_json(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  const std::size_t last = text.find_last_not_of(" \t\r\n");
  return first != std::string_view::npos && text[first] == '{' && text[last] == '}';
}

std::string in_lines(const yaml_node& root) {
  std::string out;
  write_lines(root, 0, out);
  return out;
}

std::string as_json(const yaml_node& root) {
  std::string out;
  write_json(root, 0, out);
  return out + "\n";
}

}  // namespace tenure::manifest
