#pragma once

#include <concepts>
#include <cstddef>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "config/configuration.hpp"
#include "config/fields.hpp"
#include "config/value.hpp"

/// Where in a `configuration` the value of a setting is: the column `in` of the table of settings.
namespace tenure::config::places {

/// Each stores the value of a setting `f`. Precondition: it is of the type of the setting.
void put(std::string& to, const field& f, const value& from);
void put(std::vector<std::string>& to, const field& f, const value& from);
void put(core::duration& to, const field& f, const value& from);
void put(std::uint32_t& to, const field& f, const value& from);
void put(bool& to, const field& f, const value& from);
void put(settings::listener& to, const field& f, const value& from);
/// A signal, or a number that may be below zero.
void put(int& to, const field& f, const value& from);
/// The place of a word in `f.words`, whose order is that of the enumeration.
[[nodiscard]] std::size_t place_of_word(const field& f, const value& from);

template <class E>
  requires std::is_enum_v<E>
void put(E& to, const field& f, const value& from) {
  to = static_cast<E>(place_of_word(f, from));
}

template <class T>
void put(std::optional<T>& to, const field& f, const value& from) {
  put(to.emplace(), f, from);
}

/// Each is what stands after "key:" in a file; empty if there is no value.
[[nodiscard]] std::string shown(const std::string& what, const field& f);
[[nodiscard]] std::string shown(const std::vector<std::string>& what, const field& f);
[[nodiscard]] std::string shown(const core::duration& what, const field& f);
[[nodiscard]] std::string shown(const std::uint32_t& what, const field& f);
[[nodiscard]] std::string shown(const bool& what, const field& f);
[[nodiscard]] std::string shown(const settings::listener& what, const field& f);
[[nodiscard]] std::string shown(const int& what, const field& f);

template <class E>
  requires std::is_enum_v<E>
std::string shown(const E& what, const field& f) {
  return std::string(f.words[static_cast<std::size_t>(what)]);
}

template <class T>
std::string shown(const std::optional<T>& what, const field& f) {
  return what ? shown(*what, f) : "";
}

/// The member that a path of member pointers leads to.
template <auto... Path>
constexpr auto& member(auto& of) {
  return (of.*....*Path);
}

/// A member, by the pointers that lead to it.
template <auto... Path>
inline constexpr place at{
    .put = [](configuration& to, const field& f,
              const value& from) { places::put(member<Path...>(to), f, from); },
    .shown = [](const configuration& s,
                const field& f) { return places::shown(member<Path...>(s), f); }};

/// A duration that the user asks for in `Asked` and that is in force as `Resolved`.
template <auto Asked, auto Resolved>
inline constexpr place timed{.put = at<&settings::agent::asked, Asked>.put,
                             .shown = at<&settings::agent::timing, Resolved>.shown};

/// A member of `target` that has a meaning only if one is given.
template <auto Member>
inline constexpr place of_target{.put = at<&settings::agent::target, Member>.put,
                                 .shown = [](const configuration& s, const field& f) {
                                   return s.target.given() ? places::shown(s.target.*Member, f)
                                                           : "";
                                 }};

/// What finds a target.
template <settings::target::kind Kind>
inline constexpr place found_by{.put =
                                    [](configuration& to, const field& f, const value& from) {
                                      to.target.by = Kind;
                                      places::put(to.target.value, f, from);
                                    },
                                .shown =
                                    [](const configuration& s, const field& f) {
                                      return s.target.by == Kind ? places::shown(s.target.value, f)
                                                                 : "";
                                    }};

/// `election` and `elections`: which of the two counts is known only when all sources are read.
void put_nothing(configuration& to, const field& f, const value& from);
[[nodiscard]] std::string shown_election(const configuration& s, const field& f);
[[nodiscard]] std::string shown_elections(const configuration& s, const field& f);
inline constexpr place one_election{.put = put_nothing, .shown = shown_election};
inline constexpr place all_elections{.put = put_nothing, .shown = shown_elections};

}  // namespace tenure::config::places
