#include "core/compare/stored_ops.h"

#include <span>
#include <utility>

#include "core/base/wire.h"
#include "core/log/held_patches.h"
#include "core/perfetto/commit_request.h"

namespace ringscope {
namespace {

std::string RequestOf(const Op& op) {
  const auto* commit = std::get_if<Commit>(&op.body);
  return commit == nullptr ? std::string() : std::string(wire::AsText(commit->request));
}

}  // namespace

StoredOp::StoredOp(const Op& op) : StoredOp(op, RequestOf(op)) {}

StoredOp::StoredOp(const Op& like, std::string request)
    : request_(std::make_shared<const std::string>(std::move(request))), op_(like) {
  if (auto* commit = std::get_if<Commit>(&op_.body)) commit->request = wire::AsBytes(*request_);
}

std::vector<StoredOp> SplitCommits(const std::vector<StoredOp>& ops) {
  std::vector<StoredOp> split;
  HeldPatches held;
  for (const StoredOp& stored : ops) {
    Op like = stored.op();
    auto* commit = std::get_if<Commit>(&like.body);
    CommitRequestParser parser;
    if (commit == nullptr || !parser.Parse(commit->request)) {
      if (const auto* gone = std::get_if<ProducerDisconnected>(&like.body))
        held.Drop(gone->producer);
      split.push_back(stored);
      continue;
    }
    const auto add = [&](auto add_part) {
      std::string request;
      CommitRequestBuilder builder(request);
      add_part(builder);
      split.emplace_back(like, std::move(request));
    };
    // A request's patches take effect after all its chunks.
    const bool last = commit->last;
    held.DropUnfinished(*commit);
    if (!last) held.Hold(*commit, parser.patches());
    commit->number = 0;
    commit->part = 0;
    commit->last = true;
    for (const ChunkToMove& chunk : parser.chunks())
      add([&](CommitRequestBuilder& builder) { builder.AddChunk(chunk); });
    if (!last) continue;
    for (const std::span<const ChunkToPatch> patches :
         {held.Take(commit->producer), parser.patches()})
      for (const ChunkToPatch& patch : patches)
        add([&](CommitRequestBuilder& builder) { builder.AddPatch(patch); });
  }
  return split;
}

}  // namespace ringscope
