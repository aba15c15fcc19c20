#include "commands/graph/graph_report.h"
#include "commands/session/session_view.h"
#include "core/session/replay_listener.h"

namespace ringscope {
namespace {

/// "0.714486 s", or "record 17" where the log has no times.
std::string AtText(const LogMoment& moment, std::optional<uint64_t> start_ns) {
  if (!moment.time_ns || !start_ns)
    return fmt::format("record {}", WithCommas(moment.record.value_or(0)));
  const uint64_t ns = *moment.time_ns > *start_ns ? *moment.time_ns - *start_ns : 0;
  return fmt::format("{}.{:06} s", ns / 1'000'000'000, ns % 1'000'000'000 / 1000);
}

/// @param fate of the chunk, or of all chunks of a run
Tone ToneOf(ChunkFate fate, const ChunkSums& sums) {
  const bool is_folded = fate == ChunkFate::kOverwritten &&
                         sums.packets[Fate::kFolded].packets > 0 &&
                         sums.packets[Fate::kOverwritten].packets == 0;
  return is_folded ? Tone::kFolded : RowOf(fate).tone;
}

// Remarks about a chunk or a run of chunks: empty if there is nothing to remark.

std::string If(bool applies, std::string text) { return applies ? std::move(text) : ""; }
/// "2 re-commits MORE"
std::string IfAny(uint64_t count, const char* noun, const char* more = "") {
  return If(count > 0, Count(count, noun) + more);
}
/// "TEXT; 2 re-commits; 1 packet rejected by the service". @param own remarks that only chunks, or
/// only runs, have
std::string WithRemarks(std::string text, const ChunkSums& sums, std::vector<std::string> own) {
  const uint64_t folded = sums.packets[Fate::kFolded].packets;
  own.insert(own.begin(),
             {std::move(text), IfAny(folded, "packet", " folded into a state (ProtoVM)"),
              IfAny(sums.patches.late, "patch", " too late"),
              IfAny(sums.patches.missed, "patch", " missed"),
              IfAny(sums.patches.refused, "patch", " outside of the chunk")});
  own.insert(
      own.end(),
      {IfAny(sums.abandoned, "fragment", " abandoned"),
       IfAny(sums.invalid, "packet", " rejected by the service"),
       If(sums.loss_bits == kLossPresent, "flagged"),
       If(sums.loss_bits > kLossPresent, "flagged '" + LossBitsText(sums.loss_bits) + "'"),
       If(sums.writer_bits != 0, "flagged by its writer '" + LossBitsText(sums.writer_bits) + "'"),
       IfAny(sums.patches.applied, "patch", " applied")});
  std::erase(own, "");
  return Joined(own, "; ");
}

/// ": discarded: REASON", ": refused: REASON"
template <typename Item>
std::string ReasonText(const Item& item) {
  if (item.discarded) return std::string(": ") + RowOf(*item.discarded).text;
  if (item.refused) return std::string(": ") + RowOf(*item.refused).text;
  return {};
}

std::string FateText(const ChunkNode& node, std::optional<uint64_t> start_ns) {
  std::string text = RowOf(node.fate).text;
  if (node.fate == ChunkFate::kStalled)
    text += node.stall ? ": waits for " + WaitsFor(*node.stall, "it") : ": after a stalled chunk";
  if (node.culprit && node.fate == ChunkFate::kOverwritten)
    text += " by " + ToString(*node.culprit);
  if (node.culprit && node.fate == ChunkFate::kPartlyRead)
    text += ", rest overwritten by " + ToString(*node.culprit);
  const bool is_read = node.fate == ChunkFate::kRead && node.read;
  if (is_read || node.left) text += " at " + AtText(is_read ? *node.read : *node.left, start_ns);
  return text + ReasonText(node);
}

/// "2:4 (61%), 2:1 (39%)": the sequences for which most packets were evicted.
std::string EvictorsText(const EvictorTally& evictors) {
  SharesOf worst;
  uint64_t total = evictors.others;
  for (const auto& [sequence, count] : evictors.packets) {
    total += count;
    worst.emplace_back(ToString(sequence), count);
  }
  std::ranges::stable_sort(worst, std::ranges::greater(), &SharesOf::value_type::second);
  return SharesText(worst, total, 3);
}

std::string FateText(const ChunkRun& run) {
  std::vector<std::string> parts;
  for (size_t i = 0; i < kChunkFates; ++i)
    if (run.by_fate[i] > 0)
      parts.push_back(WithCommas(run.by_fate[i]) + " " + kEnumRows<ChunkFate>[i].text);
  std::string text = run.fate() ? std::string("all ") + RowOf(*run.fate()).text : Joined(parts);
  if (const std::string evictors = EvictorsText(run.evictors); !evictors.empty())
    text += ", packets for " + evictors;
  return fmt::format("{}, {}: {}{}", Count(run.chunks, "chunk"), HumanSize(run.bytes), text,
                     ReasonText(run));
}

/// The worst of the chunks'.
Tone ToneOf(const ChunkRun& run) {
  if (run.fate()) return ToneOf(*run.fate(), run);
  Tone worst = Tone::kGood;
  for (size_t i = 0; i < kChunkFates; ++i)
    if (run.by_fate[i] > 0) worst = std::max(worst, kEnumRows<ChunkFate>[i].tone);
  return worst == Tone::kLost ? Tone::kPartly : worst;
}

GraphRow RowOf(const ChunkNode& node, std::optional<uint64_t> start_ns) {
  const bool was_scraped = node.origin == Origin::kScraped && node.complete;
  return {
      node.id,
      node.id,
      ToneOf(node.fate, node),
      AtText(node.committed, start_ns),
      WithCommas(node.bytes),
      WithCommas(node.fragments),
      WithRemarks(
          FateText(node, start_ns) + If(was_scraped, "; scraped first"), node,
          {If(node.out_of_order, "committed out of order, after a newer one"),
           If(node.unpatched && node.patches.late == 0, "a patch is missing"),
           node.stalls == 0 ? ""
                            : fmt::format("stalled {} from {}", Count(node.stalls, "read"),
                                          AtText(*node.stalled, start_ns)),
           If(!node.complete, "only scraped, never completed"), IfAny(node.recommits, "re-commit"),
           node.recommit_refused
               ? fmt::format("a re-commit refused: {}", RowOf(*node.recommit_refused).text)
               : "",
           If(node.relocations > 0, "moved to the write cursor"),
           If(node.end == ChunkEnd::kAborted, "its writer aborted a packet"),
           If(node.end == ChunkEnd::kBroken, "ends in an invalid size")})};
}

GraphRow RowOf(const ChunkRun& run, std::optional<uint64_t> start_ns) {
  return {run.first,
          run.last,
          ToneOf(run),
          AtText(run.from, start_ns),
          WithCommas(run.bytes),
          WithCommas(run.fragments),
          WithRemarks(
              FateText(run), run,
              {IfAny(run.unpatched, "chunk", " left unpatched"), IfAny(run.recommits, "re-commit"),
               If(run.relocations > 0, WithCommas(run.relocations) + " moved"),
               IfAny(run.aborted, "aborted packet"), IfAny(run.broken, "invalid size"),
               IfAny(run.missing(), "id", " missing")})};
}

GraphRow RowOf(const ChunkGap& gap, std::optional<uint64_t>) {
  GraphRow row{.first = gap.first, .last = gap.last};
  row.fate = fmt::format("{} missing: {} never committed", row.ids(),
                         Count(gap.last - gap.first + 1, "chunk"));
  return row;
}

}  // namespace

std::string PacketsText(const FateCounts& packets) {
  std::vector<std::string> parts;
  uint64_t total = 0;
  for (const FateRow& row : kEnumRows<Fate>) {
    const uint64_t count = packets[row.value].packets;
    if (count == 0 || row.value == Fate::kWriterDropped) continue;
    total += count;
    parts.push_back(WithCommas(count) + " " + FateText(row.value));
  }
  const std::string places = IfAny(packets.places(), "place");
  const std::string text =
      total == 0          ? "no packets"
      : parts.size() == 1 ? Count(total, "packet") + parts.front().substr(parts.front().find(' '))
                          : Count(total, "packet") + ": " + Joined(parts);
  return places.empty() ? text : text + "; its writer dropped packets at " + places;
}

std::string GraphRow::ids() const {
  std::string text = fmt::format("#{}", static_cast<uint32_t>(first));
  if (first != last) text += fmt::format("-#{}", static_cast<uint32_t>(last));
  return text;
}

GraphRow RowOf(const GraphItem& item, std::optional<uint64_t> start_ns) {
  return std::visit([&](const auto& each) { return RowOf(each, start_ns); }, item);
}

}  // namespace ringscope
