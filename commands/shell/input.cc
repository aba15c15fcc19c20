#include "commands/shell/input.h"

#include <fmt/format.h>

#include <filesystem>
#include <utility>
#include <vector>

#include "commands/shell/options.h"
#include "core/base/text.h"
#include "core/base/wire.h"
#include "formats/descriptors/descriptors.h"
#include "formats/inputs/archive.h"

namespace ringscope {
Result<std::unique_ptr<ByteSource>> OpenInput(Context& context, const std::string& path) {
  const auto& open_input = context.console.streams().open_input;
  return path == "-" && open_input ? open_input() : OpenPath(path);
}

Result<KnownInput> OpenKnownInput(Context& context, const std::string& path) {
  RS_ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> source, OpenInput(context, path));
  return FindInputKind(std::move(source));
}

namespace {

Status ExpectOneTrace(const std::vector<std::string>& traces, const std::string& path) {
  if (traces.size() == 1) return {};
  return Fail(ErrorCode::kCorrupt,
              fmt::format("it has {}, expected one", Count(traces.size(), "trace")), {path, {}, {}},
              traces.empty() ? "" : fmt::format("name one of them: {}", traces.front()));
}

}  // namespace

Result<KnownInput> OpenOneInput(Context& context, const std::string& path) {
  std::vector<std::string> traces;
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    for (const auto& entry : std::filesystem::directory_iterator(path, error))
      if (IsTraceName(entry.path().filename().string())) traces.push_back(entry.path().string());
    RS_RETURN_IF_ERROR(ExpectOneTrace(traces, path));
    return OpenOneInput(context, traces.front());
  }
  RS_ASSIGN_OR_RETURN(KnownInput input, OpenKnownInput(context, path));
  if (!IsArchive(input.start)) return input;
  RS_ASSIGN_OR_RETURN(const std::vector<ArchiveMember> members, MembersOf(std::move(input.source)));
  std::vector<const ArchiveMember*> found;
  for (const ArchiveMember& member : members) {
    if (!member.is_trace()) continue;
    traces.push_back(member.path);
    found.push_back(&member);
  }
  if (traces.empty()) return tl::unexpected<Error>(NoTraceIn(path, members));
  RS_RETURN_IF_ERROR(ExpectOneTrace(traces, path));
  RS_ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> source, found.front()->open());
  return FindInputKind(std::move(source));
}

void AddConfig(CLI::App& app, std::string& config, const std::string& what) {
  AddText(app, "--config", config, kFileType, what);
}

Result<ConfigFile> ReadConfigFile(Context& context, const std::string& path) {
  constexpr size_t kMaxConfig = size_t{16} << 20;
  ConfigFile config;
  RS_ASSIGN_OR_RETURN(const std::unique_ptr<ByteSource> source, OpenInput(context, path));
  RS_ASSIGN_OR_RETURN(config.text, ReadText(*source, kMaxConfig, "a trace config",
                                            "expected protobuf's text format"));
  auto bytes = Descriptors::BuiltIn().Encode("TraceConfig", config.text, path);
  if (!bytes) {
    Error error = std::move(bytes).error();
    const bool is_unknown = error.message.find("has no field named") != std::string::npos;
    if (is_unknown && !error.hint.starts_with("did you mean"))
      error.hint = "a field of a later Perfetto can be left out, unless it is about buffers";
    return tl::unexpected<Error>(std::move(error));
  }
  config.bytes = *std::move(bytes);
  return config;
}

}  // namespace ringscope
