#include "core/doctor/trace_sizes.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "core/base/text.h"
#include "core/doctor/examiner.h"
#include "core/perfetto/page.h"

namespace ringscope {
namespace {

uint64_t Scaled(uint64_t value, uint64_t part, uint64_t whole) {
  return static_cast<uint64_t>(static_cast<double>(value) * static_cast<double>(part) /
                               static_cast<double>(whole));
}

EstimatedBuffer CountedBuffer(const Examiner& examiner, size_t index) {
  EstimatedBuffer buffer{.index = static_cast<uint32_t>(index)};
  if (index < examiner.config.buffers.size()) {
    buffer.policy = examiner.config.buffers[index].policy;
    buffer.size = examiner.config.buffers[index].size_kb * kKiB;
  }
  if (index < examiner.facts.buffers.size() && examiner.facts.buffers[index].has_stats) {
    const TraceBuffer& counted = examiner.facts.buffers[index];
    const BufferStats& stats = counted.stats;
    // The size of a discarded chunk is not counted: it is taken for that of the others.
    const uint64_t discarded =
        stats.chunks_written == 0
            ? 0
            : Scaled(stats.bytes_written, stats.chunks_discarded, stats.chunks_written);
    buffer.size = stats.buffer_size;
    buffer.written = stats.bytes_written + discarded;
    buffer.lost = stats.bytes_overwritten + discarded;
    if (buffer.policy == FillPolicy::kRingBuffer) buffer.reach_ns = ReachNs(counted, examiner);
  }
  return buffer;
}

std::string SizePath(const EstimatedBuffer& buffer) {
  return fmt::format("buffers[{}].size_kb", buffer.index);
}

/// Plans a size that is not the diagnosis's.
void SetPlanned(TraceSizes& sizes, EstimatedBuffer& buffer, uint64_t planned, std::string reason) {
  buffer.planned = planned;
  const std::string path = SizePath(buffer);
  std::erase_if(sizes.changes, [&](const ConfigChange& one) { return one.path == path; });
  if (planned / kKiB != buffer.size / kKiB)
    sizes.changes.push_back({path, std::to_string(planned / kKiB), std::move(reason), true});
}

/// Plans the size that keeps what is wanted, or else that of the diagnosis.
void Plan(const Examiner& examiner, std::optional<uint64_t> keep_ns, TraceSizes& sizes,
          EstimatedBuffer& buffer) {
  if (keep_ns && !examiner.config.write_into_file && buffer.reach_ns.value_or(0) > 0) {
    const uint64_t lasted =
        examiner.session() ? static_cast<uint64_t>(examiner.session()->length_ns()) : 0;
    std::string reason = fmt::format(
        "reaches back {} at the session's mean rate, and a quarter more", HumanDuration(*keep_ns));
    if (lasted > 0 && *keep_ns > lasted)
      reason += fmt::format("; extrapolated: the session lasted {}", HumanDuration(lasted));
    // A quarter more, as no rate stays the mean.
    const uint64_t wanted = PagesUp(Scaled(buffer.size, *keep_ns, *buffer.reach_ns) / 4 * 5);
    return SetPlanned(sizes, buffer, std::max(wanted, buffer.size), std::move(reason));
  }
  const auto change = std::ranges::find(sizes.changes, SizePath(buffer), &ConfigChange::path);
  buffer.planned = change == sizes.changes.end() ? buffer.size : std::stoull(change->value) * kKiB;
}

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

TraceSizes EstimateSizes(const TraceFacts& facts, const Diagnosis& diagnosis,
                         std::optional<uint64_t> keep_ns) {
  const Examiner examiner(facts);
  TraceSizes sizes{.buffers = {}, .changes = ChangesOf(diagnosis)};
  const size_t count = std::max(facts.buffers.size(), examiner.config.buffers.size());
  for (size_t i = 0; i < count; ++i)
    Plan(examiner, keep_ns, sizes, sizes.buffers.emplace_back(CountedBuffer(examiner, i)));
  for (EstimatedBuffer& buffer : sizes.buffers)
    if (buffer.reach_ns && buffer.size > 0)
      buffer.planned_reach_ns = Scaled(*buffer.reach_ns, buffer.planned, buffer.size);
  return sizes;
}

}  // namespace ringscope
