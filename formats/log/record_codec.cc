#include "formats/log/record_codec.h"

#include <fmt/format.h>

#include "core/perfetto/fields.h"
#include "formats/log/commit_log_format.h"
#include "formats/log/record_fields.h"

namespace ringscope::commit_log {
namespace {

constexpr size_t kCommitKind = AnyRecord(Commit{}).index();

/// Protobuf implementations read tags and lengths as 32-bit varints: at most five bytes.
constexpr size_t kMaxTagBytes = 5;

/// Walks a message as parsers do, and the fields that `nested` takes for messages.
template <typename NestedFn>
bool IsWellFormed(Bytes message, const NestedFn& nested) {
  wire::FieldReader reader(message);
  while (const auto field = reader.Next()) {
    const size_t tag_bytes = wire::ReadVarint(field->whole).size;
    if (tag_bytes > kMaxTagBytes) return false;
    if (field->type != wire::Type::kBytes) continue;
    const size_t length_bytes = field->whole.size() - tag_bytes - field->bytes.size();
    if (length_bytes > kMaxTagBytes || !nested(field->number, field->bytes)) return false;
  }
  return reader.ok();
}

/// The numbers of a commit, in the order of their fields.
void CommitNumbers(auto& field, Like<Commit> auto& m) {
  SenderFields(field, m);
  field(kOrigin, m.origin);
  PartFields(field, m);
}

/// Everything of a Commit message but the request's bytes, which follow as its last field. Mostly
/// so short that it takes no memory of the heap.
std::string CommitHead(const Commit& commit) {
  std::string head;
  MessageEncoder encoder(head);
  CommitNumbers(encoder, commit);
  if (!commit.last) wire::AppendUint(head, kMoreParts, 1);
  const uint32_t field = IsWellFormedRequest(commit.request) ? kRequest : kMalformedRequest;
  wire::AppendTag(head, field, wire::Type::kBytes);
  wire::AppendVarint(head, commit.request.size());
  return head;
}

/// Puts a field's number into the member that has it. Does less than FieldDecoder, and is inlined.
struct NumberTaker {
  const wire::Field& field;
  bool fits = true;

  template <typename T>
  void operator()(uint32_t number, T& into) {
    if (field.number == number) fits = Take(into);
  }
  template <typename T>
  bool Take(std::optional<T>& into) const {
    return Take(into.emplace());
  }
  bool Take(int32_t& into) const {
    into = wire::UnZigZag(static_cast<uint32_t>(field.value));
    return field.value <= UINT32_MAX;
  }
  template <codec::Varint T>
  bool Take(T& into) const {
    into = static_cast<T>(field.value);
    return field.value <= codec::MaxVarint<T>();
  }
};

Status DecodeCommit(Bytes message, Commit& commit) {
  wire::FieldReader reader(message);
  while (const auto field = reader.Next()) {
    if (field->IsBytes(kRequest) || field->IsBytes(kMalformedRequest))
      commit.request = field->bytes;
    if (field->type != wire::Type::kVarint) continue;
    NumberTaker taker{*field};
    CommitNumbers(taker, commit);
    if (!taker.fits)
      return Fail(ErrorCode::kCorrupt,
                  fmt::format("field {} is out of range: {}", field->number, field->value));
    if (field->number == kMoreParts) commit.last = field->value == 0;
  }
  if (!reader.ok()) return Fail(ErrorCode::kCorrupt, "not well-formed protobuf");
  return {};
}

Status DecodeInto(Bytes record, std::optional<Op>& op) {
  std::optional<uint64_t> time_ns;
  std::optional<size_t> kind;
  Bytes body;
  wire::FieldReader reader(record);
  while (const auto field = reader.Next()) {
    if (field->IsVarint(kTimeNs)) {
      time_ns = field->value;
    } else if (field->type == wire::Type::kBytes && field->number >= kFirstBody &&
               field->number - kFirstBody < kOpKinds) {
      kind = field->number - kFirstBody;
      body = field->bytes;
    }
  }
  if (!reader.ok()) return Fail(ErrorCode::kCorrupt, "the record is not well-formed protobuf");
  if (!kind) return {};

  op.emplace().time_ns = time_ns;
  OpBody& into = op->body;
  const Status status = *kind == kCommitKind ? DecodeCommit(body, into.emplace<Commit>())
                                             : DecodeBody(*kind, body, into);
  if (status) return {};
  return Fail(status.error().code,
              fmt::format("record of kind {}: {}", OpKindName(*kind), status.error().message));
}

}  // namespace

void AppendRecord(const Op& op, std::optional<uint64_t> number, std::string& out) {
  const auto* const commit = std::get_if<Commit>(&op.body);
  const std::string body = commit != nullptr ? CommitHead(*commit) : EncodeBody(op.body);
  const Bytes request = commit != nullptr ? commit->request : Bytes();
  const uint32_t body_field = kFirstBody + static_cast<uint32_t>(op.body.index());
  const size_t body_bytes = body.size() + request.size();
  size_t size = wire::UintFieldSize(body_field, body_bytes) + body_bytes;
  if (op.time_ns) size += wire::UintFieldSize(kTimeNs, *op.time_ns);
  if (number) size += wire::UintFieldSize(kNumber, *number);

  wire::AppendTag(out, kRecord, wire::Type::kBytes);
  wire::AppendVarint(out, size);
  if (op.time_ns) wire::AppendUint(out, kTimeNs, *op.time_ns);
  if (number) wire::AppendUint(out, kNumber, *number);
  wire::AppendTag(out, body_field, wire::Type::kBytes);
  wire::AppendVarint(out, body_bytes);
  out.append(body).append(wire::AsText(request));
}

Result<std::optional<Op>> DecodeRecord(Bytes record) {
  Result<std::optional<Op>> decoded;  // filled where it is returned: moving a record is not cheap
  if (Status status = DecodeInto(record, *decoded); !status)
    decoded = tl::unexpected(std::move(status).error());
  return decoded;
}

bool IsWellFormedRequest(Bytes request) {
  const auto leaf = [](uint32_t, Bytes) { return true; };
  const auto in_patch = [&leaf](uint32_t number, Bytes bytes) {
    return number != proto::CommitDataRequest::ChunkToPatch::kPatches || IsWellFormed(bytes, leaf);
  };
  return IsWellFormed(request, [&](uint32_t number, Bytes bytes) {
    if (number == proto::CommitDataRequest::kChunksToMove) return IsWellFormed(bytes, leaf);
    if (number == proto::CommitDataRequest::kChunksToPatch) return IsWellFormed(bytes, in_patch);
    return true;
  });
}

}  // namespace ringscope::commit_log
