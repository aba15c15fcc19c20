#ifndef RINGSCOPE_FORMATS_DESCRIPTORS_DESCRIPTORS_H_
#define RINGSCOPE_FORMATS_DESCRIPTORS_DESCRIPTORS_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
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

/// The names and types of the fields of Perfetto's messages, and messages as text. Of the protobuf
/// library, whose headers are large, users of this one see nothing. Safe to use by several threads.
class Descriptors {
 public:
  /// Those of the .proto files of this folder, parsed when something is looked up.
  static const Descriptors& BuiltIn();
  /// The built-in ones, and those of a FileDescriptorSet as `protoc --descriptor_set_out
  /// --include_imports` writes it: extensions, further messages, and fields that the built-in
  /// messages do not have. kCorrupt: it is none, or what it refers to is missing.
  /// @param path for messages
  static Result<std::unique_ptr<Descriptors>> Extended(Bytes descriptor_set,
                                                       const std::string& path);
  ~Descriptors();

  /// Messages are named without their package: "TraceConfig"; one of another package with it.

  /// Empty: not known.
  std::string FieldName(std::string_view message, uint32_t number) const;
  /// nullopt: not known.
  std::optional<DescribedField> FieldOf(std::string_view message, uint32_t number) const;

  /// The bytes of a message that is given in protobuf's text format. A field may have its number
  /// for a name; fields of unknown numbers are left out. kCorrupt names path, line, column and what
  /// was expected.
  Result<std::string> Encode(std::string_view message, std::string_view text,
                             const std::string& path) const;
  /// A message in protobuf's text format, a field per line. Fields that are not known have their
  /// number for a name. Of bytes that are malformed, what precedes the malformed part, and a
  /// comment.
  std::string Text(std::string_view message, Bytes bytes) const;

  /// Where a field is in a message's text, or as much of the way to it as there is. Fields that are
  /// not known are skipped. nullopt: the text cannot be parsed.
  std::optional<TextPlace> FindInText(std::string_view message, std::string_view text,
                                      const std::vector<TextStep>& path) const;

 private:
  struct Pool;

  explicit Descriptors(std::unique_ptr<Pool> pool);
  /// The built-in ones are parsed by the first who needs them.
  const Pool& pool() const;

  mutable std::once_flag parsed_;
  mutable std::unique_ptr<Pool> pool_;
};

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_DESCRIPTORS_DESCRIPTORS_H_
