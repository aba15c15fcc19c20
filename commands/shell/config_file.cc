#include "commands/shell/config_file.h"

#include <memory>

#include "commands/shell/input.h"
#include "formats/descriptors/descriptors.h"
#include "formats/inputs/content_words.h"

namespace ringscope {

Result<ConfigFile> ReadConfigFile(Context& context, const std::string& path) {
  constexpr size_t kMaxConfig = size_t{16} << 20;
  ConfigFile config;
  RS_ASSIGN_OR_RETURN(const std::unique_ptr<ByteSource> source, OpenInput(context, path));
  RS_ASSIGN_OR_RETURN(config.text, ReadText(*source, kMaxConfig, "a trace config",
                                         "expected protobuf's text format"));
  RS_ASSIGN_OR_RETURN(config.bytes,
                      Descriptors::BuiltIn().Encode("TraceConfig", config.text, path));
  return config;
}

}  // namespace ringscope
