#ifndef RINGSCOPE_COMMANDS_VIEW_JSON_FIELDS_H_
#define RINGSCOPE_COMMANDS_VIEW_JSON_FIELDS_H_

#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "core/base/enum_names.h"
#include "core/base/ids.h"
#include "core/base/log_moment.h"
#include "core/base/text.h"
#include "core/perfetto/trace_config_facts.h"
#include "formats/json/json.h"

namespace ringscope {

/// A document that names its schema: "ringscope.NAME/1".
inline Json JsonDocument(std::string_view name) {
  return {{"schema", "ringscope." + std::string(name) + "/1"}};
}

// Structs that are written as JSON objects list their members once:
//
//   void ListFields(JsonFieldWriter& io, const Point& point) {
//     io("x", point.x, "name", point.name);
//   }
//
// Members are numbers, text, ids, enums, such structs, or variants, optionals, lists and maps of
// these, or are computed of them. An empty optional is null; a map from names is an object.

template <typename T>
Json FieldsToJson(const T& value);

/// Writes the members that a struct lists.
class JsonFieldWriter {
 public:
  template <typename T, typename... More>
  void operator()(const char* key, const T& value, const More&... more) {
    object_[key] = FieldsToJson(value);
    if constexpr (sizeof...(more) > 0) (*this)(more...);
  }
  /// Without the keys of what is empty.
  template <typename T, typename... More>
  void UnlessEmpty(const char* key, const T& value, const More&... more) {
    if (!IsEmpty(value)) (*this)(key, value);
    if constexpr (sizeof...(more) > 0) UnlessEmpty(more...);
  }
  /// An object whose members `list` lists.
  template <typename List>
  void Object(const char* key, List list) {
    JsonFieldWriter inner;
    list(inner);
    object_[key] = std::move(inner.object_);
  }

  Json Take() { return std::move(object_); }

 private:
  template <typename T>
  static bool IsEmpty(const std::optional<T>& value) {
    return !value;
  }
  template <typename T>
  static bool IsEmpty(const std::vector<T>& values) {
    return values.empty();
  }
  static bool IsEmpty(const std::string& text) { return text.empty(); }
  static bool IsEmpty(const PacketCount& count) { return count.packets == 0; }

  Json object_ = Json::object();
};

inline void ListFields(JsonFieldWriter& io, const PacketCount& count) {
  io("packets", count.packets, "bytes", count.bytes);
}

inline void ListFields(JsonFieldWriter& io, const LogMoment& moment) {
  io("record", moment.record, "time_ns", moment.time_ns);
}

inline void ListFields(JsonFieldWriter& io, const ConfigChange& change) {
  io("path", change.path, "was", change.was, "value", change.value, "reason", change.reason,
     "is_estimate", change.is_estimate, "alternative", change.is_alternative);
}

template <typename T>
Json FieldsToJson(const T& value) {
  if constexpr (NamedEnum<T>) {
    return Name(value);
  } else if constexpr (std::is_enum_v<T>) {
    return static_cast<std::underlying_type_t<T>>(value);
  } else if constexpr (std::same_as<T, SequenceKey> || std::same_as<T, ChunkName>) {
    return ToString(value);
  } else if constexpr (std::is_arithmetic_v<T> || std::convertible_to<T, std::string_view> ||
                       std::same_as<T, Json>) {
    return value;
  } else if constexpr (requires { value.has_value(); }) {  // an optional
    return value ? FieldsToJson(*value) : Json();
  } else if constexpr (requires { value.valueless_by_exception(); }) {  // a variant
    return std::visit([](const auto& held) { return FieldsToJson(held); }, value);
  } else if constexpr (requires { value.find(std::string())->second; }) {  // a map from names
    Json object = Json::object();
    for (const auto& [name, element] : value) object[name] = FieldsToJson(element);
    return object;
  } else if constexpr (requires { value.get_allocator(); }) {  // a list
    Json array = Json::array();
    for (const auto& element : value) array.push_back(FieldsToJson(element));
    return array;
  } else {
    JsonFieldWriter writer;
    ListFields(writer, value);
    return writer.Take();
  }
}

/// An object of keys and values, written as members are listed: JsonOf("x", x, "name", name).
template <typename... Members>
Json JsonOf(const Members&... keys_and_values) {
  JsonFieldWriter writer;
  writer(keys_and_values...);
  return writer.Take();
}

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_VIEW_JSON_FIELDS_H_
