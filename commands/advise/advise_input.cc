#include "commands/advise/advise_input.h"

#include <utility>

#include "commands/common/damage_report.h"
#include "commands/shell/input.h"
#include "formats/inputs/input_kind.h"
#include "formats/io/temporary_file.h"

namespace ringscope {
namespace {

Status Import(Context& context, AdviseInput& input, std::unique_ptr<ByteSource> source) {
  RS_ASSIGN_OR_RETURN(std::shared_ptr<TemporaryFile> file,
                      TemporaryFile::Create({.what = "a temporary log of it", .path = input.path}));
  RS_ASSIGN_OR_RETURN(const TraceLog log,
                      WriteTraceLog({.path = input.path}, std::move(source), *file));
  input.code = WarnOfTraceLog(context.console, input.path, log);
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
  RS_ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> source, OpenInput(context, path));
  RS_ASSIGN_OR_RETURN(KnownInput known, FindInputKind(std::move(source)));
  if (known.kind == InputKind::kTrace)
    RS_RETURN_IF_ERROR(Import(context, input, std::move(known.source)));
  return input;
}

}  // namespace ringscope
