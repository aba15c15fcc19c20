#ifndef RINGSCOPE_CORE_BASE_WIRE_H_
#define RINGSCOPE_CORE_BASE_WIRE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "core/base/ids.h"

namespace ringscope::wire {

// The protobuf wire format, as much of it as zero-copy reading and appending needs.

enum class Type : uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

inline constexpr size_t kMaxVarintBytes = 10;

struct Varint {
  uint64_t value;
  size_t size;  // bytes read; 0: none readable
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

/// One top-level field of a message.
struct Field {
  uint32_t number = 0;
  Type type = Type::kVarint;
  uint64_t value = 0;  // of kVarint, kFixed32, kFixed64
  Bytes bytes;         // of kBytes: the content
  Bytes whole;         // the field's encoding, tag included

  bool IsVarint(uint32_t of) const { return number == of && type == Type::kVarint; }
  bool IsBytes(uint32_t of) const { return number == of && type == Type::kBytes; }
  /// Of whichever type that holds a number.
  bool IsNumber(uint32_t of) const { return number == of && type != Type::kBytes; }
};

/// Pulls the top-level fields of a message, without copying. Groups are malformed.
class FieldReader {
 public:
  explicit FieldReader(Bytes message) : rest_(message) {}

  /// The next field, or nullopt at the end or at the first malformed byte (then !ok()).
  std::optional<Field> Next() {
    if (rest_.empty()) return std::nullopt;
    const Bytes start = rest_;
    const Varint tag = ReadVarint(rest_);
    if (tag.size == 0 || tag.value >> 3 == 0 || tag.value >> 3 > kMaxFieldNumber) return Stop();
    rest_ = rest_.subspan(tag.size);
    Field field;
    field.number = static_cast<uint32_t>(tag.value >> 3);
    field.type = static_cast<Type>(tag.value & 7);
    switch (field.type) {
      case Type::kVarint: {
        const Varint value = ReadVarint(rest_);
        if (value.size == 0) return Stop();
        field.value = value.value;
        rest_ = rest_.subspan(value.size);
        break;
      }
      case Type::kFixed64:
        if (!TakeFixed(8, field)) return Stop();
        break;
      case Type::kFixed32:
        if (!TakeFixed(4, field)) return Stop();
        break;
      case Type::kBytes: {
        const Varint size = ReadVarint(rest_);
        if (size.size == 0 || size.value > rest_.size() - size.size) return Stop();
        field.bytes = rest_.subspan(size.size, static_cast<size_t>(size.value));
        rest_ = rest_.subspan(size.size + field.bytes.size());
        break;
      }
      default:
        return Stop();
    }
    field.whole = start.first(start.size() - rest_.size());
    return field;
  }

  /// False once malformed bytes were met.
  bool ok() const { return ok_; }
  /// Bytes not read yet.
  size_t remaining() const { return rest_.size(); }

 private:
  static constexpr uint64_t kMaxFieldNumber = (uint64_t{1} << 29) - 1;

  bool TakeFixed(size_t size, Field& field) {
    if (rest_.size() < size) return false;
    for (size_t i = size; i-- > 0;) field.value = field.value << 8 | rest_[i];
    rest_ = rest_.subspan(size);
    return true;
  }
  std::optional<Field> Stop() {
    ok_ = false;
    return std::nullopt;
  }

  Bytes rest_;
  bool ok_ = true;
};

/// The varint of a field; the last one counts. nullopt: there is none.
inline std::optional<uint64_t> LastVarint(Bytes message, uint32_t number) {
  std::optional<uint64_t> found;
  FieldReader fields(message);
  while (const auto field = fields.Next())
    if (field->IsVarint(number)) found = field->value;
  return found;
}
/// The content of a field of bytes; the last one counts. nullopt: there is none.
inline std::optional<Bytes> LastBytes(Bytes message, uint32_t number) {
  std::optional<Bytes> found;
  FieldReader fields(message);
  while (const auto field = fields.Next())
    if (field->IsBytes(number)) found = field->bytes;
  return found;
}

template <typename T>
inline T LoadLittleEndian(const uint8_t* at) {
  T value = 0;
  for (size_t i = sizeof(T); i-- > 0;) value = static_cast<T>(value << 8 | at[i]);
  return value;
}

/// Reads the varint at `at`. @return what follows it; nullptr: none is readable
inline const uint8_t* TakeVarint(const uint8_t* at, const uint8_t* end, uint64_t& value) {
  if (at != end && *at < 0x80) [[likely]] {
    value = *at;
    return at + 1;
  }
  const Varint read = ReadVarint({at, static_cast<size_t>(end - at)});
  value = read.value;
  return read.size == 0 ? nullptr : at + read.size;
}

/// As TakeVarint, for numbers that mostly have several bytes, like timestamps; inlined.
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

/// A field as ForEachField passes it: as Field, without its encoding.
struct VisitedField {
  uint32_t number;
  Type type;
  uint64_t value;
  Bytes bytes;
};

/// Calls visit(const VisitedField&) for the top-level fields of a message that FieldReader returns,
/// for where each nanosecond counts: all of it is inlined.
/// @return false once malformed bytes were met
template <typename Visit>
[[gnu::always_inline]] inline bool ForEachField(Bytes message, Visit visit) {
  constexpr uint64_t kMaxFieldNumber = (uint64_t{1} << 29) - 1;
  const uint8_t* at = message.data();
  const uint8_t* const end = at + message.size();
  while (at != end) {
    uint64_t tag = 0, value = 0;
    at = TakeVarint(at, end, tag);
    if (at == nullptr || tag >> 3 == 0 || tag >> 3 > kMaxFieldNumber) return false;
    const auto type = static_cast<Type>(tag & 7);
    Bytes bytes;
    const auto left = static_cast<size_t>(end - at);
    if (type == Type::kVarint || type == Type::kBytes) {
      at = TakeVarint(at, end, value);
      if (at == nullptr) return false;
      if (type == Type::kBytes) {
        if (value > static_cast<uint64_t>(end - at)) return false;
        bytes = {at, static_cast<size_t>(value)};
        at += value;
        value = 0;
      }
    } else if (type == Type::kFixed64) {
      if (left < 8) return false;
      value = LoadLittleEndian<uint64_t>(at);
      at += 8;
    } else if (type == Type::kFixed32) {
      if (left < 4) return false;
      value = LoadLittleEndian<uint32_t>(at);
      at += 4;
    } else {
      return false;
    }
    visit(VisitedField{static_cast<uint32_t>(tag >> 3), type, value, bytes});
  }
  return true;
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
