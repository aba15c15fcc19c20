#include "core/compare/stored_ops.h"

#include <string>
#include <utility>

#include "core/base/wire.h"
#include "core/perfetto/commit_request.h"

namespace ringscope {

StoredOp SetUpOf(uint64_t size, FillPolicy policy) {
  BufferSetUp setup;
  setup.id = kStreamBuffer;
  setup.size = size;
  setup.policy = policy;
  return StoredOp({.time_ns = {}, .body = setup});
}

StoredOp OpOf(const StreamStep& step) {
  if (step.kind == StreamStep::Kind::kClone)
    return StoredOp({.time_ns = {}, .body = CloneRead{kStreamBuffer}});
  if (step.kind == StreamStep::Kind::kRead) {
    ReadPass read{.buffer = kStreamBuffer, .max_packets = {}, .max_bytes = {}};
    if (step.max_packets != UINT64_MAX) read.max_packets = step.max_packets;
    return StoredOp({.time_ns = {}, .body = read});
  }
  std::string request;
  CommitRequestBuilder builder(request);
  Commit commit;
  if (step.kind == StreamStep::Kind::kCommit) {
    const ChunkCommit& chunk = step.commit;
    builder.AddChunk(kStreamBuffer,
                     {.chunk = chunk.chunk,
                      .writer = chunk.sequence.writer,
                      .fragments = chunk.fragments,
                      .flags = chunk.flags},
                     chunk.payload, chunk.complete);
    commit.producer = chunk.sequence.producer;
    commit.uid = chunk.identity.uid;
    commit.pid = chunk.identity.pid;
  } else {
    ChunkToPatch patches{.target_buffer = Raw(kStreamBuffer),
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

}  // namespace ringscope
