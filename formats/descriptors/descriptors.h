#ifndef RINGSCOPE_FORMATS_DESCRIPTORS_DESCRIPTORS_H_
#define RINGSCOPE_FORMATS_DESCRIPTORS_DESCRIPTORS_H_

#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/base/wire.h"

namespace ringscope {

/// A step on the way to a field of a message: the index-th field of this name.
struct TextStep {
  std::string name;
  size_t index = 0;  // of a repeated field; else 0
};
/// A field of a message.
struct DescribedField {
  std::string name;
  std::string message;  // its type, if it is a message
};

/// A field in protobuf's text format: "size_kb: 1024", "buffers { ... }".
struct TextPlace {
  size_t begin = 0, end = 0;  // offsets; of all of the text if no step was found
  size_t steps = 0;           // how many of the path's steps there are
};

/// Names and types of the fields of Perfetto's messages, and messages as text: those of
/// core/perfetto's .proto files, parsed at the first look-up. Safe from all threads. Messages are
/// named without their package: "TraceConfig"; one of another package with it.
namespace descriptors {

/// Returns a field, if it is known.
std::optional<DescribedField> FieldOf(std::string_view message, uint32_t number);
/// Returns its name, or an empty text.
std::string FieldName(std::string_view message, uint32_t number);

/// Returns the bytes of a message in text format. Leaves out fields of unknown numbers. kCorrupt
/// names path, line, column and what was expected.
Result<std::string> Encode(std::string_view message, std::string_view text,
                           const std::string& path);
/// Returns a message in text format, a field per line, with a comment where it is malformed.
std::string Text(std::string_view message, Bytes bytes);

/// Returns true if protobuf's own parser can read the message, and all messages in it that are
/// known.
bool CanParse(std::string_view message, Bytes bytes);

/// Finds a field in a message's text, or as much of the way as there is; nullopt if it cannot be
/// parsed.
std::optional<TextPlace> FindInText(std::string_view message, std::string_view text,
                                    const std::vector<TextStep>& path);

}  // namespace descriptors

/// The FileDescriptorSet that protoc made of core/perfetto's .proto files when ringscope was built.
Bytes EmbeddedDescriptorSet();

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_DESCRIPTORS_DESCRIPTORS_H_
