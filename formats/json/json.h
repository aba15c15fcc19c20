#ifndef RINGSCOPE_FORMATS_JSON_JSON_H_
#define RINGSCOPE_FORMATS_JSON_JSON_H_

#include <array>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/base/result.h"

namespace ringscope {

/// A JSON value does not have the key, or is not of the type, that was asked for.
class JsonError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class Json;

/// A member of an object. A template, so that Json need not be complete yet.
template <typename Value>
struct JsonMember {
  JsonMember(std::string_view name, Value content) : key(name), value(std::move(content)) {}
  friend bool operator==(const JsonMember&, const JsonMember&) = default;

  std::string key;
  Value value;
};

/// A JSON value. Keys stay in the order in which they are added. Objects are written like
/// {{"name", name}, {"buffers", Json::array()}}; an absent optional is null.
class Json {
 public:
  using Member = JsonMember<Json>;

  Json() = default;
  Json(std::nullptr_t) {}
  template <std::integral T>
  Json(T value) {
    if constexpr (std::same_as<T, bool>) {
      value_ = value;
    } else if constexpr (std::signed_integral<T>) {
      if (value < 0)
        value_ = static_cast<int64_t>(value);
      else
        value_ = static_cast<uint64_t>(value);
    } else {
      value_ = static_cast<uint64_t>(value);
    }
  }
  Json(double value) : value_(value) {}
  Json(const char* text) : value_(std::string(text)) {}
  Json(std::string_view text) : value_(std::string(text)) {}
  Json(std::string text) : value_(std::move(text)) {}
  template <typename T>
  Json(const std::optional<T>& value) {
    if (value) *this = Json(*value);
  }
  template <typename T>
  Json(const std::vector<T>& values) : value_(Values(values.begin(), values.end())) {}
  template <typename T, size_t N>
  Json(const std::array<T, N>& values) : value_(Values(values.begin(), values.end())) {}
  Json(std::initializer_list<Member> members) : value_(Members(members)) {}

  static Json array();
  static Json object();

  bool is_null() const { return std::holds_alternative<std::monostate>(value_); }
  bool is_array() const { return std::holds_alternative<Values>(value_); }
  bool is_object() const { return std::holds_alternative<Members>(value_); }
  bool is_string() const { return std::holds_alternative<std::string>(value_); }

  /// The value of `key`, which is added as null where it is not there; null becomes an object.
  Json& operator[](std::string_view key);
  /// nullptr: there is none.
  const Json* Find(std::string_view key) const;
  bool contains(std::string_view key) const { return Find(key) != nullptr; }
  /// Throws JsonError where there is none.
  const Json& at(std::string_view key) const;
  const Json& operator[](std::string_view key) const { return at(key); }
  const Json& operator[](size_t index) const { return items().at(index); }
  Json& operator[](size_t index) { return items().at(index); }
  /// Adds the members of another object, and replaces those of the same name.
  void update(Json other);

  /// Sets the value at a path like "written.packets"; objects on the way are added.
  void Set(std::string_view path, Json value);

  void push_back(Json value);
  /// Values of an array, members of an object; 0 of anything else.
  size_t size() const;
  bool empty() const { return size() == 0; }
  /// The values of an array; throws JsonError of anything else.
  const std::vector<Json>& items() const;
  std::vector<Json>& items();
  auto begin() const { return items().begin(); }
  auto end() const { return items().end(); }
  auto begin() { return items().begin(); }
  auto end() { return items().end(); }

  /// As a bool, an unsigned or signed number, a double or text. Throws JsonError of another type.
  template <typename T>
  T get() const;

  /// The value, if it is of this type: bool, uint64_t, int64_t (only negative), double or
  /// std::string; else nullptr.
  template <typename T>
  const T* If() const {
    return std::get_if<T>(&value_);
  }

  /// As text. @param indent of each level, 2 mostly; -1: all on one line. Text that is not UTF-8
  /// gets replacement characters.
  std::string dump(int indent = -1) const;

  friend bool operator==(const Json& a, const Json& b);

 private:
  using Values = std::vector<Json>;
  using Members = std::vector<Member>;

  uint64_t Unsigned(uint64_t max) const;
  void Append(std::string& out, int indent, size_t depth) const;

  // Numbers are signed only where they are negative.
  std::variant<std::monostate, bool, uint64_t, int64_t, double, std::string, Values, Members>
      value_;
};

template <typename T>
T Json::get() const {
  if constexpr (std::same_as<T, bool> || std::same_as<T, std::string>) {
    if (const T* value = std::get_if<T>(&value_)) return *value;
    throw JsonError("a value is of another type than expected");
  } else if constexpr (std::same_as<T, double>) {
    if (const double* value = std::get_if<double>(&value_)) return *value;
    return static_cast<double>(Unsigned(UINT64_MAX));
  } else {
    static_assert(std::integral<T>);
    return static_cast<T>(Unsigned(static_cast<uint64_t>(std::numeric_limits<T>::max())));
  }
}

inline constexpr size_t kMaxJsonDepth = 32;
inline constexpr size_t kMaxJsonValues = size_t{1} << 20;

/// Parses a JSON text of unknown origin: at most kMaxJsonDepth levels and `max_values` values, so
/// that what it takes in memory is bounded. Errors name the byte, from 1.
Result<Json> ParseJson(std::string_view text, size_t max_values = kMaxJsonValues);

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_JSON_JSON_H_
