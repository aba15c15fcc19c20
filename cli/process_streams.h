#ifndef RINGSCOPE_CLI_PROCESS_STREAMS_H_
#define RINGSCOPE_CLI_PROCESS_STREAMS_H_

#include "commands/shell/console.h"

namespace ringscope {

/// A descriptor of this process as an end that text goes to. Not owned.
class DescriptorStream : public OutputStream {
 public:
  /// @param name for messages: "standard output"
  DescriptorStream(int descriptor, const char* name);
  using ByteSink::Write;
  Status Write(Bytes bytes) override;
  bool is_terminal() const override { return is_terminal_; }
  size_t columns() const override;
  bool reader_gone() const override { return reader_gone_; }

 private:
  const int descriptor_;
  const char* const name_;
  const bool is_terminal_;
  bool reader_gone_ = false;
};

/// Makes a closed pipe, and a file at its size limit, an error of the write instead of the process'
/// death.
void IgnoreFailedWrites();

/// Whether NO_COLOR asks for plain text (set, and not empty).
bool NoColorIsSet();

}  // namespace ringscope

#endif  // RINGSCOPE_CLI_PROCESS_STREAMS_H_
