#include <array>
#include <type_traits>

#include "formats/log/record_codec.h"
#include "formats/log/record_fields.h"

namespace ringscope::commit_log {
namespace {

template <size_t kKind>
Status DecodeKind(Bytes message, OpBody& body) {
  using Body = std::variant_alternative_t<kKind, AnyRecord>;
  if constexpr (std::is_same_v<Body, Commit>)
    return Fail(ErrorCode::kUnsupported, "a commit is decoded by itself");
  else
    return DecodeMessage(message, body.emplace<kKind>());
}

using DecodeKindFn = Status (*)(Bytes, OpBody&);

/// One decoder per record kind, in OpBody's order.
constexpr std::array<DecodeKindFn, kOpKinds> kDecoders =
    []<size_t... kKinds>(std::index_sequence<kKinds...>) {
  return std::array<DecodeKindFn, kOpKinds>{&DecodeKind<kKinds>...};
}
(std::make_index_sequence<kOpKinds>());

}  // namespace

std::string EncodeBody(const OpBody& body) {
  std::string encoded;
  std::visit(
      Overloaded{[](const Commit&) {}, [&](const auto& record) { EncodeMessage(record, encoded); }},
      body);
  return encoded;
}

Status DecodeBody(size_t kind, Bytes message, OpBody& body) {
  return kDecoders[kind](message, body);
}

}  // namespace ringscope::commit_log
