#include "commands/shell/descriptor_option.h"

#include <fmt/format.h>

#include "commands/shell/input.h"
#include "commands/shell/options.h"
#include "core/base/text.h"

namespace ringscope {
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
  RS_ASSIGN_OR_RETURN(const std::string bytes, ReadStart(*source, kMaxDescriptorBytes + 1));
  if (bytes.size() > kMaxDescriptorBytes)
    return Fail(ErrorCode::kLimit,
                fmt::format("descriptors of more than {} bytes", WithCommas(kMaxDescriptorBytes)),
                {path, {}, {}});
  RS_ASSIGN_OR_RETURN(choice.extended_, Descriptors::Extended(wire::AsBytes(bytes), path));
  return choice;
}

}  // namespace ringscope
