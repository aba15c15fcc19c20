#include "commands/advise_input.h"

#include <utility>

#include "commands/import_trace.h"
#include "commands/session_reader.h"
#include "formats/input_kind.h"
#include "formats/temporary_file.h"
#include "formats/zstd_source.h"

namespace ringscope {
namespace {

Result<std::unique_ptr<ByteSource>> Open(Context& context, const std::string& path) {
  const auto& open_input = context.console.streams().open_input;
  return path == "-" && open_input ? open_input() : OpenByteSource(path);
}

Status Import(Context& context, AdviseInput& input, std::unique_ptr<ByteSource> source) {
  RS_ASSIGN_OR_RETURN(std::shared_ptr<TemporaryFile> file,
                      TemporaryFile::Create({.what = "a temporary log of it", .path = input.path}));
  // Not a word of the temporary file.
  Console console(context.console.streams());
  console.Configure({.quiet = true});
  Context quiet{console, context.threads};
  RS_ASSIGN_OR_RETURN(const TraceLog log, WriteTraceLog({.log = input.path, .output = "-"},
                                                        std::move(source), *file, quiet));
  input.code = log.code;
  input.imported = std::make_unique<SpooledInput>(context, std::move(file));
  input.path = "-";
  input.is_trace = true;
  return {};
}

}  // namespace

Result<AdviseInput> OpenAdviseInput(Context& context, const std::string& path) {
  AdviseInput input;
  input.path = path;
  input.name = path;
  if (path == "-") {
    RS_ASSIGN_OR_RETURN(input.standard_input, SpooledInput::Read(context));
  }
  RS_ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> source, Open(context, path));
  RS_ASSIGN_OR_RETURN(std::string start, ReadStart(*source, kKindBytes));
  if (KindOfStart(start) == InputKind::kTrace) {
    source = MakePrefixedSource(std::move(start), std::move(source));
    RS_RETURN_IF_ERROR(Import(context, input, std::move(source)));
  }
  return input;
}

}  // namespace ringscope
