#ifndef RINGSCOPE_FORMATS_DESCRIPTORS_PROTOBUF_ERRORS_H_
#define RINGSCOPE_FORMATS_DESCRIPTORS_PROTOBUF_ERRORS_H_

#include <google/protobuf/descriptor.h>
#include <google/protobuf/io/tokenizer.h>

#include <string>

namespace ringscope {

// The protobuf library reports errors to an object. Its functions were renamed in version 22.

/// Keeps the first error in a text.
class TextErrors : public google::protobuf::io::ErrorCollector {
 public:
#if GOOGLE_PROTOBUF_VERSION >= 4022000
  void RecordError(int at_line, int at_column, absl::string_view text) override {
    Keep(at_line, at_column, std::string(text));
  }
  void RecordWarning(int at_line, int at_column, absl::string_view text) override {
    KeepWarning(at_line, at_column, std::string(text));
  }
#else
  void AddError(int at_line, int at_column, const std::string& text) override {
    Keep(at_line, at_column, text);
  }
  void AddWarning(int at_line, int at_column, const std::string& text) override {
    KeepWarning(at_line, at_column, text);
  }
#endif

  /// Takes a field whose name is not known for an error, unless the name is a number.
  bool names_must_be_known = false;

  int line = -1;  // from 0; -1: nowhere in particular
  int column = -1;
  std::string message;

 private:
  void KeepWarning(int at_line, int at_column, const std::string& text) {
    const bool is_number =
        text.ends_with("\".") &&
        text.find_last_not_of("0123456789", text.size() - 3) == text.rfind('"', text.size() - 3);
    if (names_must_be_known && !is_number) Keep(at_line, at_column, text);
  }
  void Keep(int at_line, int at_column, std::string text) {
    if (!message.empty()) return;
    line = at_line;
    column = at_column;
    message = std::move(text);
  }
};

/// Keeps the first error in descriptors.
class DescriptorErrors : public google::protobuf::DescriptorPool::ErrorCollector {
 public:
#if GOOGLE_PROTOBUF_VERSION >= 4022000
  void RecordError(absl::string_view file, absl::string_view element,
                   const google::protobuf::Message*, ErrorLocation,
                   absl::string_view text) override {
    Keep(std::string(file), std::string(element), std::string(text));
  }
#else
  void AddError(const std::string& file, const std::string& element,
                const google::protobuf::Message*, ErrorLocation, const std::string& text) override {
    Keep(file, element, text);
  }
#endif

  std::string message;

 private:
  void Keep(const std::string& file, const std::string& element, const std::string& text) {
    if (message.empty()) message = file + ": " + element + ": " + text;
  }
};

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_DESCRIPTORS_PROTOBUF_ERRORS_H_
