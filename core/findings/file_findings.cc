// The file itself: is it whole, and what is in it.

#include "core/findings/examiner.h"
#include "core/trace/packet_view.h"

namespace ringscope {
namespace {

/// Returns true if the file ended at its largest size: the next packet would not have fitted.
bool IsFull(const Examiner& examiner) {
  const TraceFacts& facts = examiner.facts;
  constexpr uint64_t kPacketHeader = 8, kShare = 100, kLargeChunk = 32'768;
  const uint64_t largest = examiner.config.max_file_size_bytes;
  const bool has_end = facts.lifetime && facts.lifetime->length_ns() > 0;
  // What did not fit may be larger than all that did.
  const uint64_t packet =
      std::max(facts.largest_packet + kPacketHeader, std::min(largest / kShare, kLargeChunk));
  return largest > 0 && !has_end && facts.packets_after_stats.value_or(1) > 0 &&
         facts.file_bytes <= largest && facts.file_bytes + packet >= largest;
}

/// Returns how long after the last event the session ended, by the service's events, which come
/// before those of a ring that is read once; 0: the events reach the end, or it is not known.
int64_t MissingEndOf(const TraceFacts& facts) {
  if (!facts.lifetime || facts.lifetime->length_ns() == 0 || !facts.all.span) return 0;
  return std::max<int64_t>(0, facts.lifetime->last_ns - facts.all.span->last_ns);
}

void AddFull(Examiner& examiner) {
  const TraceFacts& facts = examiner.facts;
  uint64_t wanted = ConfigNs(examiner.config.duration_ms.value_or(0));
  if (wanted == 0 && examiner.session)  // as the service's events show it
    wanted = static_cast<uint64_t>(examiner.session->length_ns());
  const int64_t held_ns =
      facts.all.span && examiner.session ? facts.all.span->last_ns - examiner.session->first_ns : 0;
  const bool is_short = held_ns > 0 && wanted > static_cast<uint64_t>(held_ns);
  Finding& finding = examiner.Add(
      "trace.file_full",
      Say("The file reached max_file_size_bytes{}{}: what followed is missing.",
          held_ns > 0 ? Say(" after {}", Time("held_ns", held_ns)) : "",
          is_short ? Say(" of {}", Time("wanted_ns", wanted)) : ""),
      {.cause = Say("The next packet would have made the file larger than {}.",
                    Number("max_file_size_bytes", examiner.config.max_file_size_bytes, "byte")),
       .proof = Say("The file has {}, and does not end with the service's statistics.",
                    Number("file_bytes", facts.file_bytes, "byte")),
       .weight = UINT64_MAX});
  if (!is_short) return;
  // An eighth more than at the rate so far, in whole MiB.
  constexpr double kReserve = 9.0 / 8, kMiB = 1 << 20;
  const double bytes = static_cast<double>(facts.file_bytes) * static_cast<double>(wanted) /
                       static_cast<double>(held_ns) * kReserve;
  finding.changes.push_back({"max_file_size_bytes",
                             std::to_string((static_cast<uint64_t>(bytes / kMiB) + 1) << 20),
                             "holds the whole session at the rate so far", true});
}

void AddCutOff(Examiner& examiner) {
  const TraceFacts& facts = examiner.facts;
  const int64_t missing_ns = MissingEndOf(facts);
  const bool has_length = missing_ns > 0 && !examiner.config.IsStreamed();
  const bool has_stats = !facts.is_cut_off && facts.stats_packets > 0 && !has_length;
  examiner.Add(
      "trace.cut_off",
      has_length
          ? Say("The file is cut off: {} of {} are in it, {} are missing at its end.",
                Time("held_ns", facts.all.span->length_ns()),
                Time("session_ns", facts.lifetime->length_ns()), Time("missing_ns", missing_ns))
          : Say("The file is cut off{}: what follows is missing.",
                facts.all.span ? Say(" at {}", TimeOf(examiner, "cut_ns", facts.all.span->last_ns))
                               : ""),
      {.cause = has_length  ? "It was copied before all of it was written, or was cut."
                : has_stats ? "It was copied while it was still being written, or the service "
                              "ended before the session did."
                            : "It was cut, copied while it was still being written, or damaged as "
                              "it was compressed.",
       .proof = has_stats
                    ? "The service's event at the session's end, tracing_disabled, is missing."
                : facts.is_cut_off ? Say("The last packet is not whole, after {}.",
                                         Number("packets", facts.all.packets, "packet"))
                                   : "The service's statistics, which come last, are missing."});
}

void AddAfterStats(Examiner& examiner, uint64_t packets) {
  const TraceFacts& facts = examiner.facts;
  examiner.Add(
      "trace.after_stats",
      Say("{} follow{} the last statistics of the service.",
          Number("packets_after", packets, "packet"), packets == 1 ? "s" : ""),
      {.cause = facts.appended_packets() > 0
                    ? "No statistics name their sequences: they were appended, not written "
                      "by the session."
                : facts.is_clone ? "A clone of the session was read after them."
                : examiner.config.IsStreamed()
                    ? "The session did not come to its end, or its service is older than v58, "
                      "which writes them only every 10 s."
                    : "A data source wrote late, or the file was read more than once.",
       .proof = "No trace_stats packet after these packets.",
       .weight = packets});
}

/// Returns true if a data source that delivered may have written all it had at once, or writes all
/// the time.
bool HasSource(const Examiner& examiner, std::initializer_list<std::string_view> names,
               bool is_listed) {
  return std::ranges::any_of(examiner.sources, [&](const SourceAccount& source) {
    return source.amount.packets > 0 && Contains(names, source.name) == is_listed;
  });
}

/// A session that ended before the time that its config asks for.
void ExamineLength(Examiner& examiner) {
  const TraceFacts& facts = examiner.facts;
  const auto wanted_ns = static_cast<int64_t>(ConfigNs(examiner.config.duration_ms.value_or(0)));
  const bool is_full = std::ranges::any_of(
      facts.buffers, [](const TraceBuffer& buffer) { return buffer.stats.chunks_discarded > 0; });
  if (wanted_ns == 0 || !examiner.session || !facts.all.span || examiner.is_of_log() || is_full)
    return;
  const int64_t start_ns = examiner.session->first_ns;
  const bool has_end = facts.lifetime && facts.lifetime->length_ns() > 0;
  const int64_t ended_ns = has_end ? facts.lifetime->last_ns - start_ns : 0;
  const int64_t events_ns = facts.all.span->last_ns - start_ns;
  // A tenth less is no sign: stops take time. Events may be rare.
  const bool has_stopped = has_end && ended_ns > 0 && ended_ns < wanted_ns / 10 * 9;
  const bool ends_early = events_ns > 0 && events_ns < (has_stopped ? ended_ns : wanted_ns) / 2;
  if (!has_stopped && !ends_early) return;
  // These write once.
  if (!has_stopped && !HasSource(examiner,
                                 {"android.java_hprof", "android.heapprofd", "linux.process_stats",
                                  "android.packages_list", "linux.system_info"},
                                 /*is_listed=*/false))
    return;
  const bool is_meant = !facts.triggers.empty() || facts.is_clone;
  const bool is_steady =
      HasSource(examiner, {kFtraceSource, "linux.sys_stats", "linux.perf"}, /*is_listed=*/true);
  // Sessions are stopped by hand, by triggers and for clones; and events may be rare.
  constexpr uint64_t kFewEvents = 30;
  examiner.Add(
      "trace.short",
      ends_early
          ? Say("The events end at {}, and the session {} {}.", Time("last_event_ns", events_ns),
                has_end ? "at" : "was to last", Time("ended_ns", has_end ? ended_ns : wanted_ns))
          : Say("The session ended after {} of the {} that its config asks for.",
                Time("ended_ns", ended_ns), Time("wanted_ns", wanted_ns)),
      {.harm = InfoIf(is_meant || !ends_early || !has_end || (!has_stopped && !is_steady) ||
                      facts.events < kFewEvents),
       .cause = !facts.triggers.empty()
                    ? Say("The trigger '{}' ended it.", Printable(facts.triggers.front()))
                : facts.is_clone ? "It is a clone, which was made before the session ended."
                : has_stopped
                    ? "The service stopped it then: its consumer asked for that, or went away."
                : has_end ? "The session continued, but its data sources wrote no event any more."
                          : "It was stopped, or its data sources stopped writing: no event of the "
                            "service shows which.",
       .proof = "duration_ms of the config, the service's events, and the times of the events.",
       .remedy = has_end && !has_stopped
                     ? "Look at the data sources: whether their producers ended, "
                       "or nothing happened any more that they record."
                     : "",
       .weight = ends_early && !is_meant ? 1u : 0u});
}

/// A session whose data sources began to write late.
void ExamineBeginning(Examiner& examiner) {
  constexpr int64_t kShortestNs = 1'000'000'000;
  const TraceFacts& facts = examiner.facts;
  if (!facts.all.span || !facts.lifetime || facts.lifetime->length_ns() == 0) return;
  const bool has_lost = std::ranges::any_of(
      facts.buffers, [](const TraceBuffer& buffer) { return buffer.stats.chunks_overwritten > 0; });
  const int64_t empty_ns = facts.all.span->first_ns - facts.lifetime->first_ns;
  if (has_lost || facts.stats_packets == 0 || empty_ns < kShortestNs ||
      empty_ns < facts.lifetime->length_ns() / 10)
    return;
  const int64_t start_ns =
      facts.sources_started_ns.value_or(facts.lifetime->first_ns) - facts.lifetime->first_ns;
  if (start_ns < kShortestNs / 2) return;  // else nothing may have happened
  examiner.Add(
      "trace.late_start",
      Say("Nothing was recorded from 0 to {}: the data sources took {} to start.",
          Time("first_event_ns", empty_ns), Time("sources_started_ns", start_ns)),
      {.proof = "tracing_started and all_data_sources_started of the service, and the first event.",
       .remedy = "deferred_start: start the session by StartTracing when its data sources are "
                 "ready, or begin what is to be measured later.",
       .weight = static_cast<uint64_t>(empty_ns)});
}

void ExamineEnd(Examiner& examiner) {
  const TraceFacts& facts = examiner.facts;
  constexpr int64_t kShare = 50;
  const uint64_t after_stats = facts.packets_after_stats.value_or(0);
  const bool is_early = facts.stats_packets == 0 && facts.lifetime &&
                        MissingEndOf(facts) * kShare > facts.lifetime->length_ns();
  if (IsFull(examiner)) return AddFull(examiner);
  // The last read of a file comes after the session's end.
  const bool has_no_end = examiner.config.write_into_file && facts.lifetime &&
                          facts.lifetime->length_ns() == 0 && !facts.is_clone && facts.all.span &&
                          facts.all.span->last_ns > facts.lifetime->last_ns &&
                          !facts.HasFinalStats();
  if (facts.is_cut_off || is_early || has_no_end) {
    AddCutOff(examiner);
  } else {
    if (facts.stats_packets > 0 && facts.data_packets > 0 && after_stats > 0 &&
        !examiner.is_of_log())
      AddAfterStats(examiner, after_stats);
    ExamineLength(examiner);
    ExamineBeginning(examiner);
    if (facts.has_more_bytes)
      examiner.Add("trace.after_stats",
                   "Bytes that are no packet follow the service's last statistics: nothing of the "
                   "session is missing.",
                   {.cause = "A copy or a script added them to the file.",
                    .proof = "The file ends within what would be a packet, after the service's "
                             "events and statistics of the session's end.",
                    .remedy = "None is needed: trace processor leaves them out."});
  }
  constexpr uint32_t kCompactions = 22;  // of a change of V2 that is in no release
  for (const auto& [place, value] : facts.unknown_counters)
    examiner.Unknown(
        Say("What buffers[{}] means by a counter of {} ({}field {} of BufferStats): no released "
            "buffer has it.",
            place.first, Number(fmt::format("field_{}", place.second), value),
            place.second == kCompactions ? "compactions, " : "", place.second));
  if (facts.stats_packets > 0 || facts.data_packets == 0) return;
  if (facts.IsOfTool())
    return examiner.Well(
        "A tool wrote the trace, Perfetto's service did not record it: it had no buffers that "
        "could lose something.");
  examiner.Unknown("What the buffers lost: there are no statistics.");
  if (is_early || facts.is_cut_off) return;
  examiner.Add("trace.no_stats",
               "The service's statistics are missing: what its buffers lost is not known.",
               {.cause = facts.service_packets == 0
                             ? "The beginning and the end of the file were cut off, a filter "
                               "removed all packets of the service, or a tool wrote the file."
                             : "The file was cut before its end, or a filter removed them.",
                .proof = "There is no trace_stats packet."});
}

void ExamineDamage(Examiner& examiner) {
  const TraceFacts& facts = examiner.facts;
  if (facts.error_count > 0)
    examiner.Add(
        "trace.corrupt",
        Say("{} in the file {} damaged{}.", Number("places", facts.error_count, "place"),
            Is(facts.error_count), facts.error_count == 1 ? ": " + facts.errors.front().what : ""),
        {.where = Say("offset {}: {}", Number("offset", facts.errors.front().offset),
                      facts.errors.front().what),
         .proof = "Trace processor refuses to import the file after the first of them.",
         .weight = facts.error_count});
  else if (examiner.is_of_log() ? facts.data_packets > 0 : facts.all.packets > 0)
    examiner.Well(fmt::format("All packets of the {} can be read.",
                              examiner.is_of_log() ? "replay" : "file"));
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
  if (facts.service.producers_connected == 0) return "No producer was connected at the end.";
  if (facts.service.data_sources_registered == 0)
    return "Producers were connected, but none had registered a data source.";
  if (facts.service.data_sources_seen == 0)
    return "No registered data source has a name that the config asks for.";
  return "Data sources may have been started, and wrote nothing that was read: they were idle, "
         "their data was never committed or flushed, or it was lost in the buffers.";
}

void ExamineEmpty(Examiner& examiner) {
  const TraceFacts& facts = examiner.facts;
  if (examiner.is_of_log()) {
    uint64_t chunks = 0;
    for (const TraceBuffer& buffer : facts.buffers)
      chunks += buffer.stats.chunks_written + buffer.stats.chunks_discarded;
    examiner.Add(
        "trace.empty",
        chunks == 0 ? "No chunk of a producer came to a buffer of the log."
                    : "Nothing that a producer wrote is read in the replay.",
        {.cause = Say("{} of the log came to a buffer.", Number("chunks", chunks, "chunk")),
         .proof = "The replay of the log, packet by packet.",
         .remedy = "Look whether the log was recorded up to the session's end, and from "
                   "its beginning.",
         .weight = UINT64_MAX});
    return;
  }
  if (facts.is_clone && facts.session > 1) {
    examiner.Add(
        "trace.empty",
        Say("The clone adds nothing: what was in the buffers had been written into the "
            "file before ({} of the service).",
            Number("packets", facts.all.packets, "packet")),
        {.harm = Harm::kInfo,
         .cause = "The clone of a session that is written into a file has that file first.",
         .remedy = "None is needed."});
    return;
  }
  Finding& finding =
      examiner.Add("trace.empty",
                   facts.all.packets == 0
                       ? "The file has no packet at all."
                       : Say("Nothing that a producer wrote is in the trace ({} of the service).",
                             Number("packets", facts.all.packets, "packet")),
                   {.cause = EmptyTraceCause(facts), .weight = UINT64_MAX});
  if (examiner.config.trigger_mode == TriggerMode::kStart && facts.triggers.empty()) {
    finding.cause =
        "The config starts its data sources by a trigger (START_TRACING), and none came.";
    finding.remedy = "Activate one of the config's triggers within its trigger_timeout_ms.";
    return;
  }
  if (facts.all.packets == 0)
    finding.remedy =
        "Look whether the session began, whether its trigger came, if it has one, and whether the "
        "file was copied whole.";
  if (facts.stats_packets > 0)
    finding.proof =
        Say("The service counts {} connected and {} registered at the end, and {} started in all "
            "its sessions.",
            Number("producers_connected", facts.service.producers_connected, "producer"),
            Number("data_sources_registered", facts.service.data_sources_registered, "data source"),
            Number("data_sources_seen", facts.service.data_sources_seen));
  Sentence reasons;
  std::set<std::string> given;
  for (const SourceAccount& source : examiner.sources) {
    if (source.why.empty() || !given.insert(source.why.text).second) continue;
    std::vector<std::string> names;  // of the data sources with this reason
    for (const SourceAccount& other : examiner.sources)
      if (other.why.text == source.why.text) names.push_back(Printable(other.name));
    reasons += Say("{}{}: {}", reasons.empty() ? "" : " ", Joined(names), source.why);
  }
  if (reasons.empty()) return;
  finding.cause = std::move(reasons);
  finding.remedy = examiner.sources.front().change;
}

/// "com.game (track_event)": the data sources that the service waited for.
std::string SlowText(const std::vector<SlowSource>& sources) {
  std::set<std::string> texts;
  for (const SlowSource& source : sources)
    texts.insert(fmt::format("{} ({})", Printable(source.producer), Printable(source.source)));
  return Joined({texts.begin(), texts.end()});
}

/// Returns true if a sequence has packets that are events, with a time or without.
bool HasEvents(const TraceFacts& facts) {
  return std::ranges::any_of(facts.sequences, [](const TraceSequence& sequence) {
    return std::ranges::any_of(
        sequence.contents, [](const ContentAmount& one) { return KindOf(one.content).has_events; });
  });
}

void ExamineFlushes(Examiner& examiner) {
  const TraceFacts& facts = examiner.facts;
  const std::string slow = SlowText(facts.slow_to_flush);
  const uint64_t failed = facts.service.flushes_failed, all = facts.service.flushes_requested;
  constexpr const char* kCause = "A producer was busy, blocked, or disconnected meanwhile.";
  if (failed > 0)
    examiner.Add(
        "flush.failed",
        Say("{} of {} {} not answered in time{}: what producers had not committed then may be "
            "missing.",
            Number("flushes_failed", failed), Number("flushes", all, "flush"), Was(failed),
            slow.empty() ? "" : ", the last one by " + slow),
        {.where = examiner.replay == nullptr ? slow : Joined(examiner.replay->missed_flushes),
         .cause = kCause,
         .proof = "flushes_failed of the service's statistics.",
         .remedy = Say("A longer flush_timeout_ms (it is {}); look at {}.",
                       Number("flush_timeout_ms", examiner.config.flush_timeout_ms),
                       slow.empty() ? "the producers that were late" : slow),
         .weight = failed});
  if (facts.final_flushes_failed > 0)
    examiner.Add("flush.final_failed",
                 Say("The last flush before the end was not acknowledged{}{}.",
                     slow.empty() ? "" : " by ", slow),
                 {.where = slow,
                  .cause = kCause,
                  .proof = "final_flush_outcome of the service's statistics.",
                  .weight = facts.final_flushes_failed});
  if (!facts.slow_to_start.empty())
    examiner.Add("source.slow",
                 Say("Data sources had not started after 20 s: {}.", SlowText(facts.slow_to_start)),
                 {.cause = "Their producers were busy, blocked or frozen.",
                  .proof = "slow_starting_data_sources of the service's events.",
                  .weight = facts.slow_to_start.size()});
  if (facts.stats_packets == 0) return;
  if (failed == 0 && facts.final_flushes_failed == 0 && all > 0)
    examiner.Well(Say("Of {} none failed.", Number("flushes", all, "flush")));
  if (facts.final_flushes_succeeded + facts.final_flushes_failed > 0) return;
  constexpr uint64_t kCountsFinalFlush = 46;
  const auto release = ServiceRelease(facts.service_version);
  examiner.Unknown(std::string("Whether the producers were flushed before the end: ") +
                   (examiner.is_of_log() ? "the log has no record of a final flush."
                    : !release           ? "services before v46 do not report the final flush, and "
                                           "this one's release is not known."
                    : *release < kCountsFinalFlush
                        ? "services before v46 do not report the final flush."
                        : "the service did no final flush, which it leaves to a consumer that "
                          "stops the session itself."));
}

}  // namespace

void ExamineService(Examiner& examiner) {
  ExamineFlushes(examiner);
  const ServiceStats& service = examiner.facts.service;
  const auto add = [&](const char* rule, const char* counter, uint64_t ServiceStats::*value,
                       const char* noun) {
    const std::optional<uint64_t> rise =
        examiner.is_of_log() ? std::optional(service.*value) : examiner.facts.RiseOf(value);
    const uint64_t count = rise.value_or(service.*value);
    if (count == 0) return;
    examiner.Add(
        rule,
        Say("The service {} {}{}.", rise ? "refused" : "has refused", Number(counter, count, noun),
            rise ? "" : " since it was started"),
        {.harm = InfoIf(!rise),
         .cause = rise ? "The counter belongs to the service, so that other sessions may be the "
                         "cause."
                       : "The counter is of all sessions. A trace with one statistics packet does "
                         "not show how many were of this one.",
         .proof = fmt::format("{} of the service's statistics{}.", counter,
                              rise && !examiner.is_of_log() ? ", the last less the first" : ""),
         .weight = count});
  };
  add("service.chunks_discarded", "chunks_discarded", &ServiceStats::chunks_discarded, "chunk");
  add("service.patches_discarded", "patches_discarded", &ServiceStats::patches_discarded, "patch");
  if (const uint64_t invalid = service.invalid_packets; invalid > 0)
    examiner.Add("service.invalid_packets",
                 Say("{} {} not valid, and {} not in the trace.",
                     Number("invalid_packets", invalid, "packet"), Was(invalid), Is(invalid)),
                 {.proof = "invalid_packets of the service's statistics.", .weight = invalid});
}

void ExamineFile(Examiner& examiner) {
  const TraceFacts& facts = examiner.facts;
  ExamineDamage(examiner);
  ExamineEnd(examiner);
  ExamineSessions(examiner);
  const bool asks_for_nothing = examiner.has_config() && examiner.config.sources.empty();
  if (facts.own_packets > 0)
    examiner.Unknown(Say("What {} of ringscope's own tracks are about: they are left out.",
                         Number("own_packets", facts.own_packets, "packet")));
  if (facts.data_packets == 0 && !asks_for_nothing &&
      (facts.own_packets == 0 || facts.service_packets > 0))
    ExamineEmpty(examiner);
  else if (facts.own_packets == 0 && facts.IsOfTool() && !facts.all.span &&
           facts.error_count == 0 && !HasEvents(facts))
    examiner.Add("trace.empty",
                 "The trace has no event: its packets only describe tracks, processes or names.",
                 {.harm = Harm::kWarning, .remedy = "Write events, each with a timestamp."});
}

}  // namespace ringscope
