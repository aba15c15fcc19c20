#include "commands/shell/input.h"

#include <utility>

namespace ringscope {

Result<std::unique_ptr<ByteSource>> OpenInput(Context& context, const std::string& path) {
  const auto& open_input = context.console.streams().open_input;
  return path == "-" && open_input ? open_input() : OpenByteSource(path);
}

Result<KnownInput> OpenKnownInput(Context& context, const std::string& path) {
  RS_ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> source, OpenInput(context, path));
  return FindInputKind(std::move(source));
}

}  // namespace ringscope
