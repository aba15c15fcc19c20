#ifndef RINGSCOPE_FORMATS_TESTING_STRING_SINK_H_
#define RINGSCOPE_FORMATS_TESTING_STRING_SINK_H_

#include <string>

#include "core/base/wire.h"
#include "formats/io/byte_stream.h"

namespace ringscope {

/// Appends to a string.
class StringSink : public ByteSink {
 public:
  using ByteSink::Write;
  Status Write(Bytes bytes) override {
    text += wire::AsText(bytes);
    return {};
  }
  std::string text;
};

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_TESTING_STRING_SINK_H_
