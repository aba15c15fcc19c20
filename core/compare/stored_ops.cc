#include "core/compare/stored_ops.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "core/base/wire.h"
#include "core/log/held_patches.h"
#include "core/perfetto/commit_request.h"
#include "core/perfetto/fields.h"
#include "core/perfetto/fragment.h"
#include "core/perfetto/page.h"

namespace ringscope {
namespace {

std::string RequestOf(const Op& op) {
  const auto* commit = std::get_if<Commit>(&op.body);
  return commit == nullptr ? std::string() : std::string(wire::AsText(commit->request));
}

/// A chunk taken apart.
struct ParsedChunk {
  ChunkHeader header;
  std::vector<std::string> fragments;  // as the header counts them
  std::string rest;                    // what follows them
};

std::optional<ParsedChunk> TakeApart(const ChunkToMove& chunk) {
  const auto header = chunk.header();
  if (!header) return std::nullopt;
  ParsedChunk parsed{.header = *header, .fragments = {}, .rest = {}};
  const Bytes payload = chunk.data->subspan(kChunkHeaderSize);
  uint32_t end = 0;
  VisitFragments(payload, header->fragments, [&](const Fragment& fragment) {
    parsed.fragments.emplace_back(wire::AsText(payload.subspan(fragment.body, fragment.size())));
    end = fragment.end;
  });
  parsed.rest = wire::AsText(payload.subspan(end));
  return parsed;
}

std::string PutTogether(const ChunkToMove& like, const ParsedChunk& parsed) {
  std::string data;
  AppendChunkHeader(data, parsed.header);
  for (const std::string& fragment : parsed.fragments) {
    wire::AppendVarint(data, fragment.size());
    data += fragment;
  }
  data += parsed.rest;
  ChunkToMove chunk = like;
  chunk.data = wire::AsBytes(data);
  std::string request;
  CommitRequestBuilder(request).AddChunk(chunk);
  return request;
}

/// Bytes without meaning, about 1/divisor as many as the fragment has, and never fewer than one
/// field takes. Consecutive fillers are a valid packet, too.
std::string Filler(const std::string& fragment, size_t divisor) {
  constexpr size_t kLeast = 3;  // of a tag of two bytes and a size
  if (fragment.size() < kLeast) return fragment;
  const size_t size = std::max(fragment.size() / divisor, kLeast);
  std::string filler;
  wire::AppendTag(filler, proto::TracePacket::kForTesting, wire::Type::kBytes);
  size_t content = size - filler.size() - 1;
  content -= wire::VarintSize(content) - 1;
  wire::AppendVarint(filler, content);
  filler.append(content, 'x');
  return filler;
}

/// Collects variants that contain less than what they come from: they are smaller, or as large and
/// all that is changed is filled.
class Variants {
 public:
  Variants(const Op& op, const ChunkToMove& chunk) : op_(op), chunk_(chunk) {}

  void Add(const ParsedChunk& parsed) {
    std::string request = PutTogether(chunk_, parsed);
    const std::string_view before = wire::AsText(std::get<Commit>(op_.body).request);
    if (request.size() > before.size() || request == before) return;
    variants_.emplace_back(op_, std::move(request));
  }
  std::vector<StoredOp> Take() {
    const auto size = [](const StoredOp& op) {
      return std::get<Commit>(op.op().body).request.size();
    };
    std::stable_sort(variants_.begin(), variants_.end(),
                     [&](const StoredOp& x, const StoredOp& y) { return size(x) < size(y); });
    return std::move(variants_);
  }

 private:
  const Op& op_;
  const ChunkToMove& chunk_;
  std::vector<StoredOp> variants_;
};

std::vector<StoredOp> SmallerCommits(const Op& op) {
  CommitRequestParser parser;
  parser.Parse(std::get<Commit>(op.body).request);
  if (parser.chunks().size() != 1 || !parser.patches().empty()) return {};
  const ChunkToMove& chunk = parser.chunks().front();
  const std::optional<ParsedChunk> parsed = TakeApart(chunk);
  if (!parsed) return {};

  Variants variants(op, chunk);
  ParsedChunk changed = *parsed;
  changed.rest.clear();
  variants.Add(changed);
  for (const size_t divisor : {size_t{1}, size_t{2}, SIZE_MAX}) {
    changed = *parsed;  // all fragments at once
    for (std::string& fragment : changed.fragments) fragment = Filler(fragment, divisor);
    variants.Add(changed);
    for (size_t i = 0; i < parsed->fragments.size(); ++i) {
      changed = *parsed;
      changed.fragments[i] = Filler(changed.fragments[i], divisor);
      variants.Add(changed);
    }
  }
  for (size_t i = 0; i < parsed->fragments.size(); ++i) {
    changed = *parsed;
    changed.fragments.erase(changed.fragments.begin() + static_cast<std::ptrdiff_t>(i));
    --changed.header.fragments;
    variants.Add(changed);
  }
  return variants.Take();
}

std::vector<StoredOp> SmallerBuffers(const Op& op) {
  std::vector<StoredOp> variants;
  const uint64_t size = std::get<BufferSetUp>(op.body).size;
  for (uint64_t smaller = kPageBytes; smaller < size; smaller *= 2) {
    Op variant = op;
    std::get<BufferSetUp>(variant.body).size = smaller;
    variants.emplace_back(variant);
  }
  return variants;
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

std::vector<StoredOp> SmallerVariants(const StoredOp& op) {
  if (std::holds_alternative<Commit>(op.op().body)) return SmallerCommits(op.op());
  if (std::holds_alternative<BufferSetUp>(op.op().body)) return SmallerBuffers(op.op());
  return {};
}

}  // namespace ringscope
