#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "commands/graph/graph_report.h"
#include "commands/session/session_view.h"
#include "core/perfetto/data_loss.h"
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

uint64_t PacketsOf(const ChunkSums& sums, Fate fate) {
  const auto found = sums.packets.find(fate);
  return found == sums.packets.end() ? 0 : found->second.packets;
}

/// @param fate of the chunk, or of all chunks of a run
Tone ToneOf(ChunkFate fate, const ChunkSums& sums) {
  const bool is_folded = fate == ChunkFate::kOverwritten && PacketsOf(sums, Fate::kFolded) > 0 &&
                         PacketsOf(sums, Fate::kOverwritten) == 0;
  return is_folded ? Tone::kFolded : RowOf(fate).tone;
}

/// Parts of a sentence; those with a count of 0 are left out.
class Remarks {
 public:
  void AddIf(bool applies, std::string text) {
    if (applies) texts_.push_back(std::move(text));
  }
  /// "2 re-commits MORE"
  void AddCount(uint64_t count, const char* noun, const char* more = "") {
    AddIf(count > 0, Count(count, noun) + more);
  }
  /// Adds the sums that chunks and runs share. `own` adds those that only one of them has.
  template <typename AddOwn>
  void AddSums(const ChunkSums& sums, const AddOwn& own) {
    AddCount(PacketsOf(sums, Fate::kFolded), "packet", " folded into a state (ProtoVM)");
    AddCount(sums.patches.late, "patch", " too late");
    AddCount(sums.patches.missed, "patch", " missed");
    AddCount(sums.patches.refused, "patch", " outside of the chunk");
    own();
    AddCount(sums.abandoned, "fragment", " abandoned");
    AddCount(sums.invalid, "packet", " rejected by the service");
    AddIf(sums.loss_bits == kLossPresent, "flagged");
    AddIf(sums.loss_bits > kLossPresent, "flagged '" + LossBitsText(sums.loss_bits) + "'");
    AddIf(sums.writer_bits != 0, "flagged by its writer '" + LossBitsText(sums.writer_bits) + "'");
    AddCount(sums.patches.applied, "patch", " applied");
  }
  std::string After(const std::string& text) const {
    return texts_.empty() ? text : text + "; " + Joined(texts_, "; ");
  }

 private:
  std::vector<std::string> texts_;
};

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
  Remarks remarks;
  remarks.AddIf(node.origin == Origin::kScraped && node.complete, "scraped first");
  remarks.AddSums(node, [&] {
    remarks.AddIf(node.out_of_order, "committed out of order, after a newer one");
    remarks.AddIf(node.unpatched && node.patches.late == 0, "a patch is missing");
    if (node.stalls > 0)
      remarks.AddIf(true, fmt::format("stalled {} from {}", Count(node.stalls, "read"),
                                      AtText(*node.stalled, start_ns)));
    remarks.AddIf(!node.complete, "only scraped, never completed");
    remarks.AddCount(node.recommits, "re-commit");
    if (node.recommit_refused)
      remarks.AddIf(true,
                    std::string("a re-commit refused: ") + RowOf(*node.recommit_refused).text);
    remarks.AddIf(node.relocations > 0, "moved to the write cursor");
    remarks.AddIf(node.end == ChunkEnd::kAborted, "its writer aborted a packet");
    remarks.AddIf(node.end == ChunkEnd::kBroken, "ends in an invalid size");
  });
  return {node.id,
          node.id,
          ToneOf(node.fate, node),
          AtText(node.committed, start_ns),
          WithCommas(node.bytes),
          WithCommas(node.fragments),
          remarks.After(FateText(node, start_ns))};
}

GraphRow RowOf(const ChunkRun& run, std::optional<uint64_t> start_ns) {
  Remarks remarks;
  remarks.AddSums(run, [&] {
    remarks.AddCount(run.unpatched, "chunk", " left unpatched");
    remarks.AddCount(run.recommits, "re-commit");
    remarks.AddIf(run.relocations > 0, WithCommas(run.relocations) + " moved");
    remarks.AddCount(run.aborted, "aborted packet");
    remarks.AddCount(run.broken, "invalid size");
    remarks.AddCount(run.missing(), "id", " missing");
  });
  return {run.first,
          run.last,
          ToneOf(run),
          AtText(run.from, start_ns),
          WithCommas(run.bytes),
          WithCommas(run.fragments),
          remarks.After(FateText(run))};
}

GraphRow RowOf(const ChunkGap& gap, std::optional<uint64_t>) {
  GraphRow row{.first = gap.first, .last = gap.last};
  row.fate = fmt::format("{} missing: {} never committed", row.ids(),
                         Count(gap.last - gap.first + 1, "chunk"));
  return row;
}

}  // namespace

std::string PacketsText(const FateTally& packets) {
  std::vector<std::string> parts;
  uint64_t total = 0;
  for (const auto& [fate, count] : packets) {
    if (count.packets == 0 || fate == Fate::kWriterDropped) continue;
    total += count.packets;
    parts.push_back(WithCommas(count.packets) + " " + FateText(fate));
  }
  const auto dropped = packets.find(Fate::kWriterDropped);
  const std::string places = dropped == packets.end()
                                 ? ""
                                 : fmt::format("; its writer dropped packets at {}",
                                               Count(dropped->second.packets, "place"));
  if (total == 0) return "no packets" + places;
  if (parts.size() == 1)
    return Count(total, "packet") + parts.front().substr(parts.front().find(' ')) + places;
  return Count(total, "packet") + ": " + Joined(parts) + places;
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
