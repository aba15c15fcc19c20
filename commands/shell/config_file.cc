#include "commands/shell/config_file.h"

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "commands/shell/input.h"
#include "commands/shell/options.h"
#include "core/base/text.h"
#include "formats/descriptors/descriptors.h"
#include "formats/inputs/input_kind.h"

namespace ringscope {

void AddConfig(CLI::App& app, std::string& config, std::string& descriptor,
               const std::string& what) {
  AddText(app, "--config", config, kFileType, what);
  AddDescriptor(app, descriptor);
}

Result<ConfigFile> ReadConfigFile(Context& context, const std::string& path,
                                  const std::string& descriptor) {
  constexpr size_t kMaxConfig = size_t{16} << 20;
  ConfigFile config;
  RS_ASSIGN_OR_RETURN(const std::unique_ptr<ByteSource> source, OpenInput(context, path));
  RS_ASSIGN_OR_RETURN(config.text, ReadText(*source, kMaxConfig, "a trace config",
                                            "expected protobuf's text format"));
  RS_ASSIGN_OR_RETURN(const DescriptorChoice descriptors,
                      DescriptorChoice::Open(context, descriptor));
  auto bytes = descriptors.get().Encode("TraceConfig", config.text, path);
  if (!bytes) {
    Error error = std::move(bytes).error();
    const bool is_unknown = error.message.find("has no field named") != std::string::npos;
    if (is_unknown && !error.hint.starts_with("did you mean"))
      error.hint =
          "if the field is of a later Perfetto, name the descriptors of its TraceConfig with "
          "--descriptor";
    return tl::unexpected<Error>(std::move(error));
  }
  config.bytes = *std::move(bytes);
  return config;
}

namespace {

constexpr size_t kMaxDescriptorBytes = size_t{64} << 20;

}  // namespace

void AddDescriptor(CLI::App& app, std::string& path) {
  AddText(app, "--descriptor", path, kFileType,
          "Names of further fields, such as your extensions of TrackEvent: a FileDescriptorSet as "
          "'protoc --include_imports --descriptor_set_out=FILE' writes it");
}

Result<DescriptorChoice> DescriptorChoice::Open(Context& context, const std::string& path) {
  DescriptorChoice choice;
  if (path.empty()) return choice;
  RS_ASSIGN_OR_RETURN(const auto source, OpenInput(context, path));
  RS_ASSIGN_OR_RETURN(const std::string bytes, source->Peek(kMaxDescriptorBytes + 1));
  if (bytes.size() > kMaxDescriptorBytes)
    return Fail(ErrorCode::kLimit,
                fmt::format("descriptors of more than {} bytes", WithCommas(kMaxDescriptorBytes)),
                {path, {}, {}});
  RS_ASSIGN_OR_RETURN(choice.extended_, Descriptors::Extended(wire::AsBytes(bytes), path));
  return choice;
}

}  // namespace ringscope
