#include "formats/log/record_codec.h"

#include <fmt/format.h>

#include <utility>

#include "core/perfetto/fields.h"
#include "formats/io/message_codec.h"
#include "formats/log/commit_log_format.h"

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

/// Everything of a Commit message but the request's bytes, which follow as its last field.
void AppendCommitHead(const Commit& commit, std::string& out) {
  if (Raw(commit.producer) != 0) wire::AppendUint(out, kProducer, Raw(commit.producer));
  if (commit.uid) wire::AppendUint(out, kUid, *commit.uid);
  if (commit.pid) wire::AppendUint(out, kPid, wire::ZigZag(*commit.pid));
  if (commit.origin != Origin{}) {
    wire::AppendUint(out, kOrigin, static_cast<uint64_t>(commit.origin));
  }
  if (commit.number != 0) wire::AppendUint(out, kRequestNumber, commit.number);
  if (commit.part != 0) wire::AppendUint(out, kPart, commit.part);
  if (!commit.last) wire::AppendUint(out, kMoreParts, 1);
  const uint32_t field = IsWellFormedRequest(commit.request) ? kRequest : kMalformedRequest;
  wire::AppendTag(out, field, wire::Type::kBytes);
  wire::AppendVarint(out, commit.request.size());
}

/// Upper bound of what AppendCommitHead appends: eight fields of a tag byte and a varint.
constexpr size_t kMaxCommitHead = 8 * (1 + wire::kMaxVarintBytes);

void AppendRecordHead(const Op& op, std::optional<uint64_t> number, size_t body_bytes,
                      std::string& out) {
  const uint32_t body_field = BodyField(op.body.index());
  size_t size = wire::UintFieldSize(body_field, body_bytes) + body_bytes;
  if (op.time_ns) size += wire::UintFieldSize(kTimeNs, *op.time_ns);
  if (number) size += wire::UintFieldSize(kNumber, *number);

  wire::AppendTag(out, kRecord, wire::Type::kBytes);
  wire::AppendVarint(out, size);
  if (op.time_ns) wire::AppendUint(out, kTimeNs, *op.time_ns);
  if (number) wire::AppendUint(out, kNumber, *number);
  wire::AppendTag(out, body_field, wire::Type::kBytes);
  wire::AppendVarint(out, body_bytes);
}

/// The usual record: its request's bytes are copied once, straight to their place.
void AppendCommit(const Op& op, const Commit& commit, std::optional<uint64_t> number,
                  std::string& out) {
  // The size of the head precedes it: it is first encoded at the end of `out`, and copied aside.
  const size_t start = out.size();
  AppendCommitHead(commit, out);
  std::array<char, kMaxCommitHead> head;
  const size_t head_size = out.copy(head.data(), head.size(), start);
  out.resize(start);
  AppendRecordHead(op, number, head_size + commit.request.size(), out);
  out.append(head.data(), head_size);
  out.append(wire::AsText(commit.request));
}

template <typename T>
bool Narrow(uint64_t value, T& into) {
  if (value > codec::MaxVarint<T>()) return false;
  into = static_cast<T>(value);
  return true;
}

bool TakeCommitNumber(const wire::Field& field, Commit& commit) {
  switch (field.number) {
    case kProducer:
      return Narrow(field.value, commit.producer);
    case kUid:
      return Narrow(field.value, commit.uid.emplace());
    case kPid: {
      uint32_t zigzag = 0;
      if (!Narrow(field.value, zigzag)) return false;
      commit.pid = wire::UnZigZag(zigzag);
      return true;
    }
    case kOrigin:
      return Narrow(field.value, commit.origin);
    case kRequestNumber:
      commit.number = field.value;
      return true;
    case kPart:
      return Narrow(field.value, commit.part);
    case kMoreParts:
      commit.last = field.value == 0;
      return true;
    default:
      return true;
  }
}

Status DecodeCommit(Bytes message, Commit& commit) {
  wire::FieldReader reader(message);
  while (const auto field = reader.Next()) {
    if (field->type == wire::Type::kVarint && !TakeCommitNumber(*field, commit)) {
      return Fail(ErrorCode::kCorrupt,
                  fmt::format("field {} is out of range: {}", field->number, field->value));
    }
    if (field->type == wire::Type::kBytes &&
        (field->number == kRequest || field->number == kMalformedRequest)) {
      commit.request = field->bytes;
    }
  }
  if (!reader.ok()) return Fail(ErrorCode::kCorrupt, "not well-formed protobuf");
  return {};
}

/// @param decoded a fresh one
Status DecodeInto(Bytes record, DecodedRecord& decoded) {
  std::optional<uint64_t> time_ns;
  std::optional<size_t> kind;
  Bytes body;
  wire::FieldReader reader(record);
  while (const auto field = reader.Next()) {
    if (field->type == wire::Type::kVarint) {
      if (field->number == kTimeNs) time_ns = field->value;
      if (field->number == kNumber) decoded.number = field->value;
    } else if (field->type == wire::Type::kBytes && field->number >= kFirstBody &&
               field->number - kFirstBody < kOpKinds) {
      kind = field->number - kFirstBody;
      body = field->bytes;
    }
  }
  if (!reader.ok()) return Fail(ErrorCode::kCorrupt, "the record is not well-formed protobuf");
  if (!kind) return {};

  decoded.op.emplace().time_ns = time_ns;
  OpBody& into = decoded.op->body;
  const Status status = *kind == kCommitKind ? DecodeCommit(body, into.emplace<Commit>())
                                             : DecodeBody(*kind, body, into);
  if (!status) {
    return Fail(status.error().code,
                fmt::format("record of kind {}: {}", OpKindName(*kind), status.error().message));
  }
  return {};
}

}  // namespace

void AppendRecord(const Op& op, std::optional<uint64_t> number, std::string& out) {
  if (const auto* commit = std::get_if<Commit>(&op.body))
    return AppendCommit(op, *commit, number, out);
  const std::string body = EncodeBody(op.body);
  AppendRecordHead(op, number, body.size(), out);
  out.append(body);
}

Result<DecodedRecord> DecodeRecord(Bytes record) {
  Result<DecodedRecord> decoded;  // filled where it is returned: moving a record is not cheap
  if (Status status = DecodeInto(record, *decoded); !status)
    decoded = tl::unexpected(std::move(status).error());
  return decoded;
}

std::optional<uint64_t> RecordNumber(Bytes record) {
  wire::FieldReader reader(record);
  while (const auto field = reader.Next()) {
    if (field->IsVarint(kNumber)) return field->value;
  }
  return std::nullopt;
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
