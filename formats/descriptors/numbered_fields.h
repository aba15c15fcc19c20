#ifndef RINGSCOPE_FORMATS_DESCRIPTORS_NUMBERED_FIELDS_H_
#define RINGSCOPE_FORMATS_DESCRIPTORS_NUMBERED_FIELDS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/ids.h"

namespace google::protobuf {
class Message;
}

namespace ringscope {

/// Fields of a message in protobuf's text format that have a number instead of a name: that is how
/// fields are written whose name is not known ("123: 5", "123: 0x0000000a", "123: \"text\"",
/// "123 { 4: 5 }"). The library's parser has no place for them.
class NumberedFields {
 public:
  /// A field that holds a message, and which of its kind it is, from 0.
  struct Step {
    std::string name;  // "[a.b]": an extension
    size_t index = 0;
  };
  struct Field {
    std::vector<Step> path;  // of the message that has it
    std::string bytes;       // with its tag
  };

  /// Finds them. What is not text of this format ends the search: the library then tells what is
  /// wrong.
  explicit NumberedFields(std::string_view text);

  bool empty() const { return fields_.empty(); }
  /// The text with spaces in their place, so that all else stays where it is.
  const std::string& rest() const { return rest_; }
  /// Adds them to the message that was parsed of the rest, as fields of its wire format.
  void AddTo(google::protobuf::Message& message) const;

 private:
  std::string rest_;
  std::vector<Field> fields_;
};

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_DESCRIPTORS_NUMBERED_FIELDS_H_
