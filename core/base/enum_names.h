#ifndef RINGSCOPE_CORE_BASE_ENUM_NAMES_H_
#define RINGSCOPE_CORE_BASE_ENUM_NAMES_H_

#include <array>
#include <cstddef>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <type_traits>

namespace ringscope {

/// Returns true if a value of an enum has an enumerator.
template <auto kValue>
consteval bool IsEnumerator() {
  // "... kValue = ringscope::Fate::kRead]"; of other values "... kValue = (ringscope::Fate)15]".
  constexpr std::string_view kName = "kValue = ", kText = __PRETTY_FUNCTION__;
  const char first = kText[kText.find(kName) + kName.size()];
  return first != '(' && first != '-' && (first < '0' || first > '9');
}

/// A row of an enum's table: a value, its name and words for it. Rows of other types begin with the
/// same two members.
template <typename E>
struct EnumRow {
  E value;
  const char* name;
  const char* text;
};

/// Makes an enum's table. Does not compile unless there is one row for each value, in the order of
/// the values, which count from 0.
template <typename Row, size_t kCount>
consteval std::array<Row, kCount> EnumTable(const Row (&rows)[kCount]) {
  using Enum = decltype(Row::value);
  static_assert(!IsEnumerator<static_cast<Enum>(kCount)>(), "a value has no row");
  for (size_t i = 0; i < kCount; ++i)
    if (rows[i].value != static_cast<Enum>(i)) std::abort();
  return std::to_array(rows);
}

/// The one table of an enum on whose values more than a name depends. Specialise it beside the
/// enum:
///
///   template <>
///   inline constexpr auto kEnumRows<PatchMiss> = EnumTable<EnumRow<PatchMiss>>(
///       {{PatchMiss::kNoSuchChunk, "no_such_chunk", "the chunk is not in the buffer"},
///        {PatchMiss::kOutOfBounds, "out_of_bounds", "it is for bytes outside the chunk"}});
template <typename E>
inline constexpr std::array<EnumRow<E>, 0> kEnumRows = {};

/// The row of a value. Values beyond the table are a bug of the caller.
template <typename E>
constexpr const auto& RowOf(E value) {
  return kEnumRows<E>.at(static_cast<size_t>(value));
}

template <typename Row, size_t kCount>
consteval std::array<const char*, kCount> NamesIn(const std::array<Row, kCount>& rows) {
  std::array<const char*, kCount> names{};
  for (size_t i = 0; i < kCount; ++i) names[i] = rows[i].name;
  return names;
}

/// The names of an enum's values, in their order: used for JSON keys, text and parsing alike. They
/// are those of the enum's table; an enum without one has its names here. Specialise it beside the
/// enum:
///
///   template <>
///   inline constexpr std::array kEnumNames<FillPolicy> = {"ring_buffer", "discard"};
template <typename E>
inline constexpr auto kEnumNames = NamesIn(kEnumRows<E>);

template <typename E>
concept NamedEnum = std::is_enum_v<E> &&(kEnumNames<E>.size() > 0);

/// The name of a value. Values beyond the table are a bug of the caller.
template <NamedEnum E>
constexpr const char* Name(E value) {
  static_assert(!IsEnumerator<static_cast<E>(kEnumNames<E>.size())>(), "a value has no name");
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
