// Data sources that the config names, and what is in the trace of them.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "core/base/text.h"
#include "core/doctor/examiner.h"
#include "core/perfetto/fields.h"

namespace ringscope {
namespace {

using proto::TracePacket;

struct SourceContents {
  std::string_view source;
  std::array<uint32_t, 3> contents;  // fields of TracePacket that it writes; 0: no more
};
constexpr std::array<SourceContents, 16> kContents = {{
    {"linux.ftrace", {TracePacket::kFtraceEvents, TracePacket::kFtraceStats}},
    {"linux.process_stats", {TracePacket::kProcessTree, TracePacket::kProcessStats}},
    {"linux.sys_stats", {7}},
    {"linux.inode_file_map", {4}},
    {"linux.perf", {66}},
    {"linux.system_info", {67, 130}},
    {"track_event", {TracePacket::kTrackEvent, TracePacket::kTrackDescriptor}},
    {"org.chromium.trace_event", {5, TracePacket::kTrackEvent, TracePacket::kTrackDescriptor}},
    {"android.log", {39}},
    {"android.power", {38, 40, 77}},
    {"android.packages_list", {TracePacket::kPackagesList}},
    {"android.heapprofd", {37}},
    {"android.statsd", {84}},
    {"android.game_interventions", {83}},
    {"gpu.counters", {52}},
    {"gpu.renderstages", {53}},
}};

/// What the service tells of a data source's start; nothing is known of single ones.
std::string BrokenLink(const Examiner& examiner) {
  const TraceFacts& facts = examiner.facts;
  const ServiceStats& service = facts.service;
  if (examiner.is_of_log() &&
      (service.producers_connected == 0 || service.data_sources_registered == 0 ||
       service.data_sources_seen == 0))
    return "Which link is broken is not known: the log does not show it.";
  if (facts.stats_packets == 0)
    return "Which link is broken is not known: there are no statistics.";
  if (service.producers_connected == 0) return "No producer was connected to the service.";
  if (service.data_sources_registered == 0) return "No producer had registered a data source.";
  if (service.data_sources_seen == 0)
    return "The service started no data source at all: no registered one has the name and passes "
           "the filters.";
  return fmt::format(
      "The service started {} (in all sessions). Either this was not among them (name, filter, "
      "permission), or it wrote nothing, or what it wrote was lost.",
      Count(service.data_sources_seen, "data source"));
}

}  // namespace

void ExamineSources(Examiner& examiner) {
  const TraceFacts& facts = examiner.facts;
  if (!examiner.has_config() || facts.data_packets == 0) return;
  size_t judged = 0, absent = 0;
  for (size_t i = 0; i < examiner.config.sources.size(); ++i) {
    const ConfiguredSource& source = examiner.config.sources[i];
    const auto known = std::ranges::find(kContents, source.name, &SourceContents::source);
    if (known == kContents.end()) continue;
    ++judged;
    const bool is_there = std::ranges::any_of(known->contents, [&](uint32_t content) {
      return content != 0 && facts.contents.contains(content);
    });
    if (is_there) continue;
    ++absent;
    Finding& finding = examiner.Add(
        "source.absent", fmt::format("'{}' is in the config, and nothing of it is in the trace.",
                                     Printable(source.name)));
    finding.cause = BrokenLink(examiner);
    finding.where = fmt::format("data_sources[{}], for {}", i,
                                BufferName(examiner, static_cast<size_t>(source.target_buffer)));
    finding.proof = "No packet with the content that this data source writes.";
    finding.remedy = fmt::format(
        "Check that a producer registers exactly the name '{}', that it is connected, and that it "
        "has the permission it needs.",
        Printable(source.name));
  }
  // A sequence that the service lists and that has no packet.
  uint64_t silent = 0;
  for (const TraceSequence& sequence : facts.sequences) silent += sequence.all.packets == 0 ? 1 : 0;
  if (silent > 0) {
    Finding& finding =
        examiner.Add("sequence.lost",
                     fmt::format("{} had written into the buffers, and {} no packet in the trace.",
                                 Count(silent, "sequence"), silent == 1 ? "has" : "have"));
    finding.cause = fmt::format("All that {} wrote was overwritten or lost before it was read.",
                                silent == 1 ? "it" : "they");
    finding.proof = "trace_provenance lists them.";
    finding.weight = silent;
  }
  if (judged > 0 && absent == 0)
    examiner.Well(judged == 1 ? std::string("The configured data source wrote into the trace.")
                              : fmt::format("All {} data sources whose content is known wrote into "
                                            "the trace.",
                                            judged));
}

}  // namespace ringscope
