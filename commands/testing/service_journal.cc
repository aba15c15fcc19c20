#include "commands/testing/service_journal.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <chrono>
#include <optional>
#include <utility>

namespace ringscope::testing {

namespace {

std::string DescribeChunk(uint64_t target, Bytes data, bool complete) {
  const auto header = ParseChunkHeader(data).value_or(ChunkHeader());
  return fmt::format("chunk to {} w{} c{} n{} f{} {} {:016x}", target, Raw(header.writer),
                     Raw(header.chunk), header.fragments, header.flags,
                     complete ? "complete" : "incomplete", XXH3_64bits(data.data(), data.size()));
}

std::string DescribePatch(const ChunkToPatch& patch) {
  std::string text = fmt::format("patch in {} w{} c{} {}", patch.target_buffer.value_or(0),
                                 patch.writer.value_or(0), patch.chunk.value_or(0), patch.more);
  for (const PatchSpan& span : patch.patches)
    text +=
        fmt::format(" {}={:08x}", span.offset, wire::LoadLittleEndian<uint32_t>(span.data.data()));
  return text;
}

/// The effects of a commit's chunks that have bytes, and of its patches.
std::vector<std::string> DescribeCommit(Bytes request) {
  std::vector<std::string> effects;
  CommitRequestParser parser;
  static_cast<void>(parser.Parse(request));
  for (const ChunkToMove& chunk : parser.chunks())
    if (chunk.data)
      effects.push_back(
          DescribeChunk(chunk.target_buffer.value_or(0), *chunk.data, !chunk.incomplete));
  for (const ChunkToPatch& patch : parser.patches()) effects.push_back(DescribePatch(patch));
  return effects;
}

}  // namespace

void ServiceJournal::Note(const std::string& producer, const std::string& effect) {
  const std::lock_guard lock(mutex_);
  effects_.push_back(fmt::format("{}: {}", producer, effect));
}

void ServiceJournal::NoteCommit(const std::string& producer, Bytes chunks,
                                std::optional<uint64_t> flush) {
  for (const std::string& effect : DescribeCommit(chunks)) Note(producer, effect);
  if (flush) Note(producer, fmt::format("acknowledged {}", *flush));
}

void ServiceJournal::NoteEnd(const std::string& producer, GoneProducer gone) {
  Note(producer, "disconnect");
  const std::lock_guard lock(mutex_);
  gone_[producer] = std::move(gone);
  ended_.notify_all();
}

std::vector<std::string> ServiceJournal::effects() const {
  const std::lock_guard lock(mutex_);
  return effects_;
}

std::map<std::string, GoneProducer> ServiceJournal::WaitForEnds(size_t count) {
  std::unique_lock lock(mutex_);
  ended_.wait_for(lock, std::chrono::seconds(60), [&] { return gone_.size() >= count; });
  return gone_;
}

std::vector<std::string> EffectsOf(const std::vector<Op>& log) {
  std::vector<std::string> effects;
  std::map<ProducerId, std::string> names;
  const auto add = [&](const std::string& who, const std::string& effect) {
    effects.push_back(fmt::format("{}: {}", who, effect));
  };
  for (const Op& op : log) {
    if (const auto* producer = std::get_if<ProducerConnected>(&op.body))
      names[producer->producer] = producer->name;
    if (const auto* flush = std::get_if<FlushAcknowledged>(&op.body))
      add(names[flush->producer], fmt::format("acknowledged {}", flush->flush));
    if (const auto* gone = std::get_if<ProducerDisconnected>(&op.body))
      add(names[gone->producer], "disconnect");
    if (const auto* read = std::get_if<ReadPass>(&op.body);
        read != nullptr && read->reason == ReadReason::kFile)
      add("service", "read");
    if (const auto* commit = std::get_if<Commit>(&op.body))
      for (const std::string& effect : DescribeCommit(commit->request))
        add(names[commit->producer], effect);
  }
  return effects;
}

}  // namespace ringscope::testing
