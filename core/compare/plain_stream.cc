#include "core/compare/plain_stream.h"

#include "core/base/wire.h"
#include "core/log/op.h"
#include "core/perfetto/commit_request.h"

namespace ringscope {
namespace {

using StepKind = StreamStep::Kind;

StoredOp CommitOp(const StreamStep& step) {
  std::string request;
  CommitRequestBuilder builder(request);
  Commit commit;
  if (step.kind == StepKind::kCommit) {
    const ChunkCommit& chunk = step.commit;
    builder.AddChunk(kPlainBuffer,
                     {.chunk = chunk.chunk,
                      .writer = chunk.sequence.writer,
                      .fragments = chunk.fragments,
                      .flags = chunk.flags},
                     chunk.payload, chunk.complete);
    commit.producer = chunk.sequence.producer;
    commit.uid = chunk.identity.uid;
    commit.pid = chunk.identity.pid;
  } else {
    ChunkToPatch patches{.target_buffer = Raw(kPlainBuffer),
                         .writer = Raw(step.patches.sequence.writer),
                         .chunk = Raw(step.patches.chunk),
                         .patches = {},
                         .more = step.patches.more};
    for (const Patch& patch : step.patches.patches)
      patches.patches.push_back({.offset = patch.offset, .data = Bytes(patch.data, kPatchSize)});
    builder.AddPatch(patches);
    commit.producer = step.patches.sequence.producer;
  }
  return StoredOp({.time_ns = {}, .body = commit}, std::move(request));
}

StoredOp OpOf(const StreamStep& step) {
  if (step.kind == StepKind::kClone)
    return StoredOp({.time_ns = {}, .body = CloneRead{kPlainBuffer}});
  if (step.kind != StepKind::kRead) return CommitOp(step);
  ReadPass read{.buffer = kPlainBuffer, .max_packets = {}, .max_bytes = {}};
  if (step.max_packets != UINT64_MAX) read.max_packets = step.max_packets;
  return StoredOp({.time_ns = {}, .body = read});
}

void AddCommit(const Commit& commit, PlainStream& stream) {
  CommitRequestParser parser;
  parser.Parse(commit.request);
  for (const ChunkToMove& chunk : parser.chunks()) {
    std::optional<ChunkCommit> known = ToChunkCommit(commit.producer, chunk);
    if (!known) continue;
    known->identity = {commit.uid.value_or(0), commit.pid.value_or(0)};
    StreamStep step;
    step.commit = *known;
    stream.Add(step);
  }
  std::vector<Patch> patches;
  for (const ChunkToPatch& patch : parser.patches()) {
    StreamStep step;
    step.kind = StepKind::kPatch;
    step.patches = ToChunkPatches(commit.producer, patch, patches);
    stream.Add(step);
  }
}

}  // namespace

PlainStep::PlainStep(const StreamStep& of) : step(of), payload(wire::AsText(of.commit.payload)) {
  for (const Patch& patch : of.patches.patches)
    patches.emplace_back(patch.offset, wire::AsText(Bytes(patch.data, kPatchSize)));
  step.commit.payload = {};
  step.patches.patches = {};
}

std::vector<StoredOp> ToOps(const PlainStream& stream) {
  BufferSetUp setup;
  setup.id = kPlainBuffer;
  setup.size = stream.size;
  setup.policy = stream.policy;
  std::vector<StoredOp> ops = {StoredOp({.time_ns = {}, .body = setup})};
  for (const auto& step : stream.steps) ops.push_back(step->With(OpOf));
  return ops;
}

void AddOp(const Op& op, PlainStream& stream) {
  if (const auto* setup = std::get_if<BufferSetUp>(&op.body)) {
    stream.size = setup->size;
    stream.policy = setup->policy;
  } else if (const auto* commit = std::get_if<Commit>(&op.body)) {
    AddCommit(*commit, stream);
  } else if (const auto* read = std::get_if<ReadPass>(&op.body)) {
    StreamStep step;
    step.kind = StepKind::kRead;
    step.max_packets = read->max_packets.value_or(UINT64_MAX);
    stream.Add(step);
  } else if (std::holds_alternative<CloneRead>(op.body)) {
    StreamStep step;
    step.kind = StepKind::kClone;
    stream.Add(step);
  }
}

}  // namespace ringscope
