// The file itself: is it whole, and what is in it.

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/doctor/examiner.h"
#include "core/perfetto/fields.h"

namespace ringscope {
namespace {

void ExamineEnd(Examiner& examiner) {
  const TraceFacts& facts = examiner.facts;
  if (facts.is_cut_off) {
    Finding& finding = examiner.Add("trace.cut_off", "The file ends within a packet.");
    finding.cause = "It was cut, or copied while it was still being written.";
    finding.proof =
        fmt::format("The last packet is not whole, after {}.", Count(facts.all.packets, "packet"));
  } else if (facts.stats_packets > 0 && facts.data_packets > 0 &&
             facts.packets_after_stats.value_or(0) > 0 && examiner.config.write_into_file) {
    Finding& finding =
        examiner.Add("trace.cut_off",
                     fmt::format("The last statistics are not at the end of the file: {} follow{}.",
                                 Count(*facts.packets_after_stats, "packet"),
                                 *facts.packets_after_stats == 1 ? "s" : ""));
    finding.harm = Harm::kInfo;
    finding.cause =
        "The session did not come to its end, or its service is older than v58, which writes them "
        "only every 10 s.";
    finding.proof = "No trace_stats packet after these packets.";
    finding.weight = *facts.packets_after_stats;
  }
  if (facts.stats_packets == 0 && facts.data_packets > 0) {
    Finding& finding =
        examiner.Add("trace.no_stats",
                     "The service's statistics are missing: what its buffers lost is not known.");
    finding.cause =
        "The file was cut before its end, was made by another tool, or a filter removed them.";
    finding.proof = "There is no trace_stats packet.";
    examiner.Unknown("What the buffers lost: there are no statistics.");
  }
}

void ExamineDamage(Examiner& examiner) {
  const TraceFacts& facts = examiner.facts;
  if (facts.error_count > 0) {
    Finding& finding =
        examiner.Add("trace.corrupt",
                     fmt::format("{} in the file {} damaged.", Count(facts.error_count, "place"),
                                 facts.error_count == 1 ? "is" : "are"));
    finding.where =
        fmt::format("offset {}: {}", facts.errors.front().offset, facts.errors.front().what);
    finding.proof = "Trace processor refuses to import the file after the first of them.";
    finding.weight = facts.error_count;
  } else if (examiner.is_of_log() ? facts.data_packets > 0 : facts.all.packets > 0) {
    examiner.Well(examiner.is_of_log() ? "All packets of the replay can be read."
                                       : "All packets of the file can be read.");
  }
}

void ExamineSessions(Examiner& examiner) {
  const TraceFacts& facts = examiner.facts;
  if (facts.sessions > 1) {
    Finding& finding =
        examiner.Add("trace.joined", fmt::format("This is session {} of {} in one file.",
                                                 facts.session, WithCommas(facts.sessions)));
    finding.cause =
        "A clone of a session that was written into a file has the file's data first and then its "
        "own, or files were joined.";
    finding.proof = "trace_config and trace_uuid packets, which a session writes once.";
  }
  if (facts.has_others)
    examiner.Unknown("Further sessions of the file: there are too many to examine separately.");
  if (facts.too_large > 0)
    examiner.Unknown(
        fmt::format("What is in {}: too large to be looked at.", Count(facts.too_large, "packet")));
  if (facts.config_bytes_left_out > 0)
    examiner.Unknown(fmt::format("The trace config: it has {}, too large for a config.",
                                 HumanSize(facts.config_bytes_left_out)));
  else if (!facts.config)
    examiner.Unknown(fmt::format("The trace config: it is not in the {}.",
                                 examiner.is_of_log() ? "log" : "trace"));
}

/// Of a log: what became of the data, by the chunks that it commits.
std::string EmptyLogCause(const TraceFacts& facts) {
  uint64_t chunks = 0;
  for (const TraceBuffer& buffer : facts.buffers)
    chunks += buffer.stats.chunks_written + buffer.stats.chunks_discarded;
  if (chunks == 0) return "No chunk of the log went into a buffer.";
  return fmt::format("The log has {}, and no packet of {} was read.", Count(chunks, "chunk"),
                     chunks == 1 ? "it" : "them");
}

void ExamineEmpty(Examiner& examiner) {
  const TraceFacts& facts = examiner.facts;
  Finding& finding = examiner.Add(
      "trace.empty", facts.all.packets == 0
                         ? std::string("The file has no packet at all.")
                         : fmt::format("No producer's packet is in the trace ({} of the service).",
                                       Count(facts.all.packets, "packet")));
  finding.weight = UINT64_MAX;
  const ServiceStats& service = facts.service;
  if (examiner.is_of_log()) {
    finding.what = "No packet of a producer is read in the replay.";
    finding.cause = EmptyLogCause(facts);
    finding.proof = "The replay of the log, packet by packet.";
    finding.remedy =
        "Look whether the log was recorded up to the session's end, and from its beginning.";
    return;
  }
  if (facts.all.packets == 0)
    finding.remedy = "Look whether the session began, and whether the file was copied whole.";
  if (facts.stats_packets == 0) {
    finding.cause = "Not known: the statistics of the service are missing, too.";
  } else if (service.producers_connected == 0) {
    finding.cause = "No producer was connected.";
  } else if (service.data_sources_registered == 0) {
    finding.cause = "Producers were connected, but none had registered a data source.";
  } else if (service.data_sources_seen == 0) {
    finding.cause = "No registered data source has a name that the config asks for.";
  } else {
    finding.cause =
        "Data sources were started, and wrote nothing that was read: they were idle, their data "
        "was never committed or flushed, or it was lost in the buffers.";
  }
  if (facts.stats_packets > 0)
    finding.proof = fmt::format(
        "The service counts {} connected, {} registered, {} started (in all sessions).",
        Count(service.producers_connected, "producer"),
        Count(service.data_sources_registered, "data source"), service.data_sources_seen);
}

}  // namespace

void ExamineFile(Examiner& examiner) {
  const TraceFacts& facts = examiner.facts;
  ExamineDamage(examiner);
  ExamineEnd(examiner);
  ExamineSessions(examiner);
  if (facts.data_packets == 0) ExamineEmpty(examiner);
  if (facts.filter_errors > 0)
    examiner.Add("trace.filter_errors", fmt::format("The filter could not read {}.",
                                                    Count(facts.filter_errors, "packet")));
}

void ExamineLostTrace(Examiner& examiner) {
  ExamineDamage(examiner);
  Finding& finding = examiner.Add(
      "trace.lost_packets",
      fmt::format("The file has {}: those that a session lost, and events on what became of them.",
                  Count(examiner.facts.all.packets, "packet")));
  finding.cause = "It was written by 'ringscope replay --lost'.";
  finding.proof = "system_info, the first packet of the file, names ringscope and what it wrote.";
  examiner.Unknown("What is wrong with the session: its log or its trace shows it, not this file.");
}

}  // namespace ringscope
