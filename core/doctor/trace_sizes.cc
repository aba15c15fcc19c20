#include "core/doctor/trace_sizes.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string>
#include <utility>

#include "core/base/text.h"
#include "core/doctor/examiner.h"
#include "core/perfetto/page.h"

namespace ringscope {
namespace {

std::string SizePath(uint32_t index) { return fmt::format("buffers[{}].size_kb", index); }

uint64_t Scaled(uint64_t value, uint64_t part, uint64_t whole) {
  return static_cast<uint64_t>(static_cast<double>(value) * static_cast<double>(part) /
                               static_cast<double>(whole));
}

std::optional<uint64_t> SizeOf(const ConfigChange& change) {
  uint64_t kb = 0;
  const char* const end = change.value.data() + change.value.size();
  if (std::from_chars(change.value.data(), end, kb).ptr != end) return std::nullopt;
  return kb * kKiB;
}

class Estimator {
 public:
  Estimator(const TraceFacts& facts, const Diagnosis& diagnosis, const TraceSizesWish& wish)
      : examiner_(facts), wish_(wish) {
    sizes_.changes = ChangesOf(diagnosis);
  }

  Result<TraceSizes> Run() {
    const size_t count = std::max(examiner_.facts.buffers.size(), examiner_.config.buffers.size());
    for (size_t i = 0; i < count; ++i) AddBuffer(i);
    if (wish_.memory) RS_RETURN_IF_ERROR(ShareMemory(*wish_.memory));
    for (EstimatedBuffer& buffer : sizes_.buffers)
      if (buffer.reach_ns && buffer.size > 0)
        buffer.planned_reach_ns = Scaled(*buffer.reach_ns, buffer.planned, buffer.size);
    return std::move(sizes_);
  }

 private:
  void AddBuffer(size_t index) {
    EstimatedBuffer buffer;
    buffer.index = static_cast<uint32_t>(index);
    if (index < examiner_.config.buffers.size()) {
      buffer.policy = examiner_.config.buffers[index].policy;
      buffer.size = examiner_.config.buffers[index].size_kb * kKiB;
    }
    if (index < examiner_.facts.buffers.size() && examiner_.facts.buffers[index].has_stats) {
      const TraceBuffer& counted = examiner_.facts.buffers[index];
      const BufferStats& stats = counted.stats;
      buffer.size = stats.buffer_size;
      // The size of a discarded chunk is not counted: it is taken for that of the others.
      const uint64_t discarded =
          stats.chunks_written == 0
              ? 0
              : Scaled(stats.bytes_written, stats.chunks_discarded, stats.chunks_written);
      buffer.written = stats.bytes_written + discarded;
      buffer.lost = stats.bytes_overwritten + discarded;
      if (buffer.policy == FillPolicy::kRingBuffer) buffer.reach_ns = ReachNs(counted, examiner_);
    }
    buffer.planned = PlannedFor(buffer);
    sizes_.buffers.push_back(buffer);
  }

  /// The size that keeps what is wanted, or else that of the diagnosis.
  uint64_t PlannedFor(const EstimatedBuffer& buffer) {
    const std::string path = SizePath(buffer.index);
    if (wish_.keep_ns && !examiner_.config.write_into_file && buffer.reach_ns.value_or(0) > 0) {
      // A quarter more, as no rate stays the mean.
      const uint64_t wanted =
          PagesUp(Scaled(buffer.size, *wish_.keep_ns, *buffer.reach_ns) / 4 * 5);
      const uint64_t planned = std::max(wanted, buffer.size);
      SetSize(path, planned,
              fmt::format("reaches back {} at the session's mean rate, and a quarter more{}",
                          HumanDuration(*wish_.keep_ns), Extrapolated()),
              buffer.size);
      return planned;
    }
    const auto change = std::ranges::find(sizes_.changes, path, &ConfigChange::path);
    return change == sizes_.changes.end() ? buffer.size : SizeOf(*change).value_or(buffer.size);
  }

  /// Said of a wish that is longer than what the trace shows.
  std::string Extrapolated() const {
    const std::optional<TimeSpan> session = examiner_.session();
    const uint64_t lasted =
        session ? static_cast<uint64_t>(session->last_ns - session->first_ns) : 0;
    if (!wish_.keep_ns || lasted == 0 || *wish_.keep_ns <= lasted) return "";
    return fmt::format("; extrapolated: the session lasted {}", HumanDuration(lasted));
  }

  void SetSize(const std::string& path, uint64_t size, std::string reason, uint64_t now) {
    std::erase_if(sizes_.changes, [&](const ConfigChange& one) { return one.path == path; });
    if (size / kKiB != now / kKiB)
      sizes_.changes.push_back({path, std::to_string(size / kKiB), std::move(reason), true});
  }

  /// Where the memory does not suffice, each buffer gets as large a part of what it should have.
  Status ShareMemory(uint64_t memory) {
    const uint64_t least = sizes_.buffers.size() * kPageBytes;
    if (memory < least)
      return Fail(ErrorCode::kUsage,
                  fmt::format("--memory {} cannot be met: the session's buffers take {} at least",
                              HumanSize(memory), HumanSize(least)),
                  {}, fmt::format("allow that: --memory {}k", least / kKiB));
    const uint64_t wanted = sizes_.TotalPlanned();
    if (wanted <= memory) return {};
    for (EstimatedBuffer& buffer : sizes_.buffers) {
      // A page each, and of the rest a part.
      const uint64_t more = buffer.planned > kPageBytes ? buffer.planned - kPageBytes : 0;
      buffer.planned = PagesDown(
          kPageBytes + Scaled(more, memory - least, std::max<uint64_t>(wanted - least, 1)));
      SetSize(SizePath(buffer.index), buffer.planned,
              fmt::format("its part of the {} that all buffers may take", HumanSize(memory)),
              buffer.size);
    }
    return {};
  }

  const Examiner examiner_;
  const TraceSizesWish& wish_;
  TraceSizes sizes_;
};

}  // namespace

uint64_t TraceSizes::TotalSize() const {
  uint64_t sum = 0;
  for (const EstimatedBuffer& buffer : buffers) sum += buffer.size;
  return sum;
}

uint64_t TraceSizes::TotalPlanned() const {
  uint64_t sum = 0;
  for (const EstimatedBuffer& buffer : buffers) sum += buffer.planned;
  return sum;
}

bool LostInBuffers(const TraceFacts& facts) {
  bool any_stats = false;
  for (const TraceBuffer& buffer : facts.buffers) {
    any_stats |= buffer.has_stats;
    if (buffer.stats.chunks_overwritten > 0 || buffer.stats.chunks_discarded > 0) return true;
  }
  return !any_stats && std::ranges::any_of(facts.sequences, [](const TraceSequence& sequence) {
    return sequence.losses.sequence_packet_loss > 0 || sequence.lost_beginning();
  });
}

Result<TraceSizes> EstimateSizes(const TraceFacts& facts, const Diagnosis& diagnosis,
                                 const TraceSizesWish& wish) {
  return Estimator(facts, diagnosis, wish).Run();
}

}  // namespace ringscope
