#ifndef RINGSCOPE_FORMATS_JSON_KEY_READER_H_
#define RINGSCOPE_FORMATS_JSON_KEY_READER_H_

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <forward_list>
#include <limits>
#include <system_error>
#include <vector>

#include "core/base/enum_names.h"
#include "core/base/result.h"

namespace ringscope {

inline constexpr size_t kMaxJsonDepth = 32;
inline constexpr size_t kMaxJsonValues = size_t{1} << 20;

/// The values of a JSON text in their order in the text; the first one is the whole. They refer to
/// the text, which is not copied.
struct ScannedJson {
  struct Value {
    std::string_view key;   // in an object; without escapes
    std::string_view text;  // a string without quotes and escapes; else the value as it is written
    size_t next = 0;        // index of the value after this one and all in it
    char first = 0;         // first character: tells what the value is

    bool is_string() const { return first == '"'; }
    bool is_object() const { return first == '{'; }
    bool is_array() const { return first == '['; }
    /// Returns the number if this is an integer in the range of T.
    template <typename T>
    std::optional<T> Integer() const {
      T number{};
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
      if (is_string() || error != std::errc() || end != text.data() + text.size()) return {};
      return number;
    }
  };
  std::vector<Value> values;
  std::forward_list<std::string> unescaped;  // strings with escapes or of more than ASCII
};

/// Scans a JSON text once, of at most kMaxJsonDepth levels and kMaxJsonValues values. Faster than a
/// JSON library where most of the text is in long strings. Errors name the byte, from 1.
Result<ScannedJson> ScanJson(std::string_view text);

/// Reads a JSON object's keys, strictly: 1.0, "1" and true are not integers. Keeps the first error,
/// with its key; the values returned after it are meaningless. Check status() after the last key.
class KeyReader {
 public:
  /// @param object index of a value that is one
  explicit KeyReader(const ScannedJson& json, size_t object = 0) : json_(json), object_(object) {}

  bool Has(std::string_view key) const { return Find(key) != nullptr; }
  /// Returns true if the key's value is this text.
  bool IsText(std::string_view key, std::string_view text) const {
    const Value* const value = Find(key);
    return value != nullptr && value->is_string() && value->text == text;
  }

  /// Returns a value unless the key is absent: a bool, a text (one that is not UTF-8 is hex under
  /// the key with "_hex" appended), a value of an enum by its name, an array of integers, an int32,
  /// or an integer from 0 to `max` as an id type or a number.
  template <typename T>
  std::optional<T> Optional(std::string_view key, uint64_t max = MaxOf<T>()) {
    const Value* const value = Find(key);
    std::optional<T> found;
    if constexpr (std::is_same_v<T, std::string>) {
      const std::string hex_key = value == nullptr ? fmt::format("{}_hex", key) : std::string();
      if (value == nullptr && Has(hex_key)) Hex(hex_key, std::string::npos, found.emplace());
    }
    if (value == nullptr) return found;
    if constexpr (std::is_same_v<T, std::vector<uint64_t>>) {
      found.emplace();
      ForElements(key, [&](size_t element) {
        const auto number = json_.values[element].Integer<uint64_t>();
        if (!number)
          Fail(fmt::format("{}[{}]", key, found->size()),
               "expected " + ExpectedInteger(0, UINT64_MAX));
        found->push_back(number.value_or(0));
      });
    } else if constexpr (std::is_same_v<T, std::string>) {
      if (value->is_string()) found = value->text;
      if (!found) FailExpected(key, "a string");
    } else if constexpr (std::is_same_v<T, bool>) {
      if (value->first == 't' || value->first == 'f') found = value->first == 't';
      if (!found) FailExpected(key, "true or false");
    } else if constexpr (NamedEnum<T>) {
      if (value->is_string()) found = FromName<T>(value->text);
      constexpr auto& kNames = kEnumNames<T>;
      if (!found)
        FailExpected(
            key, fmt::format("\"{}\" or \"{}\"",
                             fmt::join(kNames.begin(), kNames.end() - 1, "\", \""), kNames.back()));
    } else if constexpr (std::is_same_v<T, int32_t>) {
      found = value->Integer<int32_t>();
      if (!found) FailExpected(key, ExpectedInteger(INT32_MIN, INT32_MAX));
    } else {
      const auto number = value->Integer<uint64_t>();
      if (number && *number <= max) found = static_cast<T>(*number);
      if (!found) FailExpected(key, ExpectedInteger(0, max));
    }
    return found;
  }
  /// Returns such a value; the key is required.
  template <typename T>
  T Required(std::string_view key, uint64_t max = MaxOf<T>()) {
    std::optional<T> value = Optional<T>(key, max);
    if (!value) Fail(key, kMissing);  // unless there is an error already
    return value ? std::move(*value) : T{};
  }
  /// Appends the bytes that a string of hex digits encodes; required.
  void Hex(std::string_view key, size_t max_bytes, std::string& out);
  /// Returns the bytes of an array of strings of hex digits; required.
  std::vector<std::string> Hexes(std::string_view key);
  /// Calls `read(KeyReader&)` for each object of an array; required.
  template <typename F>
  void ForEach(std::string_view key, F read) {
    size_t index = 0;
    ForElements(key, [&](size_t value) {
      KeyReader element(json_, value);
      if (json_.values[value].is_object())
        read(element);
      else
        element.Fail("", "expected an object");
      // The error's key gets the names of those around it.
      if (!element.what_.empty())
        Fail(fmt::format("{}[{}]{}{}", key, index, element.key_.empty() ? "" : ".", element.key_),
             element.what_);
      ++index;
    });
  }

  /// Notes what is wrong with a key, unless an error was noted before.
  void Fail(std::string_view key, std::string_view what);
  /// Notes what was expected there, and what was found.
  void FailExpected(std::string_view key, std::string_view expected);
  Status status() const;

 private:
  using Value = ScannedJson::Value;

  template <typename T>
  static constexpr uint64_t MaxOf() {
    if constexpr (std::is_enum_v<T>)
      return std::numeric_limits<std::underlying_type_t<T>>::max();
    else if constexpr (std::is_unsigned_v<T>)
      return std::numeric_limits<T>::max();
    else
      return 0;  // not used
  }
  static std::string ExpectedInteger(int64_t min, uint64_t max) {
    return fmt::format("an integer from {} to {}", min, max);
  }

  /// Returns the last value that has the key, or nullptr.
  const Value* Find(std::string_view key) const;
  /// Calls `read(index)` for each value of a required array, as long as there is no error.
  template <typename F>
  void ForElements(std::string_view key, F read) {
    const Value* const array = Find(key);
    if (array == nullptr) return Fail(key, kMissing);
    if (!array->is_array()) return FailExpected(key, "an array");
    const auto& values = json_.values;
    for (auto i = static_cast<size_t>(array - values.data()) + 1; i < array->next;
         i = values[i].next)
      if (what_.empty()) read(i);
  }

  static constexpr const char* kMissing = "missing, and required here";

  const ScannedJson& json_;
  const size_t object_;
  std::string key_, what_;  // of the first error
};

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_JSON_KEY_READER_H_
