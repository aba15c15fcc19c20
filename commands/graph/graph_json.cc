
#include "commands/graph/graph_report.h"
#include "commands/replays/session_reads.h"
#include "commands/replays/verdict_words.h"
#include "commands/shell/text.h"
#include "commands/view/json.h"
#include "core/perfetto/data_loss.h"
#include "core/session/buffer_event.h"

namespace ringscope {
namespace {

Json TallyJson(const FateTally& packets) {
  Json json = Json::object();
  for (const auto& [fate, count] : packets) json[Name(fate)] = CountJson(count);
  return json;
}

Json PatchesJson(const PatchTally& patches) {
  return {{"applied", patches.applied},
          {"late", patches.late},
          {"missed", patches.missed},
          {"refused", patches.refused}};
}

Json ReasonJson(const std::optional<DiscardReason>& reason) {
  return reason ? Json(Name(*reason)) : Json();
}

Json RefusalJson(const std::optional<Refusal>& refusal) {
  return refusal ? Json(Name(*refusal)) : Json();
}

Json EvictorsJson(const EvictorTally& evictors) {
  Json json = Json::object();
  for (const auto& [sequence, count] : evictors.packets) json[ToString(sequence)] = count;
  return json;
}

Json ItemJson(const ChunkNode& node) {
  return {{"kind", "chunk"},
          {"chunk", static_cast<uint32_t>(node.id)},
          {"fate", Name(node.fate)},
          {"committed", MomentJson(node.committed)},
          {"left", node.left ? MomentJson(*node.left) : Json()},
          {"bytes", node.bytes},
          {"size_in_buffer", node.outer_size},
          {"fragments", node.fragments},
          {"continues_from_previous", node.continues_previous()},
          {"continues_on_next", node.continues_on_next()},
          {"needs_patching", (node.flags & kNeedsPatching) != 0},
          {"complete", node.complete},
          {"origin", Name(node.origin)},
          {"end", Name(node.end)},
          {"evicted_by", node.culprit ? Json(ToString(*node.culprit)) : Json()},
          {"discarded", ReasonJson(node.discarded)},
          {"refused", RefusalJson(node.refused)},
          {"stall", node.stall ? Json(Name(*node.stall)) : Json()},
          {"stalled_since", node.stalled ? MomentJson(*node.stalled) : Json()},
          {"reads_stalled", node.stalls},
          {"patches", PatchesJson(node.patches)},
          {"unpatched", node.unpatched},
          {"recommits", node.recommits},
          {"recommit_refused", ReasonJson(node.recommit_refused)},
          {"relocations", node.relocations},
          {"fragments_read", node.read_fragments},
          {"fragments_given_up", node.abandoned_fragments},
          {"invalid_packets", node.invalid},
          {"loss_bits", LossBitsToString(node.loss_bits)},
          {"packets", TallyJson(node.packets)},
          {"packets_evicted_by", EvictorsJson(node.evictors)}};
}

Json ItemJson(const ChunkRun& run) {
  Json fates = Json::object();
  for (size_t i = 0; i < kChunkFates; ++i)
    if (run.by_fate[i] > 0) fates[Name(static_cast<ChunkFate>(i))] = run.by_fate[i];
  return {{"kind", "run"},
          {"first", static_cast<uint32_t>(run.first)},
          {"last", static_cast<uint32_t>(run.last)},
          {"chunks", run.chunks},
          {"fates", std::move(fates)},
          {"first_committed", MomentJson(run.from)},
          {"last_committed", MomentJson(run.to)},
          {"bytes", run.bytes},
          {"fragments", run.fragments},
          {"packets_evicted_by", EvictorsJson(run.evictors)},
          {"packets_evicted_by_others", run.evictors.others},
          {"discarded", ReasonJson(run.discarded)},
          {"refused", RefusalJson(run.refused)},
          {"patches", PatchesJson(run.patches)},
          {"unpatched", run.unpatched},
          {"recommits", run.recommits},
          {"relocations", run.relocations},
          {"fragments_given_up", run.abandoned},
          {"invalid_packets", run.invalid},
          {"aborted", run.aborted},
          {"broken", run.broken},
          {"loss_bits", LossBitsToString(run.loss_bits)},
          {"packets", TallyJson(run.packets)}};
}

Json ItemJson(const ChunkGap& gap) {
  return {{"kind", "gap"},
          {"first", static_cast<uint32_t>(gap.first)},
          {"last", static_cast<uint32_t>(gap.last)}};
}

Json SequenceJson(const SequenceGraph& graph, const SessionNotes& notes) {
  Json json = {{"buffer", Raw(graph.buffer)},
               {"generation", graph.generation},
               {"sequence", ToString(graph.sequence)},
               {"name", Printable(notes.NameOf(graph.sequence))},
               {"chunks", graph.chunks},
               {"bytes", graph.bytes},
               {"packets", TallyJson(graph.packets)},
               {"orphan_patches", graph.orphan_patches}};
  json["items"] = Json::array();
  for (size_t i = 0; i < graph.items.size(); ++i) {
    Json item = std::visit([](const auto& value) { return ItemJson(value); }, graph.items[i]);
    item["link_to_next"] = Name(graph.LinkAfter(i));
    json["items"].push_back(std::move(item));
  }
  return json;
}

}  // namespace

Json GraphJson(const GraphReport& report) {
  Json json = {{"input", report.outcome.path},
               {"session", report.outcome.session},
               {"reads", ReadsJson(report.outcome.reads)},
               {"sequences", report.sequences},
               {"sequences_with_losses", report.with_losses}};
  if (report.outcome.clone) json["clone"] = *report.outcome.clone;
  if (!report.outcome.verdicts.empty()) json["inexact"] = VerdictsJson(report.outcome.verdicts);
  json["graphs"] = Json::array();
  for (const SequenceGraph& graph : report.graphs)
    json["graphs"].push_back(SequenceJson(graph, report.notes));
  return json;
}

}  // namespace ringscope
