#ifndef RINGSCOPE_FORMATS_DESCRIPTORS_PROTOBUF_ERRORS_H_
#define RINGSCOPE_FORMATS_DESCRIPTORS_PROTOBUF_ERRORS_H_

#include <google/protobuf/io/tokenizer.h>

#include <string>

namespace ringscope {

// The protobuf library reports errors to an object. Its functions were renamed in version 22.
#if GOOGLE_PROTOBUF_VERSION >= 4022000
using ProtobufText = absl::string_view;
#define RS_ON_ERROR RecordError
#define RS_ON_WARNING RecordWarning
#else
using ProtobufText = const std::string&;
#define RS_ON_ERROR AddError
#define RS_ON_WARNING AddWarning
#endif

/// Keeps the first error in a text.
class TextErrors : public google::protobuf::io::ErrorCollector {
 public:
  void RS_ON_ERROR(int at_line, int at_column, ProtobufText text) override {
    if (!message.empty()) return;
    line = at_line;
    column = at_column;
    message = std::string(text);
  }
  void RS_ON_WARNING(int at_line, int at_column, ProtobufText text) override {
    const std::string warning(text);
    const size_t quote = warning.size() - 3;
    const bool is_number =
        warning.ends_with("\".") &&
        warning.find_last_not_of("0123456789", quote) == warning.rfind('"', quote);
    if (names_must_be_known && !is_number) RS_ON_ERROR(at_line, at_column, text);
  }

  /// Takes a field whose name is not known for an error, unless the name is a number.
  bool names_must_be_known = false;

  int line = -1;  // from 0; -1: nowhere in particular
  int column = -1;
  std::string message;
};

#undef RS_ON_ERROR
#undef RS_ON_WARNING

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_DESCRIPTORS_PROTOBUF_ERRORS_H_
