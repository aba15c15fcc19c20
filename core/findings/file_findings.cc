// The file itself: is it whole, and what is in it.

#include <fmt/format.h>

#include <string>

#include "core/base/text.h"
#include "core/findings/examiner.h"

namespace ringscope {
namespace {

void ExamineEnd(Examiner& examiner) {
  const TraceFacts& facts = examiner.facts;
  const uint64_t after_stats = facts.packets_after_stats.value_or(0);
  if (facts.is_cut_off) {
    examiner.Add(
        "trace.cut_off",
        Say("The file is cut off{}: what follows is missing.",
            facts.all.span ? Say(" at {}", TimeOf(examiner, "cut_ns", facts.all.span->last_ns))
                           : Sentence()),
        {.cause = "It was cut, copied while it was still being written, or damaged as it was "
                  "compressed.",
         .proof = Say("The last packet is not whole, after {}.",
                      Number("packets", facts.all.packets, "packet"))});
  } else if (facts.stats_packets > 0 && facts.data_packets > 0 && after_stats > 0 &&
             examiner.config.write_into_file) {
    examiner.Add("trace.cut_off",
                 Say("The last statistics are not at the end of the file: {} follow{}.",
                     Number("packets_after", after_stats, "packet"), after_stats == 1 ? "s" : ""),
                 {.harm = Harm::kInfo,
                  .cause = "The session did not come to its end, or its service is older than v58, "
                           "which writes them only every 10 s.",
                  .proof = "No trace_stats packet after these packets.",
                  .weight = after_stats});
  }
  constexpr uint32_t kCompactions = 22;  // of a change of V2 that is in no release
  for (const auto& [place, value] : facts.unknown_counters)
    examiner.Unknown(
        Say("What buffers[{}] means by a counter of {} ({}field {} of BufferStats): no released "
            "buffer has it.",
            place.first, Number(fmt::format("field_{}", place.second), value),
            place.second == kCompactions ? "compactions, " : "", place.second));
  if (facts.stats_packets > 0 || facts.data_packets == 0) return;
  examiner.Add("trace.no_stats",
               "The service's statistics are missing: what its buffers lost is not known.",
               {.cause = "The file was cut before its end, was made by another tool, or a filter "
                         "removed them.",
                .proof = "There is no trace_stats packet."});
  examiner.Unknown("What the buffers lost: there are no statistics.");
}

void ExamineDamage(Examiner& examiner) {
  const TraceFacts& facts = examiner.facts;
  if (facts.error_count > 0)
    examiner.Add("trace.corrupt",
                 Say("{} in the file {} damaged.", Number("places", facts.error_count, "place"),
                     Is(facts.error_count)),
                 {.where = Say("offset {}: {}", Number("offset", facts.errors.front().offset),
                               facts.errors.front().what),
                  .proof = "Trace processor refuses to import the file after the first of them.",
                  .weight = facts.error_count});
  else if (examiner.is_of_log() ? facts.data_packets > 0 : facts.all.packets > 0)
    examiner.Well(examiner.is_of_log() ? "All packets of the replay can be read."
                                       : "All packets of the file can be read.");
}

void ExamineSessions(Examiner& examiner) {
  const TraceFacts& facts = examiner.facts;
  if (facts.sessions > 1)
    examiner.Add(
        "trace.joined",
        Say("This is session {} of {} in one file.", Number("session", facts.session),
            Number("sessions", facts.sessions)),
        {.cause = "A clone of a session that was written into a file has the file's data first "
                  "and then its own, or files were joined.",
         .proof = "trace_config and trace_uuid packets, which a session writes once."});
  if (facts.has_others)
    examiner.Unknown("Further sessions of the file: there are too many to examine separately.");
  if (facts.too_large > 0)
    examiner.Unknown(Say("What is in {}: too large to be looked at.",
                         Number("packets_too_large", facts.too_large, "packet")));
  if (facts.config_bytes_left_out > 0)
    examiner.Unknown(Say("The trace config: it has {}, too large for a config.",
                         Size("config_bytes", facts.config_bytes_left_out)));
  else if (!facts.config)
    examiner.Unknown(fmt::format("The trace config: it is not in the {}.",
                                 examiner.is_of_log() ? "log" : "trace"));
}

const char* EmptyTraceCause(const TraceFacts& facts) {
  if (facts.stats_packets == 0) return "Not known: the statistics of the service are missing, too.";
  if (facts.service.producers_connected == 0) return "No producer was connected.";
  if (facts.service.data_sources_registered == 0)
    return "Producers were connected, but none had registered a data source.";
  if (facts.service.data_sources_seen == 0)
    return "No registered data source has a name that the config asks for.";
  return "Data sources were started, and wrote nothing that was read: they were idle, their data "
         "was never committed or flushed, or it was lost in the buffers.";
}

void ExamineEmpty(Examiner& examiner) {
  const TraceFacts& facts = examiner.facts;
  if (examiner.is_of_log()) {
    uint64_t chunks = 0;
    for (const TraceBuffer& buffer : facts.buffers)
      chunks += buffer.stats.chunks_written + buffer.stats.chunks_discarded;
    examiner.Add(
        "trace.empty", "Nothing that a producer wrote is read in the replay.",
        {.cause = Say("{} of the log came to a buffer.", Number("chunks", chunks, "chunk")),
         .proof = "The replay of the log, packet by packet.",
         .remedy = "Look whether the log was recorded up to the session's end, and from "
                   "its beginning.",
         .weight = UINT64_MAX});
    return;
  }
  Finding& finding =
      examiner.Add("trace.empty",
                   facts.all.packets == 0
                       ? "The file has no packet at all."
                       : Say("Nothing that a producer wrote is in the trace ({} of the service).",
                             Number("packets", facts.all.packets, "packet")),
                   {.cause = EmptyTraceCause(facts), .weight = UINT64_MAX});
  if (facts.all.packets == 0)
    finding.remedy = "Look whether the session began, and whether the file was copied whole.";
  if (facts.stats_packets > 0)
    finding.proof =
        Say("The service counts {} connected, {} registered, {} started (in all sessions).",
            Number("producers_connected", facts.service.producers_connected, "producer"),
            Number("data_sources_registered", facts.service.data_sources_registered, "data source"),
            Number("data_sources_seen", facts.service.data_sources_seen));
}

void ExamineFlushes(Examiner& examiner) {
  const TraceFacts& facts = examiner.facts;
  const uint64_t failed = facts.service.flushes_failed, all = facts.service.flushes_requested;
  constexpr const char* kCause = "A producer was busy, blocked, or disconnected meanwhile.";
  if (failed > 0)
    examiner.Add(
        "flush.failed",
        Say("{} of {} {} not answered in time: what producers had not committed then may be "
            "missing.",
            Number("flushes_failed", failed), Number("flushes", all, "flush"), Was(failed)),
        {.where = examiner.replay == nullptr ? "" : Joined(examiner.replay->missed_flushes),
         .cause = kCause,
         .proof = "flushes_failed of the service's statistics.",
         .remedy =
             Say("A longer flush_timeout_ms (it is {}); look at the producers that were late.",
                 Number("flush_timeout_ms", examiner.config.flush_timeout_ms)),
         .weight = failed});
  if (facts.final_flushes_failed > 0)
    examiner.Add("flush.final_failed", "The last flush before the end was not acknowledged.",
                 {.cause = kCause,
                  .proof = "final_flush_outcome of the service's statistics.",
                  .weight = facts.final_flushes_failed});
  if (facts.stats_packets == 0) return;
  if (failed == 0 && facts.final_flushes_failed == 0 && all > 0)
    examiner.Well(Say("Of {} none failed.", Number("flushes", all, "flush")));
  if (facts.final_flushes_succeeded + facts.final_flushes_failed > 0) return;
  examiner.Unknown(std::string("Whether the producers were flushed before the end: ") +
                   (examiner.is_of_log()
                        ? "no record of the log shows it."
                        : "the service did no final flush, which it leaves to a consumer that "
                          "stops the session itself."));
}

void ExamineService(Examiner& examiner) {
  const ServiceStats& service = examiner.facts.service;
  const auto add = [&](const char* rule, const char* counter, uint64_t count, const char* noun) {
    if (count > 0)
      examiner.Add(
          rule, Say("The service refused {}.", Number(counter, count, noun)),
          {.cause = "The counter belongs to the service, so that other sessions may be the cause.",
           .proof = fmt::format("{} of the service's statistics.", counter),
           .weight = count});
  };
  add("service.chunks_discarded", "chunks_discarded", service.chunks_discarded, "chunk");
  add("service.patches_discarded", "patches_discarded", service.patches_discarded, "patch");
  if (const uint64_t invalid = service.invalid_packets; invalid > 0)
    examiner.Add("service.invalid_packets",
                 Say("{} {} not valid, and {} not in the trace.",
                     Number("invalid_packets", invalid, "packet"), Was(invalid), Is(invalid)),
                 {.proof = "invalid_packets of the service's statistics.", .weight = invalid});
}

}  // namespace

void ExamineFile(Examiner& examiner) {
  const TraceFacts& facts = examiner.facts;
  ExamineDamage(examiner);
  ExamineEnd(examiner);
  ExamineSessions(examiner);
  if (facts.data_packets == 0) ExamineEmpty(examiner);
}

void ExamineSession(Examiner& examiner) {
  ExamineFlushes(examiner);
  ExamineService(examiner);
}

}  // namespace ringscope
