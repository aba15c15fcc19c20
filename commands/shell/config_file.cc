#include "commands/shell/config_file.h"

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "commands/shell/input.h"
#include "commands/shell/options.h"
#include "formats/descriptors/descriptors.h"
#include "formats/inputs/input_kind.h"

namespace ringscope {

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
