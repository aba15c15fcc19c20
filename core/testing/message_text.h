#ifndef RINGSCOPE_CORE_TESTING_MESSAGE_TEXT_H_
#define RINGSCOPE_CORE_TESTING_MESSAGE_TEXT_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/wire.h"

namespace ringscope::testing {

/// A protobuf message, field by field.
class MessageText {
 public:
  MessageText& Uint(uint32_t field, uint64_t value) {
    wire::AppendUint(text_, field, value);
    return *this;
  }
  MessageText& Text(uint32_t field, std::string_view text) {
    wire::AppendBytes(text_, field, wire::AsBytes(text));
    return *this;
  }
  MessageText& Inner(uint32_t field, const MessageText& message) {
    return Text(field, message.text_);
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace ringscope::testing

#endif  // RINGSCOPE_CORE_TESTING_MESSAGE_TEXT_H_
