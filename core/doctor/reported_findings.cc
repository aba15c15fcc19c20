// What packets of producers report as lost or failed.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "core/base/text.h"
#include "core/doctor/examiner.h"

namespace ringscope {
namespace {

/// A row of trace processor's as a part of a finding.
struct ReportedPart {
  Reported what;
  const char* rule;
  const char* noun;   // "sample": of what the row counts
  const char* lacks;  // "that the kernel had no space for"
  const char* proof;
  bool is_of_cpu = false;    // its index; else that of a process, where it has one
  bool counts_once = false;  // its value is no number of times
};

constexpr std::array<ReportedPart, 17> kReportedParts = {{
    {Reported::kHeapOverran, "profile.overran", "profile packet", "of a profile that ended early",
     "buffer_overran of profile_packet"},
    {Reported::kHeapCorrupted, "profile.failed", "profile packet",
     "of a profile with corrupt shared memory", "buffer_corrupted of profile_packet"},
    {Reported::kHeapClientError, "profile.failed", "client", "of the profiler that failed",
     "client_error of profile_packet", false, true},
    {Reported::kHeapGuardrail, "profile.failed", "profile packet",
     "of a profile that was stopped for its load", "hit_guardrail of profile_packet"},
    {Reported::kHeapRejected, "profile.failed", "profile packet",
     "of a process that another session profiled", "rejected_concurrent of profile_packet"},
    {Reported::kHeapMissing, "profile.samples", "place", "where heap profile packets are missing",
     "index of profile_packet"},
    {Reported::kPerfLost, "profile.samples", "sample", "that the kernel had no space for",
     "kernel_records_lost of perf_sample", true},
    {Reported::kPerfSkipped, "profile.samples", "sample", "that the profiler skipped",
     "sample_skipped_reason of perf_sample"},
    {Reported::kPerfStopped, "profile.samples", "CPU", "where sampling was stopped for its load",
     "source_stop_reason of perf_sample", true, true},
    {Reported::kAndroidLog, "source.errors", "line", "of Android's log that could not be read",
     "num_failed of android_log"},
    {Reported::kJournal, "source.errors", "line", "of the systemd journal that could not be read",
     "num_failed of journald_event"},
    {Reported::kMetatrace, "source.errors", "packet", "of the service's own trace after an overrun",
     "has_overruns of perfetto_metatrace"},
    {Reported::kGamesParse, "source.errors", "list", "of games that could not be parsed",
     "parse_error of android_game_intervention_list"},
    {Reported::kGamesRead, "source.errors", "list", "of games that could not be read",
     "read_error of android_game_intervention_list"},
    {Reported::kTrackWithoutUuid, "names.descriptors", "track descriptor", "without a uuid",
     "track_descriptor packets"},
    {Reported::kProcessTrackWithoutPid, "names.descriptors", "process track", "without a pid",
     "track_descriptor packets"},
    {Reported::kThreadTrackWithoutIds, "names.descriptors", "thread track", "without a pid or tid",
     "track_descriptor packets"},
}};

void ExamineReports(Examiner& examiner, const PacketReports& reported) {
  std::set<std::string_view> rules;
  for (const ReportedPart& first : kReportedParts) {
    if (!rules.insert(first.rule).second) continue;
    std::vector<std::string> what, where, proof;
    uint64_t weight = 0;
    for (const ReportedPart& part : kReportedParts) {
      if (std::string_view(part.rule) != first.rule) continue;
      uint64_t times = 0;
      for (const auto& [key, value] : reported.counts()) {
        if (key.first != part.what || value == 0) continue;
        times += part.counts_once ? 1 : value;
        constexpr size_t kMost = 8;
        if (!key.second || where.size() == kMost) continue;
        const std::string place = part.is_of_cpu ? fmt::format("CPU {}", *key.second)
                                                 : ProcessText(examiner, *key.second);
        if (std::ranges::find(where, place) == where.end()) where.push_back(place);
      }
      if (times == 0) continue;
      what.push_back(fmt::format("{} {}", Count(times, part.noun), part.lacks));
      if (std::ranges::find(proof, part.proof) == proof.end()) proof.emplace_back(part.proof);
      weight += times;
    }
    if (what.empty()) continue;
    Finding& finding = examiner.Add(first.rule, Joined(what) + ".");
    finding.where = Joined(where);
    finding.proof = Joined(proof) + ".";
    finding.weight = weight;
  }
}

}  // namespace

void ExamineReported(Examiner& examiner) {
  examiner.OnEachMachine(
      [&](const MachineFacts& machine) { ExamineReports(examiner, machine.reported); });
}

}  // namespace ringscope
