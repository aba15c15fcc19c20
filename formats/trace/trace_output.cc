#include "formats/trace/trace_output.h"

#include <fmt/format.h>

#include "core/base/wire.h"
#include "core/perfetto/fields.h"
#include "core/perfetto/trusted_fields.h"
#include "formats/proto/tool_version.h"

namespace ringscope {
namespace {

constexpr uint32_t kSystemInfo = 45, kServiceVersion = 4;

/// The first field of a message, if it is whole and has this number; else empty.
Bytes FirstField(Bytes message, uint32_t number) {
  wire::FieldReader fields(message);
  const auto field = fields.Next();
  return field && field->number == number && field->type == wire::Type::kBytes ? field->bytes
                                                                               : Bytes();
}

}  // namespace

std::string ToolPacket() {
  std::string info, packet, out;
  wire::AppendBytes(info, kServiceVersion,
                    wire::AsBytes(fmt::format("{} {}", kToolName, kToolVersion)));
  wire::AppendBytes(packet, kSystemInfo, wire::AsBytes(info));
  AppendTrustedFields(packet, Identity{.uid = 0, .pid = -1}, kServiceSequenceId, 0);
  wire::AppendBytes(out, proto::Trace::kPacket, wire::AsBytes(packet));
  return out;
}

bool BeginsWithToolPacket(Bytes start) {
  const Bytes info = FirstField(FirstField(start, proto::Trace::kPacket), kSystemInfo);
  return wire::AsText(FirstField(info, kServiceVersion)).starts_with(fmt::format("{} ", kToolName));
}

}  // namespace ringscope
