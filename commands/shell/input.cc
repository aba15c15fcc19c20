#include "commands/shell/input.h"

namespace ringscope {

Result<std::unique_ptr<ByteSource>> OpenInput(Context& context, const std::string& path) {
  const auto& open_input = context.console.streams().open_input;
  return path == "-" && open_input ? open_input() : OpenByteSource(path);
}

}  // namespace ringscope
