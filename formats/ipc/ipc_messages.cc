#include "formats/ipc/ipc_messages.h"

#include <algorithm>
#include <array>

#include "core/perfetto/fields.h"

namespace ringscope::ipc {
Bytes FieldBytes(Bytes message, uint32_t number) {
  return wire::LastBytes(message, number).value_or(Bytes());
}

Bytes TraceConfigOf(Bytes enable_tracing) {
  return FieldBytes(enable_tracing, proto::EnableTracingRequest::kTraceConfig);
}

bool IsAttachNotification(Bytes enable_tracing) {
  constexpr uint32_t kAttachNotificationOnly = 2;
  return wire::LastVarint(enable_tracing, kAttachNotificationOnly).value_or(0) != 0;
}

std::string OwnFieldsOf(Bytes data_source_config) {
  constexpr std::array<uint32_t, 8> kFilledIn = {2, 3, 4, 6, 7, 8, 11, 122};
  std::vector<std::string_view> fields;
  wire::FieldReader reader(data_source_config);
  while (const auto field = reader.Next())
    if (std::ranges::find(kFilledIn, field->number) == kFilledIn.end())
      fields.push_back(wire::AsText(field->whole));
  std::ranges::stable_sort(fields);
  std::string own;
  for (const std::string_view field : fields) own += field;
  return own;
}

Bytes DataSourceConfigOf(Bytes command) {
  using Command = proto::GetAsyncCommandResponse;
  const Bytes set_up = FieldBytes(command, Command::kSetupDataSource);
  return FieldBytes(set_up.empty() ? FieldBytes(command, Command::kStartDataSource) : set_up,
                    proto::GetAsyncCommandResponse::SetupDataSource::kConfig);
}

}  // namespace ringscope::ipc
