#ifndef RINGSCOPE_COMMANDS_VIEW_JSON_FIELDS_H_
#define RINGSCOPE_COMMANDS_VIEW_JSON_FIELDS_H_

#include <concepts>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "commands/shell/values.h"
#include "commands/view/json.h"
#include "core/base/config_change.h"
#include "core/base/enum_names.h"
#include "core/base/packet_count.h"
#include "core/base/text.h"

namespace ringscope {

// Structs that are written as JSON objects and read back list their members once:
//
//   template <typename Io>
//   void ListFields(Io& io, Point& point) {
//     io("x", point.x, "name", point.name);
//   }
//
// Members are numbers, text, ids, enums, such structs, and optionals and vectors of these. An empty
// optional is null.

template <typename T>
Json FieldsToJson(const T& value);
template <typename T>
T FieldsFromJson(const Json& json);

/// Writes the members that a struct lists.
class JsonFieldWriter {
 public:
  template <typename T, typename... More>
  void operator()(const char* key, const T& value, const More&... more) {
    object_[key] = FieldsToJson(value);
    if constexpr (sizeof...(more) > 0) (*this)(more...);
  }
  /// A value that is computed of others: it is not read back.
  template <typename... Values>
  void Derived(const Values&... values) {
    (*this)(values...);
  }
  /// Without the key if the vector is empty.
  template <typename T>
  void UnlessEmpty(const char* key, const std::vector<T>& values) {
    if (!values.empty()) (*this)(key, values);
  }
  /// Without the key if there is no value.
  template <typename T>
  void UnlessEmpty(const char* key, const std::optional<T>& value) {
    if (value) (*this)(key, *value);
  }
  void UnlessEmpty(const char* key, const PacketCount& value) {
    if (value.packets > 0) (*this)(key, value);
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
  Json object_ = Json::object();
};

/// Reads the members that a struct lists. Throws an exception where one is missing, or of another
/// type.
class JsonFieldReader {
 public:
  explicit JsonFieldReader(const Json& object) : object_(object) {}

  template <typename T, typename... More>
  void operator()(const char* key, T& value, More&&... more) {
    value = FieldsFromJson<T>(object_.at(key));
    if constexpr (sizeof...(more) > 0) (*this)(more...);
  }
  template <typename... Values>
  void Derived(const Values&...) {}
  template <typename T>
  void UnlessEmpty(const char* key, std::vector<T>& values) {
    if (object_.contains(key)) (*this)(key, values);
  }
  template <typename T>
  void UnlessEmpty(const char* key, std::optional<T>& value) {
    if (object_.contains(key)) (*this)(key, value);
  }
  void UnlessEmpty(const char* key, PacketCount& value) {
    if (object_.contains(key)) (*this)(key, value);
  }
  template <typename List>
  void Object(const char* key, List list) {
    JsonFieldReader inner(object_.at(key));
    list(inner);
  }

 private:
  const Json& object_;
};

template <typename Io>
void ListFields(Io& io, PacketCount& count) {
  io("packets", count.packets, "bytes", count.bytes);
}

template <typename Io>
void ListFields(Io& io, LogMoment& moment) {
  io("record", moment.record, "time_ns", moment.time_ns);
}

template <typename Io>
void ListFields(Io& io, ConfigChange& change) {
  io("path", change.path, "value", change.value, "reason", change.reason, "is_estimate",
     change.is_estimate);
}

template <typename T>
inline constexpr bool kIsOptional = false;
template <typename T>
inline constexpr bool kIsOptional<std::optional<T>> = true;
template <typename T>
inline constexpr bool kIsVector = false;
template <typename T>
inline constexpr bool kIsVector<std::vector<T>> = true;

template <typename T>
Json FieldsToJson(const T& value) {
  if constexpr (NamedEnum<T>) {
    return Name(value);
  } else if constexpr (std::is_enum_v<T>) {
    return static_cast<std::underlying_type_t<T>>(value);
  } else if constexpr (std::same_as<T, SequenceKey> || std::same_as<T, ChunkName>) {
    return ToString(value);
  } else if constexpr (kIsOptional<T>) {
    return value ? FieldsToJson(*value) : Json();
  } else if constexpr (kIsVector<T>) {
    Json array = Json::array();
    for (const auto& element : value) array.push_back(FieldsToJson(element));
    return array;
  } else if constexpr (std::is_arithmetic_v<T> || std::same_as<T, std::string>) {
    return value;
  } else {
    JsonFieldWriter writer;
    ListFields(writer, const_cast<T&>(value));  // a writer changes nothing
    return writer.Take();
  }
}

template <typename T>
T FieldsFromJson(const Json& json) {
  if constexpr (NamedEnum<T>) {
    if (const std::optional<T> value = FromName<T>(json.get<std::string>())) return *value;
    throw std::runtime_error("'" + json.get<std::string>() + "' is not a name that is known here");
  } else if constexpr (std::is_enum_v<T>) {
    return static_cast<T>(json.get<std::underlying_type_t<T>>());
  } else if constexpr (std::same_as<T, SequenceKey>) {
    const Result<SequenceKey> key = ParseSequence(json.get<std::string>());
    if (!key) throw std::runtime_error(key.error().message);
    return *key;
  } else if constexpr (kIsOptional<T>) {
    return json.is_null() ? T() : T(FieldsFromJson<typename T::value_type>(json));
  } else if constexpr (kIsVector<T>) {
    T values;
    for (const Json& element : json)
      values.push_back(FieldsFromJson<typename T::value_type>(element));
    return values;
  } else if constexpr (std::is_arithmetic_v<T> || std::same_as<T, std::string>) {
    return json.get<T>();
  } else {
    T value;
    JsonFieldReader reader(json);
    ListFields(reader, value);
    return value;
  }
}

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_VIEW_JSON_FIELDS_H_
