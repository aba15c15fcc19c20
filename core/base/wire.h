#ifndef RINGSCOPE_CORE_BASE_WIRE_H_
#define RINGSCOPE_CORE_BASE_WIRE_H_

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>

#include "core/base/ids.h"

namespace ringscope::wire {

// The protobuf wire format, as much of it as zero-copy reading and appending needs.

enum class Type : uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

inline constexpr size_t kMaxVarintBytes = 10;

struct Varint {
  uint64_t value;
  size_t size;  // bytes read, or 0 if there is none
};

/// Reads a base-128 varint at the front of `bytes`: at most `max_bytes` bytes, value modulo 2^64.
inline Varint ReadVarint(Bytes bytes, size_t max_bytes = kMaxVarintBytes) {
  const size_t limit = bytes.size() < max_bytes ? bytes.size() : max_bytes;
  uint64_t value = 0;
  for (size_t i = 0; i < limit; ++i) {
    const uint64_t byte = bytes[i];
    value |= (byte & 0x7F) << (7 * i);  // the tenth byte's upper bits fall off: modulo 2^64
    if (byte < 0x80) return {value, i + 1};
  }
  return {0, 0};
}

inline constexpr size_t VarintSize(uint64_t value) {
  size_t size = 1;
  while (value >= 0x80) value >>= 7, ++size;
  return size;
}
/// Bytes of a field with a number.
inline constexpr size_t UintFieldSize(uint32_t number, uint64_t value) {
  return VarintSize(uint64_t{number} << 3) + VarintSize(value);
}
/// Signed numbers as varints: small ones are short.
constexpr uint32_t ZigZag(int32_t value) {
  return static_cast<uint32_t>(value) << 1 ^ (value < 0 ? UINT32_MAX : 0);
}
constexpr int32_t UnZigZag(uint32_t value) {
  return static_cast<int32_t>(value >> 1 ^ (0 - (value & 1)));
}

template <typename T>
inline T LoadLittleEndian(const uint8_t* at) {
  T value = 0;
  for (size_t i = sizeof(T); i-- > 0;) value = static_cast<T>(value << 8 | at[i]);
  return value;
}

/// Reads the varint at `at`. @return the place after it, or nullptr if it is malformed
inline const uint8_t* TakeVarint(const uint8_t* at, const uint8_t* end, uint64_t& value) {
  if (at != end && *at < 0x80) [[likely]] {
    value = *at;
    return at + 1;
  }
  const Varint read = ReadVarint({at, static_cast<size_t>(end - at)});
  value = read.value;
  return read.size == 0 ? nullptr : at + read.size;
}

/// Does what TakeVarint does, inlined: for numbers of several bytes, like timestamps.
[[gnu::always_inline]] inline const uint8_t* TakeLongVarint(const uint8_t* at, const uint8_t* end,
                                                            uint64_t& value) {
  if (static_cast<size_t>(end - at) < kMaxVarintBytes) return TakeVarint(at, end, value);
  value = 0;
  for (unsigned shift = 0; shift < 7 * kMaxVarintBytes; shift += 7) {
    const uint64_t byte = *at++;
    value |= (byte & 0x7F) << shift;
    if (byte < 0x80) return at;
  }
  return nullptr;
}

/// A top-level field of a message, without its encoding.
struct VisitedField {
  uint32_t number = 0;
  Type type = Type::kVarint;
  uint64_t value = 0;  // of kVarint, kFixed32, kFixed64
  Bytes bytes;         // of kBytes: the content

  bool IsVarint(uint32_t of) const { return number == of && type == Type::kVarint; }
  bool IsBytes(uint32_t of) const { return number == of && type == Type::kBytes; }
  /// Returns true for this number and any type that holds a number.
  bool IsNumber(uint32_t of) const { return number == of && type != Type::kBytes; }
};

inline constexpr uint64_t kMaxFieldNumber = (uint64_t{1} << 29) - 1;

/// Reads the field at `at`, which is not the end. Groups are malformed. Inlined: each nanosecond
/// counts here.
/// @tparam kMost the largest number, before it is cut to 32 bits
/// @return the place after it, or nullptr if it is malformed
template <uint64_t kMost = kMaxFieldNumber>
[[gnu::always_inline]] inline const uint8_t* TakeField(const uint8_t* at, const uint8_t* end,
                                                       VisitedField& field) {
  uint64_t tag = 0;
  at = TakeVarint(at, end, tag);
  if (at == nullptr || tag >> 3 == 0 || tag >> 3 > kMost) return nullptr;
  field.number = static_cast<uint32_t>(tag >> 3);
  field.type = static_cast<Type>(tag & 7);
  field.value = 0;
  const auto left = static_cast<size_t>(end - at);
  switch (field.type) {
    case Type::kVarint:
      return TakeLongVarint(at, end, field.value);
    case Type::kBytes: {
      uint64_t size = 0;
      at = TakeVarint(at, end, size);
      if (at == nullptr || size > static_cast<uint64_t>(end - at)) return nullptr;
      field.bytes = {at, static_cast<size_t>(size)};
      return at + size;
    }
    case Type::kFixed64:
      if (left < 8) return nullptr;
      field.value = LoadLittleEndian<uint64_t>(at);
      return at + 8;
    case Type::kFixed32:
      if (left < 4) return nullptr;
      field.value = LoadLittleEndian<uint32_t>(at);
      return at + 4;
  }
  return nullptr;
}

/// Calls visit(const VisitedField&) for the top-level fields of a message. All of it is inlined.
/// @return false once malformed bytes were met
template <typename Visit>
[[gnu::always_inline]] inline bool ForEachField(Bytes message, Visit visit) {
  const uint8_t* at = message.data();
  const uint8_t* const end = at + message.size();
  while (at != end) {
    VisitedField field;
    at = TakeField(at, end, field);
    if (at == nullptr) return false;
    visit(field);
  }
  return true;
}

struct Field : VisitedField {
  Bytes whole;  // its encoding, tag included
};

/// Pulls the top-level fields of a message, without copying:
/// for (const wire::Field& field : wire::FieldReader(message)) ...
class FieldReader {
 public:
  explicit FieldReader(Bytes message) : rest_(message) {}

