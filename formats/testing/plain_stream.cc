#include "formats/testing/plain_stream.h"

#include <functional>
#include <optional>

#include "core/base/wire.h"
#include "core/log/op.h"
#include "core/perfetto/commit_request.h"

namespace ringscope {
namespace {

using Kind = StreamStep::Kind;

void VisitCommit(const Commit& commit, const std::function<void(const StreamStep&)>& visit) {
  CommitRequestParser parser;
  parser.Parse(commit.request);
  for (const ChunkToMove& chunk : parser.chunks()) {
    const std::optional<ChunkCommit> known = ToChunkCommit(commit.producer, chunk);
    if (!known) continue;
    StreamStep step;
    step.commit = *known;
    step.commit.identity = {commit.uid.value_or(0), commit.pid.value_or(0)};
    visit(step);
  }
  std::vector<Patch> patches;
  for (const ChunkToPatch& patch : parser.patches()) {
    StreamStep step;
    step.kind = Kind::kPatch;
    step.patches = ToChunkPatches(commit.producer, patch, patches);
    visit(step);
  }
}

/// Calls `visit` with the commits, patches, reads and clones of a record.
void VisitSteps(const Op& op, const std::function<void(const StreamStep&)>& visit) {
  if (const auto* commit = std::get_if<Commit>(&op.body)) return VisitCommit(*commit, visit);
  StreamStep step;
  if (const auto* read = std::get_if<ReadPass>(&op.body)) {
    step.kind = Kind::kRead;
    step.max_packets = read->max_packets.value_or(UINT64_MAX);
  } else if (std::holds_alternative<CloneRead>(op.body)) {
    step.kind = Kind::kClone;
  } else {
    return;
  }
  visit(step);
}

}  // namespace

PlainStep::PlainStep(const StreamStep& of) : step(of), payload(wire::AsText(of.commit.payload)) {
  for (const Patch& patch : of.patches.patches)
    patches.emplace_back(patch.offset, wire::AsText(Bytes(patch.data, kPatchSize)));
  step.commit.payload = {};
  step.patches.patches = {};
}

std::vector<StoredOp> ToOps(const PlainStream& stream) {
  std::vector<StoredOp> ops = {SetUpOf(stream.size, stream.policy)};
  for (const auto& step : stream.steps) ops.push_back(step->With(OpOf));
  return ops;
}

void AddOp(const Op& op, PlainStream& stream) {
  if (const auto* setup = std::get_if<BufferSetUp>(&op.body)) {
    stream.size = setup->size;
    stream.policy = setup->policy;
  }
  VisitSteps(op, [&](const StreamStep& step) { stream.Add(step); });
}

}  // namespace ringscope
