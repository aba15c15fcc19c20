#include "commands/shell/input.h"

#include <utility>
#include <vector>

namespace ringscope {

Result<std::unique_ptr<ByteSource>> OpenInput(Context& context, const std::string& path) {
  const auto& open_input = context.console.streams().open_input;
  return path == "-" && open_input ? open_input() : OpenByteSource(path);
}

Result<KnownInput> OpenKnownInput(Context& context, const std::string& path) {
  RS_ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> source, OpenInput(context, path));
  return FindInputKind(std::move(source));
}

SpooledInput::SpooledInput(Context& context, std::shared_ptr<const TemporaryFile> file)
    : context_(context), before_(context.console.streams().open_input) {
  context_.console.streams().open_input =
      [file = std::move(file)]() -> Result<std::unique_ptr<ByteSource>> {
    return OpenTemporary(file, "-");
  };
  context_.console.streams().input_again = true;
}

SpooledInput::~SpooledInput() {
  context_.console.streams().open_input = before_;
  context_.console.streams().input_again = false;
}

Result<std::shared_ptr<TemporaryFile>> SpooledInput::Copy(ByteSource& input) {
  RS_ASSIGN_OR_RETURN(
      std::shared_ptr<TemporaryFile> file,
      TemporaryFile::Create(
          {.what = "a temporary copy of it",
           .path = input.path(),
           .hint = "set TMPDIR to a folder with free space, or name a file instead of -"}));
  std::vector<uint8_t> part(kReadBytes);
  while (true) {
    RS_ASSIGN_OR_RETURN(const size_t size, input.Read(part));
    if (size == 0) return file;
    RS_RETURN_IF_ERROR(file->Write(Bytes(part.data(), size)));
  }
}

Result<std::unique_ptr<SpooledInput>> SpooledInput::Read(Context& context) {
  RS_ASSIGN_OR_RETURN(const std::unique_ptr<ByteSource> input, OpenInput(context, "-"));
  RS_ASSIGN_OR_RETURN(std::shared_ptr<TemporaryFile> file, Copy(*input));
  return std::make_unique<SpooledInput>(context, std::move(file));
}

}  // namespace ringscope
