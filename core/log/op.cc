#include "core/log/op.h"

#include "core/base/wire.h"

namespace ringscope {
OpBody::OpBody(const OpBody& other) = default;
OpBody::OpBody(OpBody&& other) noexcept = default;
OpBody& OpBody::operator=(const OpBody& other) = default;
OpBody& OpBody::operator=(OpBody&& other) noexcept = default;
OpBody::~OpBody() = default;

StoredOp::StoredOp(const Op& op, std::optional<std::string> request) : op_(op) {
  auto* const commit = std::get_if<Commit>(&op_.body);
  if (commit == nullptr) return;
  if (!request) request = wire::AsText(commit->request);
  request_ = std::make_shared<const std::string>(*std::move(request));
  commit->request = wire::AsBytes(*request_);
}

}  // namespace ringscope