  /// The next field, or nullopt at the end or at the first malformed byte (then !ok()).
  std::optional<Field> Next() {
    if (rest_.empty() || !ok_) return std::nullopt;
    Field field;
    const uint8_t* const end = rest_.data() + rest_.size();
    const uint8_t* const next = TakeField(rest_.data(), end, field);
    ok_ = next != nullptr;
    if (!ok_) return std::nullopt;
    field.whole = {rest_.data(), next};
    rest_ = {next, end};
    return field;
  }

  /// False once malformed bytes were met.
  bool ok() const { return ok_; }

  struct Iterator {
    FieldReader* reader;
    std::optional<Field> field;

    const Field& operator*() const { return *field; }
    void operator++() { field = reader->Next(); }
    bool operator!=(std::default_sentinel_t) const { return field.has_value(); }
  };
  Iterator begin() { return {this, Next()}; }
  std::default_sentinel_t end() const { return {}; }

 private:
  Bytes rest_;
  bool ok_ = true;
};

/// Returns the varint of a field, if there is one. The last one counts.
inline std::optional<uint64_t> LastVarint(Bytes message, uint32_t number) {
  std::optional<uint64_t> found;
  for (const Field& field : FieldReader(message))
    if (field.IsVarint(number)) found = field.value;
  return found;
}
/// Returns what LastVarint does, but of several the first one counts.
inline std::optional<uint64_t> FirstVarint(Bytes message, uint32_t number) {
  for (const Field& field : FieldReader(message))
    if (field.IsVarint(number)) return field.value;
  return std::nullopt;
}
/// Returns the content of a field of bytes, if there is one. The last one counts.
inline std::optional<Bytes> LastBytes(Bytes message, uint32_t number) {
  std::optional<Bytes> found;
  for (const Field& field : FieldReader(message))
    if (field.IsBytes(number)) found = field.bytes;
  return found;
}

/// Returns the varint of a field; 0: there is none.
inline uint64_t NumberIn(Bytes message, uint32_t number) {
  return LastVarint(message, number).value_or(0);
}
/// Returns the content of a field of bytes; empty: there is none.
inline Bytes BytesIn(Bytes message, uint32_t number) {
  return LastBytes(message, number).value_or(Bytes());
}

/// Calls visit(Bytes) for each message in a field.
template <typename Visit>
void ForEachMessage(Bytes message, uint32_t number, Visit visit) {
  for (const Field& field : FieldReader(message))
    if (field.IsBytes(number)) visit(field.bytes);
}
/// Calls visit(uint64_t) for each number of a repeated field, packed or not.
template <typename Visit>
void ForEachNumber(Bytes message, uint32_t number, Visit visit) {
  for (const Field& field : FieldReader(message)) {
    if (field.IsVarint(number)) visit(field.value);
    if (!field.IsBytes(number)) continue;
    for (Bytes rest = field.bytes; !rest.empty();) {
      const Varint value = ReadVarint(rest);
      if (value.size == 0) break;
      visit(value.value);
      rest = rest.subspan(value.size);
    }
  }
}

inline void AppendVarint(std::string& out, uint64_t value) {
  while (value >= 0x80) {
    out.push_back(static_cast<char>(value | 0x80));
    value >>= 7;
  }
  out.push_back(static_cast<char>(value));
}
inline void AppendTag(std::string& out, uint32_t number, Type type) {
  AppendVarint(out, uint64_t{number} << 3 | static_cast<uint64_t>(type));
}
inline void AppendUint(std::string& out, uint32_t number, uint64_t value) {
  AppendTag(out, number, Type::kVarint);
  AppendVarint(out, value);
}
inline void AppendBytes(std::string& out, uint32_t number, Bytes value) {
  AppendTag(out, number, Type::kBytes);
  AppendVarint(out, value.size());
  out.append(reinterpret_cast<const char*>(value.data()), value.size());
}

inline Bytes AsBytes(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}
inline std::string_view AsText(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace ringscope::wire

#endif  // RINGSCOPE_CORE_BASE_WIRE_H_
