#include "core/log/op.h"

namespace ringscope {

OpBody::OpBody(const OpBody& other) = default;
OpBody::OpBody(OpBody&& other) noexcept = default;
OpBody& OpBody::operator=(const OpBody& other) = default;
OpBody& OpBody::operator=(OpBody&& other) noexcept = default;
OpBody::~OpBody() = default;

}  // namespace ringscope
