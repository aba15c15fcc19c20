#ifndef RINGSCOPE_CORE_TESTING_MESSAGE_TEXT_H_
#define RINGSCOPE_CORE_TESTING_MESSAGE_TEXT_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/wire.h"

namespace ringscope::testing {

/// A field alone: "Uint(1, 5) + Sub(2, Uint(1, 6))" is a message.
inline std::string Uint(uint32_t number, uint64_t value) {
  std::string out;
  wire::AppendUint(out, number, value);
  return out;
}
inline std::string Sub(uint32_t number, std::string_view content) {
  std::string out;
  wire::AppendBytes(out, number, wire::AsBytes(content));
  return out;
}

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
