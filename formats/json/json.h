#ifndef RINGSCOPE_FORMATS_JSON_JSON_H_
#define RINGSCOPE_FORMATS_JSON_JSON_H_

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "core/base/enum_names.h"
#include "core/base/ids.h"
#include "core/base/result.h"

/// An absent optional is null.
template <typename T>
struct nlohmann::adl_serializer<std::optional<T>> {
  template <typename Document>
  static void to_json(Document& json, const std::optional<T>& value) {
    if (value)
      json = *value;
    else
      json = nullptr;
  }
};

namespace ringscope {

/// A JSON document. Keys stay in the order in which they are added.
using Json = nlohmann::ordered_json;

/// Returns a document as text, with replacement characters for bytes that are not UTF-8.
std::string JsonText(const Json& document, int indent = -1);

/// Returns the value of a key, or nullptr if `json` is no object or has no such key.
const Json* FindKey(const Json& json, std::string_view key);

/// Returns the place of a key like "written.packets": `json[KeyPath(key)] = value`.
Json::json_pointer KeyPath(std::string key);

inline constexpr size_t kMaxJsonDepth = 32;
inline constexpr size_t kMaxJsonValues = size_t{1} << 20;

/// Parses a JSON text with limits of levels and values. Errors name the byte, from 1.
Result<Json> ParseJson(std::string_view text, size_t max_values = kMaxJsonValues);

/// Appends `text`, which must be UTF-8, as a JSON string with its quotes.
void AppendJsonString(std::string& out, std::string_view text);

/// Appends one JSON object to a string, key by key. Keys are ASCII without anything to escape.
class JsonObjectWriter {
 public:
  explicit JsonObjectWriter(std::string& out) : out_(out) { out_ += '{'; }

  void Uint(std::string_view key, uint64_t value);
  void Int(std::string_view key, int64_t value);
  void Uints(std::string_view key, const std::vector<uint64_t>& values);
  void Bool(std::string_view key, bool value);
  /// Text of a known set: written without looking for anything to escape.
  void Name(std::string_view key, std::string_view value);
  /// Any text; if it is not UTF-8, as hex under the key with "_hex" appended.
  void Text(std::string_view key, std::string_view value);
  void Hex(std::string_view key, Bytes value);
  /// An array of objects: calls `write(JsonObjectWriter&, element)` for each element.
  template <typename List, typename F>
  void Objects(std::string_view key, const List& list, F write) {
    Key(key);
    out_ += '[';
    bool first = true;
    for (const auto& element : list) {
      if (!first) out_ += ',';
      first = false;
      JsonObjectWriter entry(out_);
      write(entry, element);
      entry.Close();
    }
    out_ += ']';
  }
  /// The key alone; the caller appends the value.
  void Key(std::string_view key);
  void Close() { out_ += '}'; }

 private:
  std::string& out_;
  bool first_ = true;
};

/// Reads a JSON object's keys, strictly: 1.0, "1" and true are not integers. Keeps the first error,
/// with its key; the values returned after it are meaningless. Check status() after the last key.
class KeyReader {
 public:
  /// @param object must be one, and outlive the reader; @param prefix of names in errors: "stats."
  explicit KeyReader(const Json& object, std::string prefix = {})
      : keys_(object.get_ref<const Json::object_t&>()), prefix_(std::move(prefix)) {}

  bool Has(std::string_view key) const { return Find(key) != nullptr; }
  /// Returns the key's text, if it has one.
  std::optional<std::string_view> TextIfThere(std::string_view key) const;

  /// Returns an integer from 0 to `max`, as an id type or a number; required.
  template <typename T>
  T Uint(std::string_view key, uint64_t max = MaxOf<T>()) {
    return static_cast<T>(ToUint(key, Require(key), max));
  }
  template <typename T>
  T UintOr(T fallback, std::string_view key, uint64_t max = MaxOf<T>()) {
    return OptionalUint<T>(key, max).value_or(fallback);
  }
  template <typename T>
  std::optional<T> OptionalUint(std::string_view key, uint64_t max = MaxOf<T>()) {
    const Json* const value = Find(key);
    if (value == nullptr) return std::nullopt;
    return static_cast<T>(ToUint(key, value, max));
  }
  /// Returns an array of integers; required.
  std::vector<uint64_t> Uints(std::string_view key);
  /// Returns an integer of 32 bits with sign.
  std::optional<int32_t> OptionalInt32(std::string_view key);
  bool BoolOr(bool fallback, std::string_view key);
  /// Returns a required text. One that is not UTF-8 is hex under the key with "_hex" appended.
  std::string Text(std::string_view key);
  std::string TextOr(std::string_view fallback, std::string_view key);
  /// Appends the bytes that a string of hex digits encodes; required.
  void Hex(std::string_view key, size_t max_bytes, std::string& out);
  /// Returns the value that a name is of; required.
  template <NamedEnum E>
  E Name(std::string_view key) {
    const std::string* name = ReadString(key);
    const std::optional<E> value = name ? FromName<E>(*name) : std::nullopt;
    if (!value) FailExpectedOneOf(key, kEnumNames<E>);
    return value.value_or(E{});
  }
  template <NamedEnum E>
  E NameOr(E fallback, std::string_view key) {
    return Has(key) ? Name<E>(key) : fallback;
  }
  /// Calls `read(KeyReader&)` for each object of an array; required.
  template <typename F>
  void ForEach(std::string_view key, F read) {
    size_t index = 0;
    for (const Json& object : Elements(key)) {
      if (!status_) return;
      if (!object.is_object()) return Fail(ElementName(key, index), "expected an object");
      KeyReader element(object);
      element.list_ = this;
      element.list_key_ = key;
      element.index_ = index++;
      read(element);
      status_ = std::move(element.status_);
    }
  }

  /// Notes what is wrong with a key, unless an error was noted before.
  void Fail(std::string_view key, std::string_view what);
  /// Notes what was expected there, and what was found.
  void FailExpected(std::string_view key, std::string_view expected);
  void FailExpectedOneOf(std::string_view key, std::span<const char* const> names);
  void FailTooLarge(std::string_view key, size_t bytes, size_t max_bytes);
  const Status& status() const { return status_; }

 private:
  template <typename T>
  static constexpr uint64_t MaxOf() {
    if constexpr (std::is_enum_v<T>)
      return std::numeric_limits<std::underlying_type_t<T>>::max();
    else
      return std::numeric_limits<T>::max();
  }

  const Json* Find(std::string_view key) const {
    for (const auto& [name, value] : keys_)
      if (name == key) return &value;
    return nullptr;
  }
  const Json* Require(std::string_view key);
  /// @param value may be null, which is an error already
  uint64_t ToUint(std::string_view key, const Json* value, uint64_t max);
  const std::string* ReadString(std::string_view key);
  const Json::array_t& Elements(std::string_view key);
  /// "patches[0]"
  static std::string ElementName(std::string_view key, size_t index);
  /// Returns the key's name with those of the objects around it.
  std::string FullName(std::string_view key) const;

  const Json::object_t& keys_;
  std::string prefix_;
  // Of an element of a list: the reader that has the list, and the element's place in it.
  const KeyReader* list_ = nullptr;
  std::string_view list_key_;
  size_t index_ = 0;
  Status status_;
};

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_JSON_JSON_H_
