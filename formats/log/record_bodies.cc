#include "formats/log/record_codec.h"
#include "formats/log/record_fields.h"

namespace ringscope::commit_log {

std::string EncodeBody(const OpBody& body) {
  std::string encoded;
  std::visit(
      Overloaded{[](const Commit&) {}, [&](const auto& record) { EncodeMessage(record, encoded); }},
      body);
  return encoded;
}

Status DecodeBody(size_t kind, Bytes message, OpBody& body) {
  Status status;
  EmplaceKind(
      body, kind,
      Overloaded{[](Commit&) {}, [&](auto& record) { status = DecodeMessage(message, record); }});
  return status;
}

}  // namespace ringscope::commit_log
