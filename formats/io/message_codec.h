#ifndef RINGSCOPE_FORMATS_IO_MESSAGE_CODEC_H_
#define RINGSCOPE_FORMATS_IO_MESSAGE_CODEC_H_

#include <fmt/format.h>

#include <concepts>
#include <limits>
#include <vector>

#include "core/base/enum_names.h"
#include "core/base/result.h"
#include "core/base/wire.h"

namespace ringscope {

// Encodes and decodes plain structs as protobuf messages. One function is the schema for both:
//   void Fields(auto& field, Like<Note> auto& m) { field(1, m.text); }
// A number that does not fit its type is an error.

/// `T` is one of the structs, const or not.
template <typename T, typename... Structs>
concept Like = (std::same_as<std::remove_const_t<T>, Structs> || ...);

namespace codec {

template <typename T>
concept Varint = std::unsigned_integral<T> || std::is_enum_v<T>;

/// The views point into the message that is decoded.
template <typename T>
concept Content =
    std::same_as<T, std::string> || std::same_as<T, std::string_view> || std::same_as<T, Bytes>;

template <typename T>
concept Scalar = Varint<T> || std::same_as<T, int32_t> || Content<T>;

template <typename T>
concept Message = std::is_class_v<T> && !Scalar<T>;

template <typename T>
constexpr uint64_t MaxVarint() {
  if constexpr (NamedEnum<T>) {
    return kEnumNames<T>.size() - 1;
  } else if constexpr (std::is_enum_v<T>) {
    return std::numeric_limits<std::underlying_type_t<T>>::max();
  } else {
    return std::numeric_limits<T>::max();
  }
}

}  // namespace codec

/// Lists members by their numbers. Without kNumbers these are 1, 2, ... in the members' order, so
/// that further ones come at the end.
template <uint32_t... kNumbers>
void NumberFields(auto& field, auto&... members) {
  if constexpr (sizeof...(kNumbers) > 0) {
    (field(kNumbers, members), ...);
  } else {
    uint32_t number = 0;
    (field(++number, members), ...);
  }
}

/// Appends a struct's fields. Leaves out plain ones that are 0 or empty, and absent optional ones.
class MessageEncoder {
 public:
  explicit MessageEncoder(std::string& out) : out_(out) {}

  template <typename T>
  void operator()(uint32_t number, const std::optional<T>& value) {
    if (value) Always(number, *value);
  }
  template <codec::Scalar T>
  void operator()(uint32_t number, const T& value) {
    if constexpr (codec::Content<T>) {
      if (!value.empty()) Always(number, value);
    } else if (value != T{}) {
      Always(number, value);
    }
  }
  template <codec::Message Struct>
  void operator()(uint32_t number, const Struct& value) {
    Always(number, value);
  }
  template <typename T>
  void operator()(uint32_t number, const std::vector<T>& values) {
    for (const T& value : values) Always(number, value);
  }
  template <size_t N>
  void operator()(uint32_t number, const std::array<uint64_t, N>& values) {
    std::string packed;
    for (const uint64_t value : values) wire::AppendVarint(packed, value);
    wire::AppendBytes(out_, number, wire::AsBytes(packed));
  }

 private:
  template <codec::Varint T>
  void Always(uint32_t number, T value) {
    wire::AppendUint(out_, number, static_cast<uint64_t>(value));
  }
  void Always(uint32_t number, int32_t value) {
    wire::AppendUint(out_, number, wire::ZigZag(value));
  }
  void Always(uint32_t number, Bytes value) { wire::AppendBytes(out_, number, value); }
  void Always(uint32_t number, std::string_view value) { Always(number, wire::AsBytes(value)); }
  template <codec::Message Struct>
  void Always(uint32_t number, const Struct& value) {
    std::string nested;
    MessageEncoder encoder(nested);
    Fields(encoder, value);
    wire::AppendBytes(out_, number, wire::AsBytes(nested));
  }

  std::string& out_;
};

/// Sets what `message` has; the rest of `into` stays.
template <typename Struct>
Status DecodeMessage(Bytes message, Struct& into);

/// Puts one encoded field into a struct. Skips fields of unknown number or another wire type.
class FieldDecoder {
 public:
  explicit FieldDecoder(const wire::Field& field) : field_(field) {}

  template <typename T>
  void operator()(uint32_t number, std::optional<T>& into) {
    T value{};
    if (Take(number, value)) into = std::move(value);
  }
  template <typename T>
  requires(codec::Scalar<T> || codec::Message<T>) void operator()(uint32_t number, T& into) {
    Take(number, into);
  }
  template <typename T>
  void operator()(uint32_t number, std::vector<T>& into) {
    T value{};
    if (Take(number, value)) into.push_back(std::move(value));
  }
  template <size_t N>
  void operator()(uint32_t number, std::array<uint64_t, N>& into) {
    if (!Is(number, wire::Type::kBytes)) return;
    Bytes packed = field_.bytes;
    for (size_t i = 0; i < N && !packed.empty(); ++i) {
      const wire::Varint value = wire::ReadVarint(packed);
      if (value.size == 0) return Refuse("is not a list of varints");
      into[i] = value.value;
      packed = packed.subspan(value.size);
    }
  }

  /// The error in the field, if it has one.
  Status status = {};

 private:
  bool Is(uint32_t number, wire::Type type) const {
    return field_.number == number && field_.type == type;
  }
  void Refuse(std::string_view why) {
    status = Fail(ErrorCode::kCorrupt, fmt::format("field {} {}", field_.number, why));
  }
  bool TakeVarint(uint32_t number, uint64_t max) {
    if (!Is(number, wire::Type::kVarint)) return false;
    if (field_.value <= max) return true;
    Refuse(fmt::format("is {}, at most {} is valid", field_.value, max));
    return false;
  }
  template <codec::Varint T>
  bool Take(uint32_t number, T& into) {
    if (!TakeVarint(number, codec::MaxVarint<T>())) return false;
    into = static_cast<T>(field_.value);
    return true;
  }
  bool Take(uint32_t number, int32_t& into) {
    if (!TakeVarint(number, std::numeric_limits<uint32_t>::max())) return false;
    into = wire::UnZigZag(static_cast<uint32_t>(field_.value));
    return true;
  }
  template <codec::Content T>
  bool Take(uint32_t number, T& into) {
    if (!Is(number, wire::Type::kBytes)) return false;
    if constexpr (std::same_as<T, Bytes>)
      into = field_.bytes;
    else
      into = wire::AsText(field_.bytes);
    return true;
  }
  template <codec::Message Struct>
  bool Take(uint32_t number, Struct& into) {
    if (!Is(number, wire::Type::kBytes)) return false;
    if (Status nested = DecodeMessage(field_.bytes, into); !nested)
      Refuse(fmt::format("holds a message whose {}", nested.error().message));
    return true;
  }

  const wire::Field& field_;
};

template <typename Struct>
void EncodeMessage(const Struct& value, std::string& out) {
  MessageEncoder encoder(out);
  Fields(encoder, value);
}

template <typename Struct>
Status DecodeMessage(Bytes message, Struct& into) {
  wire::FieldReader reader(message);
  while (const auto field = reader.Next()) {
    FieldDecoder decoder(*field);
    Fields(decoder, into);
    RS_RETURN_IF_ERROR(std::move(decoder.status));
  }
  if (!reader.ok()) return Fail(ErrorCode::kCorrupt, "not well-formed protobuf");
  return {};
}

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_IO_MESSAGE_CODEC_H_
