// Losses that profilers report in their packets: linux.perf, heapprofd, Java heap dumps.

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "core/base/text.h"
#include "core/findings/examiner.h"

namespace ringscope {
namespace {

using Stat = ContentStat;

/// The sum of a counter over its indexes, and the indexes.
struct IndexSum {
  uint64_t sum = 0;
  std::vector<std::string> indexes;

  std::string Where(const char* noun) const {
    constexpr size_t kMost = 8;
    const std::vector<std::string> first(
        indexes.begin(),
        indexes.begin() + static_cast<std::ptrdiff_t>(std::min(indexes.size(), kMost)));
    return fmt::format("{} {}{}", noun, Joined(first), indexes.size() > kMost ? ", ..." : "");
  }
};
IndexSum SumOf(const MachineFacts& machine, Stat stat) {
  IndexSum sum;
  for (const auto& [key, value] : machine.content.indexed()) {
    if (key.first != stat || value == 0) continue;
    sum.sum += value;
    sum.indexes.push_back(std::to_string(key.second));
  }
  return sum;
}

/// Adds twice the value of a field of a data source's config, if it has one.
void AddTwice(const Examiner& examiner, Finding& finding, std::string_view source, const char* path,
              uint64_t ConfiguredSource::*value, const char* reason) {
  const auto& sources = examiner.config.sources;
  const auto found = std::ranges::find(sources, source, &ConfiguredSource::name);
  if (found == sources.end() || (*found).*value == 0) return;
  finding.changes.push_back(
      {fmt::format("data_sources[{}].config.{}", found - sources.begin(), path),
       std::to_string((*found).*value * 2), reason, true});
}

void ExaminePerf(Examiner& examiner, const MachineFacts& machine) {
  const auto& [whole, unread, unwound, queued] = machine.profilers.perf_samples;
  const auto add_lost = [&](Sentence what, std::string where, const char* proof, uint64_t weight) {
    return &examiner.Add("perf.lost", std::move(what),
                         {.where = std::move(where), .proof = proof, .weight = weight});
  };
  if (const IndexSum lost = SumOf(machine, Stat::kPerfLostRecords); lost.sum > 0)
    AddTwice(examiner,
             *add_lost(Say("The kernel had no space for {} of linux.perf.",
                           Number("records_lost", lost.sum, "record")),
                       lost.Where("CPU"), "kernel_records_lost of perf_sample packets.", lost.sum),
             "linux.perf", "perf_event_config.ring_buffer_pages",
             &ConfiguredSource::perf_ring_pages, "holds more samples between two reads");
  if (queued > 0)
    add_lost(Say("{} of linux.perf {} dropped: the queue of the unwinder was full.",
                 Number("samples_dropped", queued, "sample"), Was(queued)),
             "", "sample_skipped_reason of perf_sample packets.", queued)
        ->remedy = "A lower frequency, or fewer processes in the scope of linux.perf.";
  if (const IndexSum stopped = SumOf(machine, Stat::kPerfGuardrail); stopped.sum > 0)
    add_lost(Say("A guardrail stopped linux.perf at {}.",
                 TimeOf(examiner, "stopped_ns", static_cast<int64_t>(stopped.sum))),
             stopped.Where("session"), "source_stop_reason of a perf_sample packet.", 1)
        ->remedy = "A larger max_daemon_memory_kb, a lower frequency, or fewer processes.";
  if (unread + unwound == 0) return;
  examiner.Add(
      "perf.no_callstack",
      Say("{} of {} {} no callstack: {} could not be read, {} not unwound.",
          Number("samples_without_callstack", unread + unwound),
          Number("samples", whole + unread + unwound + queued, "sample"),
          unread + unwound == 1 ? "has" : "have", Number("samples_not_read", unread),
          Number("samples_not_unwound", unwound)),
      {.proof = "sample_skipped_reason of perf_sample packets.", .weight = unread + unwound});
}

/// What heapprofd reports of the profile of a process.
struct HeapReport {
  Stat stat;
  Harm harm;
  const char* text;  // after the number of processes
};
constexpr HeapReport kHeapReports[] = {
    {Stat::kHeapOverran, Harm::kDataLoss,
     "ends early: the buffer between the process and heapprofd was full."},
    {Stat::kHeapCorrupted, Harm::kError, "has a corrupted buffer."},
    {Stat::kHeapRejected, Harm::kError,
     "was refused: another session profiled the process at the same time."},
    {Stat::kHeapGuardrail, Harm::kError, "was ended by a guardrail of heapprofd."},
};

void ExamineHeapProfiles(Examiner& examiner, const MachineFacts& machine) {
  constexpr const char* kProof = "process_dumps of profile_packet.";
  for (const HeapReport& report : kHeapReports) {
    const IndexSum dumps = SumOf(machine, report.stat);
    if (dumps.sum == 0) continue;
    Finding& finding = examiner.Add(
        "heap.profile", Say("The heap profile of {} {}", dumps.Where("pid"), report.text),
        {.harm = report.harm, .proof = kProof, .weight = dumps.sum});
    AddFigures(finding.what.figures, Number("profiles", dumps.sum));
    if (report.stat != Stat::kHeapOverran) continue;
    finding.remedy =
        "A larger shmem_size_bytes, a larger sampling_interval_bytes, or block_client: true, which "
        "stops the process instead.";
    AddTwice(examiner, finding, "android.heapprofd", "heapprofd_config.shmem_size_bytes",
             &ConfiguredSource::heap_shm_bytes, "holds more until heapprofd reads it");
  }
  const IndexSum errors = SumOf(machine, Stat::kHeapClientError);
  if (errors.sum > 0 && !examiner.HasFound("heap.profile"))
    examiner.Add(
        "heap.profile",
        Say("The heap profile of {} ends with an error of the client.", errors.Where("pid")),
        {.harm = Harm::kError, .proof = kProof, .weight = 1});
  if (const uint64_t missing = machine.content[Stat::kHeapMissing]; missing > 0)
    examiner.Add(
        "heap.profile",
        Say("Packets of heap profiles are missing at {}.", Number("places", missing, "place")),
        {.harm = Harm::kError,
         .proof = "index of profile_packet.",
         .remedy = "A larger buffer, or write_into_file.",
         .weight = missing});
}

void ExamineHeapDumps(Examiner& examiner, const MachineFacts& machine) {
  for (const BrokenHeapDump& dump : machine.profilers.heap_dumps) {
    std::vector<std::string> numbers;
    for (const uint64_t number : dump.missing) numbers.push_back(std::to_string(number));
    const bool is_one = numbers.size() == 1;
    const Sentence missing = numbers.empty() ? Sentence()
                                             : Say("packet{} {} {} missing", is_one ? "" : "s",
                                                   Joined(numbers), is_one ? "is" : "are");
    examiner.Add("heap.dump",
                 Say("The Java heap dump of pid {} is not complete: {}{}{}.", dump.pid, missing,
                     !numbers.empty() && dump.is_unfinished ? ", and " : "",
                     dump.is_unfinished ? "its end is missing" : ""),
                 {.harm = dump.is_unfinished ? Harm::kDataLoss : Harm::kError,
                  .proof = "index and continued of heap_graph packets.",
                  .weight = 1 + numbers.size()});
  }
  if (const IndexSum unknown = SumOf(machine, Stat::kGraphLocation);
      unknown.sum > 0 && machine.profilers.heap_dumps.empty())
    examiner.Add("heap.dump",
                 Say("{} of Java heap dumps {} no known location.",
                     Number("types", unknown.sum, "type"), unknown.sum == 1 ? "has" : "have"),
                 {.harm = Harm::kError,
                  .where = unknown.Where("pid"),
                  .proof = "location_id of types, and location_names.",
                  .weight = 0});
}

}  // namespace

void ExamineProfilers(Examiner& examiner) {
  examiner.OnEachMachine([&](const MachineFacts& machine) {
    ExaminePerf(examiner, machine);
    ExamineHeapProfiles(examiner, machine);
    ExamineHeapDumps(examiner, machine);
  });
}

}  // namespace ringscope
