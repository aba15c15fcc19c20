#ifndef RINGSCOPE_COMMANDS_SPOOLED_INPUT_H_
#define RINGSCOPE_COMMANDS_SPOOLED_INPUT_H_

#include <functional>
#include <memory>

#include "commands/context.h"
#include "formats/byte_stream.h"
#include "formats/temporary_file.h"

namespace ringscope {

/// Standard input, kept in a temporary file so that it can be opened again and again. As long as
/// this lives, the console's input is that file.
class SpooledInput {
 public:
  /// Reads standard input to its end.
  static Result<std::unique_ptr<SpooledInput>> Read(Context& context);
  /// Takes a file in place of standard input.
  SpooledInput(Context& context, std::shared_ptr<const TemporaryFile> file);
  ~SpooledInput();
  SpooledInput(const SpooledInput&) = delete;
  SpooledInput& operator=(const SpooledInput&) = delete;

 private:
  using OpenInput = std::function<Result<std::unique_ptr<ByteSource>>()>;

  Context& context_;
  OpenInput before_;
};

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_SPOOLED_INPUT_H_
