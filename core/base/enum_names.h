#ifndef RINGSCOPE_CORE_BASE_ENUM_NAMES_H_
#define RINGSCOPE_CORE_BASE_ENUM_NAMES_H_

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>
#include <type_traits>

namespace ringscope {

/// The one table of names of an enum, in the order of its values, which count from 0: used for JSON
/// keys, text and parsing alike. Specialise it beside the enum:
///
///   template <>
///   inline constexpr std::array kEnumNames<FillPolicy> = {"ring_buffer", "discard"};
template <typename E>
inline constexpr std::array<const char*, 0> kEnumNames = {};

template <typename E>
concept NamedEnum = std::is_enum_v<E> &&(kEnumNames<E>.size() > 0);

/// The name of a value. Values beyond the table are a bug of the caller.
template <NamedEnum E>
constexpr const char* Name(E value) {
  return kEnumNames<E>.at(static_cast<size_t>(value));
}

/// Returns the value of this name, or nullopt if no value has it.
template <NamedEnum E>
constexpr std::optional<E> FromName(std::string_view name) {
  for (size_t i = 0; i < kEnumNames<E>.size(); ++i) {
    if (name == kEnumNames<E>[i]) return static_cast<E>(i);
  }
  return std::nullopt;
}

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_BASE_ENUM_NAMES_H_
