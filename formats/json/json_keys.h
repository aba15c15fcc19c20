#ifndef RINGSCOPE_FORMATS_JSON_JSON_KEYS_H_
#define RINGSCOPE_FORMATS_JSON_JSON_KEYS_H_

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "core/base/enum_names.h"
#include "core/base/result.h"
#include "formats/json/json.h"

namespace ringscope {

/// Reads a JSON object's keys, strictly: 1.0, "1" and true are not integers. The first error is
/// kept, with its key; the values returned after it are meaningless. So check status() once, after
/// the last key.
class KeyReader {
 public:
  /// @param object must be one, and outlive the reader
  /// @param prefix of the keys' names in errors: "patches[0]."
  explicit KeyReader(const Json& object, std::string prefix = {})
      : object_(object), prefix_(std::move(prefix)) {}

  bool Has(std::string_view key) const { return Find(key) != nullptr; }
  bool IsText(std::string_view key, std::string_view text) const;

  /// The key's text, if it has one.
  std::optional<std::string_view> TextIfThere(std::string_view key) const;

  /// An integer from 0 to `max`, as an id type or a number; required.
  template <typename T>
  T Uint(std::string_view key, uint64_t max = MaxOf<T>()) {
    if (!Has(key)) FailMissing(key);
    return static_cast<T>(ReadUint(key, max).value_or(0));
  }
  template <typename T>
  T UintOr(T fallback, std::string_view key, uint64_t max = MaxOf<T>()) {
    return Has(key) ? Uint<T>(key, max) : fallback;
  }
  template <typename T>
  std::optional<T> OptionalUint(std::string_view key, uint64_t max = MaxOf<T>()) {
    if (!Has(key)) return std::nullopt;
    return Uint<T>(key, max);
  }
  /// An array of integers; required.
  std::vector<uint64_t> Uints(std::string_view key);
  /// An integer of 32 bits with sign.
  std::optional<int32_t> OptionalInt32(std::string_view key);
  bool BoolOr(bool fallback, std::string_view key);
  /// Required. Text that is not UTF-8 is given as hex under the key with "_hex" appended.
  std::string Text(std::string_view key);
  std::string TextOr(std::string_view fallback, std::string_view key);
  /// Appends the bytes that a string of hex digits encodes; required.
  void Hex(std::string_view key, size_t max_bytes, std::string& out);
  /// The name of an enum's value; required.
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
    const size_t size = ArraySize(key);
    for (size_t i = 0; i < size && status_; ++i) {
      const Json* object = ObjectAt(key, i);
      if (object == nullptr) return;
      KeyReader element(*object, ElementName(key, i) + '.');
      read(element);
      status_ = element.status_;
    }
  }

  /// Notes what is wrong with a key, unless an error was noted before.
  void Fail(std::string_view key, std::string_view what);
  /// The same, with what was expected there and what was found.
  void FailExpected(std::string_view key, std::string_view expected);
  /// The same, where one of several names was expected.
  void FailExpectedOneOf(std::string_view key, std::span<const char* const> names);
  void FailTooLarge(std::string_view key, size_t bytes, size_t max_bytes);
  const Status& status() const { return status_; }

 private:
  template <typename T>
  static constexpr uint64_t MaxOf() {
    if constexpr (std::is_enum_v<T>) {
      return std::numeric_limits<std::underlying_type_t<T>>::max();
    } else {
      return std::numeric_limits<T>::max();
    }
  }

  const Json* Find(std::string_view key) const;
  std::optional<uint64_t> ReadUint(std::string_view key, uint64_t max);
  const std::string* ReadString(std::string_view key);
  size_t ArraySize(std::string_view key);
  const Json* ObjectAt(std::string_view key, size_t index);
  void FailMissing(std::string_view key);
  std::string ElementName(std::string_view key, size_t index) const;

  const Json& object_;
  std::string prefix_;
  Status status_;
};

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_JSON_JSON_KEYS_H_
