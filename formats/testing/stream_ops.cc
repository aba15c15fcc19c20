#include "formats/testing/stream_ops.h"

#include <algorithm>

#include "core/base/wire.h"
#include "core/perfetto/commit_request.h"
#include "formats/inputs/open_log.h"
#include "formats/io/byte_stream.h"
#include "formats/io/log_source.h"
#include "formats/ops/ops_jsonl.h"

namespace ringscope::testing {
namespace {

using Kind = RandomStream::Kind;

constexpr BufferId kBuffer{0};

RecordedStep Keep(const RandomStream::Step& step) {
  RecordedStep kept;
  kept.step = step;
  kept.payload = wire::AsText(step.commit.payload);
  for (const Patch& patch : step.patches.patches)
    kept.patches.emplace_back(patch.offset, wire::AsText(Bytes(patch.data, kPatchSize)));
  return kept;
}

std::string RequestOf(const RandomStream::Step& step) {
  std::string bytes;
  CommitRequestBuilder builder(bytes);
  if (step.kind == Kind::kCommit) {
    const ChunkCommit& commit = step.commit;
    builder.AddChunk(kBuffer,
                     {.chunk = commit.chunk,
                      .writer = commit.sequence.writer,
                      .fragments = commit.fragments,
                      .flags = commit.flags},
                     commit.payload, commit.complete);
    return bytes;
  }
  ChunkToPatch patches{.target_buffer = Raw(kBuffer),
                       .writer = Raw(step.patches.sequence.writer),
                       .chunk = Raw(step.patches.chunk),
                       .patches = {},
                       .more = step.patches.more};
  for (const Patch& patch : step.patches.patches)
    patches.patches.push_back({.offset = patch.offset, .data = Bytes(patch.data, kPatchSize)});
  builder.AddPatch(patches);
  return bytes;
}

std::string LineOf(const RandomStream::Step& step) {
  if (step.kind == Kind::kClone) return FormatOp({.time_ns = {}, .body = CloneRead{kBuffer}});
  if (step.kind == Kind::kRead) {
    ReadPass read{.buffer = kBuffer, .max_packets = {}, .max_bytes = {}};
    if (step.max_packets != UINT64_MAX) read.max_packets = step.max_packets;
    return FormatOp({.time_ns = {}, .body = read});
  }
  const std::string request = RequestOf(step);
  const bool is_commit = step.kind == Kind::kCommit;
  Commit commit;
  commit.producer = is_commit ? step.commit.sequence.producer : step.patches.sequence.producer;
  if (is_commit) {
    commit.uid = step.commit.identity.uid;
    commit.pid = step.commit.identity.pid;
  }
  commit.request = wire::AsBytes(request);
  return FormatOp({.time_ns = {}, .body = commit});
}

/// Adds the steps of a commit record.
void AddSteps(const Commit& commit, RecordedStream& stream) {
  CommitRequestParser parser;
  parser.Parse(commit.request);
  for (const ChunkToMove& chunk : parser.chunks()) {
    const auto header = chunk.data ? ParseChunkHeader(*chunk.data) : std::nullopt;
    if (!header) continue;
    RandomStream::Step step;
    step.commit = {.sequence = {commit.producer, header->writer},
                   .identity = {commit.uid.value_or(0), commit.pid.value_or(0)},
                   .chunk = header->chunk,
                   .fragments = header->fragments,
                   .flags = header->flags,
                   .complete = !chunk.incomplete,
                   .payload = chunk.data->subspan(kChunkHeaderSize)};
    stream.steps.push_back(Keep(step));
  }
  for (const ChunkToPatch& patch : parser.patches()) {
    std::vector<Patch> patches;
    for (const PatchSpan& span : patch.patches)
      patches.push_back({.offset = span.offset, .data = span.data.data()});
    RandomStream::Step step;
    step.kind = Kind::kPatch;
    step.patches = {
        .sequence = {commit.producer, WriterId{static_cast<uint16_t>(patch.writer.value_or(0))}},
        .chunk = ChunkId{static_cast<uint32_t>(patch.chunk.value_or(0))},
        .patches = patches,
        .more = patch.more};
    stream.steps.push_back(Keep(step));
  }
}

/// What is claimed, without what is wrong in this case.
std::string ClaimOf(const std::string& wrong) { return wrong.substr(0, wrong.rfind(": ")); }

}  // namespace

RecordedStream Record(RandomStream stream, int steps) {
  RecordedStream recorded;
  recorded.traits = stream.traits();
  for (int i = 0; i < steps; ++i) recorded.steps.push_back(Keep(stream.Next()));
  if (recorded.traits.conduct == Conduct::kCorrect) {
    while (const auto step = stream.NextToFinish()) recorded.steps.push_back(Keep(*step));
    recorded.written = stream.written();
  }
  return recorded;
}

std::string CheckRecorded(const RecordedStream& stream) {
  EngineAgreement agreement(stream.traits, stream.written.empty() ? nullptr : &stream.written);
  for (const RecordedStep& recorded : stream.steps) {
    std::string wrong = recorded.With([&](const auto& step) { return agreement.Apply(step); });
    if (!wrong.empty()) return wrong;
  }
  return agreement.Apply({.kind = Kind::kRead});
}

RecordedStream CutDown(RecordedStream stream) {
  const std::string wrong = CheckRecorded(stream);
  if (wrong.empty()) return stream;
  for (size_t part = stream.steps.size(); part > 0; part /= 2) {
    for (size_t at = 0; at < stream.steps.size();) {
      RecordedStream less = stream;
      const auto from = less.steps.begin() + static_cast<ptrdiff_t>(at);
      less.steps.erase(from, from + static_cast<ptrdiff_t>(std::min(part, less.steps.size() - at)));
      if (ClaimOf(CheckRecorded(less)) == ClaimOf(wrong))
        stream = std::move(less);
      else
        at += part;
    }
  }
  return stream;
}

Status WriteOps(const RecordedStream& stream, const std::string& path) {
  RS_ASSIGN_OR_RETURN(const auto file, OutputFile::Create(path, kOpsOutput, Replace::kAny));
  BufferSetUp setup;
  setup.id = kBuffer;
  setup.size = stream.traits.size;
  setup.policy = stream.traits.policy;
  RS_RETURN_IF_ERROR(file->Write(FormatOp({.time_ns = {}, .body = setup}) + "\n"));
  for (const RecordedStep& recorded : stream.steps)
    RS_RETURN_IF_ERROR(file->Write(recorded.With(LineOf) + "\n"));
  return file->Commit();
}

Result<RecordedStream> ReadOps(const std::string& path) {
  RecordedStream stream;
  stream.traits.conduct = Conduct::kHostile;
  RS_ASSIGN_OR_RETURN(const auto log, OpenLog(path));
  while (true) {
    RS_ASSIGN_OR_RETURN(const std::optional<Op> op, log->Next());
    if (!op) return stream;
    if (const auto* setup = std::get_if<BufferSetUp>(&op->body)) {
      stream.traits.size = setup->size;
      stream.traits.policy = setup->policy;
    } else if (const auto* commit = std::get_if<Commit>(&op->body)) {
      AddSteps(*commit, stream);
    } else if (const auto* read = std::get_if<ReadPass>(&op->body)) {
      RandomStream::Step step;
      step.kind = Kind::kRead;
      step.max_packets = read->max_packets.value_or(UINT64_MAX);
      stream.steps.push_back(Keep(step));
    } else if (std::holds_alternative<CloneRead>(op->body)) {
      RandomStream::Step step;
      step.kind = Kind::kClone;
      stream.steps.push_back(Keep(step));
    }
  }
}

}  // namespace ringscope::testing
