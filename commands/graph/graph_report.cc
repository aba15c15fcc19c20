#include "commands/graph/graph_report.h"

namespace ringscope {

void ListFields(JsonFieldWriter& io, const PatchTally& patches) {
  io("applied", patches.applied, "late", patches.late, "missed", patches.missed, "refused",
     patches.refused);
}

void ListTally(JsonFieldWriter& io, const FateCounts& packets) {
  io.Object("packets", [&](auto& fates) {
    for (const FateRow& row : kEnumRows<Fate>)
      if (packets[row.value].packets > 0) fates(row.name, packets[row.value]);
  });
}

void ListSums(JsonFieldWriter& io, const ChunkSums& sums) {
  io("bytes", sums.bytes, "fragments", sums.fragments, "fragments_abandoned", sums.abandoned,
     "invalid_packets", sums.invalid, "recommits", sums.recommits, "relocations", sums.relocations,
     "patches", sums.patches, "loss_bits", LossBitsToString(sums.loss_bits));
  io("writer_loss_bits", LossBitsToString(sums.writer_bits));
  ListTally(io, sums.packets);
  io.Object("packets_evicted_by", [&](auto& evictors) {
    for (const auto& [sequence, count] : sums.evictors.packets)
      evictors(ToString(sequence).c_str(), count);
  });
  io("packets_evicted_by_others", sums.evictors.others);
}

void ListFields(JsonFieldWriter& io, const ChunkNode& node) {
  io("kind", "chunk", "chunk", static_cast<uint32_t>(node.id), "fate", node.fate, "committed",
     node.committed, "read", node.read, "left", node.left, "out_of_order", node.out_of_order,
     "size_in_buffer", node.outer_size, "continues_from_previous", node.continues_previous,
     "continues_on_next", node.continues_on_next, "needs_patching",
     (node.flags & kNeedsPatching) != 0, "complete", node.complete, "origin", node.origin, "end",
     node.end, "evicted_by", node.culprit, "discarded", node.discarded, "refused", node.refused,
     "stall", node.stall, "stalled_since", node.stalled, "reads_stalled", node.stalls, "unpatched",
     node.unpatched, "recommit_refused", node.recommit_refused, "fragments_read",
     node.read_fragments);
  ListSums(io, node);
}

void ListFields(JsonFieldWriter& io, const ChunkRun& run) {
  io("kind", "run", "first", static_cast<uint32_t>(run.first), "last",
     static_cast<uint32_t>(run.last), "chunks", run.chunks);
  io.Object("fates", [&](auto& fates) {
    for (size_t i = 0; i < kChunkFates; ++i)
      if (run.by_fate[i] > 0) fates(Name(static_cast<ChunkFate>(i)), run.by_fate[i]);
  });
  io("first_committed", run.from, "last_committed", run.to, "discarded", run.discarded, "refused",
     run.refused, "unpatched", run.unpatched, "aborted", run.aborted, "broken", run.broken);
  ListSums(io, run);
}

void ListFields(JsonFieldWriter& io, const ChunkGap& gap) {
  io("kind", "gap", "first", static_cast<uint32_t>(gap.first), "last",
     static_cast<uint32_t>(gap.last));
}

void ListFields(JsonFieldWriter& io, const SequenceGraph& graph) {
  io("buffer", graph.buffer, "generation", graph.generation, "sequence", graph.sequence, "chunks",
     graph.chunks, "bytes", graph.bytes, "orphan_patches", graph.orphan_patches);
  ListTally(io, graph.packets);
}

namespace {

/// The column beside the chunks: packets that continue from one to the next.
std::string LinkSign(Link before, Link after) {
  const auto continues = [](Link link) { return link == Link::kRead || link == Link::kNotRead; };
  const bool from = continues(before), on = continues(after);
  return std::string(from ? (on ? "┤" : "┘") : (on ? "┐" : " ")) +
         (after == Link::kTorn ? "!" : " ");
}

/// @param used gets the tones that the table has
std::string TableText(const SequenceGraph& graph, std::optional<uint64_t> start_ns,
                      std::set<Tone>& used, size_t width) {
  Table table({{"", Align::kLeft},
               {"chunk", Align::kLeft},
               {"committed", Align::kRight},
               {"bytes", Align::kRight},
               {"fragments", Align::kRight},
               {"fate", Align::kLeft}});
  Link before = Link::kNone;
  for (size_t i = 0; i < graph.items.size(); ++i) {
    const GraphRow row = RowOf(graph.items[i], start_ns);
    const Link after = graph.LinkAfter(i);
    if (row.tone) used.insert(*row.tone);
    const std::string sign = row.tone ? RowOf(*row.tone).sign + LinkSign(before, after) : "┄";
    table.AddRow({sign, row.ids(), row.committed, row.bytes, row.fragments, row.fate});
    before = after;
  }
  return table.Text(2, width);
}

}  // namespace

std::string GraphReport::HeadingText(const SequenceGraph& graph) const {
  std::string text =
      fmt::format("{} in {}", notes.NameOf(graph.sequence), notes.NameOf(graph.buffer));
  if (const BufferOutcome* const buffer = outcome.Find(graph.buffer))
    text += fmt::format(
        " ({}, {}, {}{})", buffer->engine, HumanSize(buffer->size), Name(buffer->policy),
        graph.generation > 0 ? fmt::format(", number {} of this id", graph.generation + 1) : "");
  return text;
}

std::string GraphReport::SummaryText(const SequenceGraph& graph) {
  std::string text = fmt::format("{}, {}, {}", Count(graph.chunks, "chunk"), HumanSize(graph.bytes),
                                 PacketsText(graph.packets));
  if (graph.orphan_patches > 0)
    text += fmt::format("; {} for chunks that are not in the log",
                        Count(graph.orphan_patches, "patch"));
  return text;
}

void GraphReport::Take(std::vector<SequenceGraph> all) {
  graphs = std::move(all);
  SortByLoss(graphs);
  sequences = graphs.size();
  for (const SequenceGraph& graph : graphs) {
    with_losses += graph.lost().packets > 0 ? 1 : 0;
    waiting += graph.packets[Fate::kStalled].packets;
    unread += graph.packets[Fate::kReadable].packets;
    bool is_flagged = false;
    for (const GraphItem& item : graph.items)
      std::visit(Overloaded{[&](const ChunkGap& gap) { missing_ids += gap.last - gap.first + 1; },
                            [&](const ChunkNode& node) { is_flagged |= node.writer_bits != 0; },
                            [&](const ChunkRun& run) {
                              is_flagged |= run.writer_bits != 0;
                              missing_ids += run.missing();
                            }},
                 item);
    with_flags += is_flagged ? 1 : 0;
  }
}

std::string GraphReport::ClosingText() const {
  if (sequences == 0) return "No sequence committed anything.";
  std::vector<std::string> open;
  const auto add = [&](uint64_t count, const char* noun, const char* one, const char* many) {
    if (count > 0) open.push_back(Count(count, noun) + (count == 1 ? one : many));
  };
  add(waiting, "packet", " waits in a buffer", " wait in a buffer");
  add(unread, "packet", " was not read", " were not read");
  add(missing_ids, "chunk id", " is missing", " are missing");
  add(with_flags, "writer", " reports losses", " report losses");
  if (const uint64_t events = KernelLosses(outcome.ftrace).count.packets; events > 0)
    open.push_back("the kernel lost " + Count(events, "event"));
  if (graphs.size() == sequences)
    return with_losses > 0 ? ""
           : open.empty()  ? "No packet was lost."
                           : fmt::format("No packet of the log was lost, but {}.", Joined(open));
  return fmt::format(
      "{} of {} shown, {}. --seq P:W shows another.", WithCommas(graphs.size()),
      Count(sequences, "sequence"),
      with_losses > 0
          ? fmt::format("the worst first; packets were lost in {}", WithCommas(with_losses))
          : fmt::format("the largest first; {}",
                        open.empty() ? "no packet was lost in any" : Joined(open)));
}

std::string GraphText(const GraphReport& report, size_t width) {
  std::string text;
  std::set<Tone> used;
  for (const SequenceGraph& graph : report.graphs)
    text += "\n" + Wrap(report.HeadingText(graph), size_t{0}, width) + "\n" +
            Wrap(GraphReport::SummaryText(graph), size_t{2}, width) + "\n\n" +
            TableText(graph, report.outcome.first_time_ns, used, width);
  std::vector<std::string> legend;
  for (const Tone tone : used)
    legend.push_back(fmt::format("{} {}", RowOf(tone).sign, RowOf(tone).text));
  legend.emplace_back("┐┤┘ a packet continues in the next chunk");
  legend.emplace_back("! broken: the next chunk does not continue it");
  text += "\n";
  if (!report.graphs.empty()) text += Wrap(Joined(legend, "; "), size_t{0}, width) + "\n";
  const std::string closing = report.ClosingText();
  return closing.empty() ? text : text + Wrap(closing, size_t{0}, width) + "\n";
}

Json GraphJson(const GraphReport& report) {
  Json graphs = Json::array();
  for (const SequenceGraph& graph : report.graphs) {
    Json& json = graphs.emplace_back(FieldsToJson(graph));
    json["name"] = Printable(report.notes.NameOf(graph.sequence));
    json["items"] = Json::array();
    for (size_t i = 0; i < graph.items.size(); ++i) {
      Json item = std::visit([](const auto& value) { return FieldsToJson(value); }, graph.items[i]);
      item["link_to_next"] = Name(graph.LinkAfter(i));
      json["items"].push_back(std::move(item));
    }
  }
  return {{"sequences", report.sequences},
          {"sequences_with_losses", report.with_losses},
          {"packets_waiting", report.waiting},
          {"packets_unread", report.unread},
          {"chunk_ids_missing", report.missing_ids},
          {"sequences_flagged_by_writers", report.with_flags},
          {"graphs", std::move(graphs)}};
}

}  // namespace ringscope
