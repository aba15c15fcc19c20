#ifndef RINGSCOPE_COMMANDS_SPOOLED_INPUT_H_
#define RINGSCOPE_COMMANDS_SPOOLED_INPUT_H_

#include <functional>
#include <memory>

#include "commands/context.h"
#include "formats/byte_stream.h"

namespace ringscope {

/// Standard input, kept in a temporary file without a name so that it can be opened again and
/// again. As long as this lives, the console's input is that file.
class SpooledInput {
 public:
  /// Reads standard input to its end.
  static Result<std::unique_ptr<SpooledInput>> Read(Context& context);
  /// Takes a file, opened for reading, in place of standard input, and closes it in the end.
  static std::unique_ptr<SpooledInput> Take(Context& context, int file);
  ~SpooledInput();
  SpooledInput(const SpooledInput&) = delete;
  SpooledInput& operator=(const SpooledInput&) = delete;

 private:
  using OpenInput = std::function<Result<std::unique_ptr<ByteSource>>()>;
  SpooledInput(Context& context, int file);

  Context& context_;
  int file_;
  OpenInput before_;
};

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_SPOOLED_INPUT_H_
