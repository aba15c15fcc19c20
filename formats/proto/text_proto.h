#ifndef RINGSCOPE_FORMATS_PROTO_TEXT_PROTO_H_
#define RINGSCOPE_FORMATS_PROTO_TEXT_PROTO_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace ringscope {

/// A message in protobuf's text format, read without a schema: fields that are not asked for
/// are ignored.
struct TextMessage {
  struct Field;

  std::vector<Field> fields;  // in order; a list's elements are fields of the same name

  /// All fields of a name.
  std::vector<const Field*> All(std::string_view name) const;
  /// The last field of a name, as protobuf has it; nullptr: there is none.
  const Field* Last(std::string_view name) const;
};

struct TextMessage::Field {
  std::string name;
  std::string value;       // of a scalar: a string's content, else as it is written
  bool is_string = false;  // the value was quoted
  bool is_message = false;
  TextMessage message;
  uint64_t line = 0;  // where it begins, from 1

  /// The value as a number.
  std::optional<uint64_t> Number() const;
};

/// Parses a whole text. Errors are kCorrupt and name `path` and the line.
Result<TextMessage> ParseTextProto(std::string_view text, const std::string& path);

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_PROTO_TEXT_PROTO_H_
