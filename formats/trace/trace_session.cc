#include "formats/trace/trace_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/base/text.h"
#include "core/base/wire.h"
#include "core/perfetto/fields.h"
#include "formats/ipc/ipc_messages.h"

namespace ringscope {
namespace {

constexpr uint64_t kBytesPerKb = 1024;
constexpr uint64_t kMaxSizeKb = 4'194'300;  // that a buffer can have

struct ServiceLoss {
  uint32_t field;  // of TraceStats
  const char* name;
};
constexpr std::array<ServiceLoss, 4> kServiceLosses = {{
    {proto::TraceStats::kChunksDiscarded, "chunks_discarded"},
    {proto::TraceStats::kPatchesDiscarded, "patches_discarded"},
    {proto::TraceStats::kInvalidPackets, "invalid_packets"},
    {proto::TraceStats::kFlushesFailed, "flushes_failed"},
}};

/// Counters of a buffer that report a loss, or (the first) only that data is no longer there.
constexpr std::array<std::pair<const char*, uint64_t BufferStats::*>, 5> kBufferLosses = {{
    {"chunks_overwritten", &BufferStats::chunks_overwritten},
    {"chunks_discarded", &BufferStats::chunks_discarded},
    {"trace_writer_packet_loss", &BufferStats::trace_writer_packet_loss},
    {"patches_failed", &BufferStats::patches_failed},
    {"abi_violations", &BufferStats::abi_violations},
}};

void AddTo(std::string& list, const char* name, uint64_t count) {
  if (count == 0) return;
  list += fmt::format("{}{} {}", list.empty() ? "" : ", ", name, count);
}

void SetBuffer(std::unordered_map<uint32_t, uint32_t>& buffers, uint32_t sequence,
               uint32_t buffer) {
  constexpr size_t kMaxSequences = 1'000'000;  // more are no trace's
  if (buffers.size() < kMaxSequences || buffers.contains(sequence)) buffers[sequence] = buffer;
}

}  // namespace

void TraceSession::AddConfig(Bytes config) {
  ipc::TraceConfig parsed;
  // Fields before malformed bytes still count.
  static_cast<void>(DecodeMessage(config, parsed));
  has_config_ = true;
  configured_.clear();
  only_target_.reset();
  for (const ipc::BufferConfig& buffer : parsed.buffers) {
    if (configured_.size() == kMaxBuffers) break;
    Buffer& added = configured_.emplace_back();
    added.knows_size = buffer.size_kb > 0 && buffer.size_kb <= kMaxSizeKb;
    if (added.knows_size) added.size = buffer.size_kb * kBytesPerKb;
    added.policy = ipc::FillPolicyOf(buffer);
    added.engine = ipc::EngineOf(buffer);
  }
  for (const ipc::ConfiguredDataSource& source : parsed.data_sources) {
    const uint32_t target = ipc::TargetOf(parsed, source.config);
    if (only_target_ && *only_target_ != target) {
      only_target_.reset();
      break;
    }
    only_target_ = target;
  }
}

void TraceSession::AddStats(Bytes stats) {
  stats_ = ReadTraceStats(stats);
  service_losses_.clear();
  wire::FieldReader fields(stats);
  while (const auto field = fields.Next()) {
    if (field->type == wire::Type::kBytes && field->number == proto::TraceStats::kWriterStats) {
      AddWriterStats(field->bytes);
    } else if (field->type == wire::Type::kVarint && field->value > 0) {
      for (const ServiceLoss& loss : kServiceLosses)
        if (loss.field == field->number) service_losses_.emplace_back(loss.name, field->value);
    }
  }
}

void TraceSession::AddWriterStats(Bytes message) {
  uint64_t sequence = 0, buffer = 0;
  wire::FieldReader fields(message);
  while (const auto field = fields.Next()) {
    if (field->type != wire::Type::kVarint) continue;
    if (field->number == proto::WriterStats::kSequenceId) sequence = field->value;
    if (field->number == proto::WriterStats::kBuffer) buffer = field->value;
  }
  if (buffer < kMaxBuffers)
    SetBuffer(by_stats_, static_cast<uint32_t>(sequence), static_cast<uint32_t>(buffer));
}

void TraceSession::AddListing(Bytes listing) {
  uint32_t buffer = 0;
  wire::FieldReader buffers(listing);
  while (const auto listed = buffers.Next()) {
    if (listed->number != proto::TraceProvenance::kBuffers || listed->type != wire::Type::kBytes)
      continue;
    if (buffer == kMaxBuffers) return;
    wire::FieldReader sequences(listed->bytes);
    while (const auto sequence = sequences.Next()) {
      if (sequence->number != proto::ProvenanceBuffer::kSequences ||
          sequence->type != wire::Type::kBytes)
        continue;
      wire::FieldReader fields(sequence->bytes);
      while (const auto field = fields.Next())
        if (field->IsVarint(proto::ProvenanceSequence::kId))
          SetBuffer(by_listing_, static_cast<uint32_t>(field->value), buffer);
    }
    ++buffer;
  }
}

std::vector<TraceSession::Buffer> TraceSession::Buffers() const {
  std::vector<Buffer> buffers = configured_;
  size_t count = std::max<size_t>({1, configured_.size(), stats_.size()});
  for (const auto* named : {&by_stats_, &by_listing_})
    for (const auto& [sequence, buffer] : *named) count = std::max<size_t>(count, buffer + 1);
  buffers.resize(count);
  for (size_t i = 0; i < count; ++i) {
    if (buffers[i].knows_size || i >= stats_.size()) continue;
    const uint64_t size = stats_[i].buffer_size;
    if (size == 0 || size > kMaxSizeKb * kBytesPerKb) continue;
    buffers[i].size = (size + kBytesPerKb - 1) / kBytesPerKb * kBytesPerKb;
    buffers[i].knows_size = true;
  }
  return buffers;
}

std::optional<uint32_t> TraceSession::BufferOf(uint32_t sequence_id) const {
  for (const auto* named : {&by_stats_, &by_listing_})
    if (const auto found = named->find(sequence_id); found != named->end()) return found->second;
  if (only_target_ && *only_target_ < std::max<size_t>(1, configured_.size())) return only_target_;
  return configured_.size() == 1 ? std::optional<uint32_t>(0) : std::nullopt;
}

std::vector<TraceSession::Loss> TraceSession::Losses() const {
  std::vector<Loss> losses;
  for (size_t i = 0; i < stats_.size(); ++i) {
    std::string counts;
    for (const auto& [name, value] : kBufferLosses) AddTo(counts, name, stats_[i].*value);
    if (counts.empty()) continue;
    Loss& loss = losses.emplace_back();
    loss.what = fmt::format("the statistics of the trace's buffer {}: {}", i, counts);
    if (stats_[i].bytes_overwritten > 0) loss.bytes = stats_[i].bytes_overwritten;
  }
  std::string counts;
  for (const auto& [name, count] : service_losses_) AddTo(counts, name, count);
  if (!counts.empty()) losses.push_back({"the trace's statistics of the service: " + counts, {}});
  return losses;
}

std::string TraceSession::LostInBuffers() const {
  std::string text;
  for (size_t i = 0; i < stats_.size(); ++i) {
    const BufferStats& stats = stats_[i];
    if (stats.chunks_overwritten == 0 && stats.chunks_discarded == 0) continue;
    text += fmt::format("{}buffer {} ", text.empty() ? "by the trace's statistics " : "; ", i);
    if (stats.chunks_overwritten > 0)
      text += fmt::format("overwrote {} of {} written ({}) unread",
                          HumanSize(stats.bytes_overwritten), HumanSize(stats.bytes_written),
                          ShareText(stats.bytes_overwritten, stats.bytes_written));
    if (stats.chunks_discarded > 0)
      text += fmt::format("{}discarded {} of {}", stats.chunks_overwritten > 0 ? " and " : "",
                          WithCommas(stats.chunks_discarded),
                          Count(stats.chunks_written + stats.chunks_discarded, "chunk"));
  }
  return text;
}

}  // namespace ringscope
