#include "core/log/op.h"

#include "core/base/wire.h"

namespace ringscope {
namespace {

std::string RequestOf(const Op& op) {
  const auto* commit = std::get_if<Commit>(&op.body);
  return commit == nullptr ? std::string() : std::string(wire::AsText(commit->request));
}

}  // namespace

OpBody::OpBody(const OpBody& other) = default;
OpBody::OpBody(OpBody&& other) noexcept = default;
OpBody& OpBody::operator=(const OpBody& other) = default;
OpBody& OpBody::operator=(OpBody&& other) noexcept = default;
OpBody::~OpBody() = default;

StoredOp::StoredOp(const Op& op) : StoredOp(op, RequestOf(op)) {}

StoredOp::StoredOp(const Op& like, std::string request)
    : request_(std::make_shared<const std::string>(std::move(request))), op_(like) {
  if (auto* commit = std::get_if<Commit>(&op_.body)) commit->request = wire::AsBytes(*request_);
}

}  // namespace ringscope
