#include "commands/graph/graph_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "commands/shell/text.h"
#include "core/perfetto/data_loss.h"
#include "core/session/buffer_event.h"

namespace ringscope {
namespace {

/// Culprits that are named; the rest are "others".
constexpr size_t kNamedCulprits = 3;

const char* InWords(Refusal refusal) {
  switch (refusal) {
    case Refusal::kNoSharedMemory:
      return "no shared memory yet";
    case Refusal::kNoSuchPage:
      return "no such page";
    case Refusal::kNoSuchBuffer:
      return "no such buffer";
    case Refusal::kMayNotWrite:
      return "may not write to this buffer";
  }
  return "";
}

const char* InWords(StallReason reason) {
  switch (reason) {
    case StallReason::kNeedsPatch:
      return "waits for a patch";
    case StallReason::kMissingChunk:
      return "waits for the next chunk";
    case StallReason::kIncomplete:
      return "waits for its writer to complete it";
  }
  return "";
}

const char* InWords(ChunkFate fate) {
  switch (fate) {
    case ChunkFate::kRead:
      return "read";
    case ChunkFate::kPartlyRead:
      return "partly read";
    case ChunkFate::kOverwritten:
      return "overwritten";
    case ChunkFate::kDiscarded:
      return "discarded";
    case ChunkFate::kRefused:
      return "refused by the service";
    case ChunkFate::kAbandoned:
      return "abandoned";
    case ChunkFate::kReadable:
      return "still readable";
    case ChunkFate::kStalled:
      return "stalled";
    case ChunkFate::kUnknown:
      return "not reported by the engine";
    case ChunkFate::kMoved:
      return "moved into a clone";
    case ChunkFate::kCleared:
      return "cleared for a clone";
  }
  return "";
}

void AddPatches(uint64_t count, const char* what, std::vector<std::string>& remarks) {
  if (count == 0) return;
  remarks.push_back((count == 1 ? "1 patch " : WithCommas(count) + " patches ") + what);
}

/// Patches that did not do what they were for.
void AddFailedPatches(const PatchTally& patches, std::vector<std::string>& remarks) {
  AddPatches(patches.late, "too late", remarks);
  AddPatches(patches.missed, "missed", remarks);
  AddPatches(patches.refused, "outside of the chunk", remarks);
}

}  // namespace

const char* Meaning(Tone tone) {
  constexpr std::array<const char*, kTones> kMeanings = {"read",
                                                         "still readable",
                                                         "stalled",
                                                         "partly read, or abandoned",
                                                         "overwritten, discarded or refused",
                                                         "not reported"};
  return kMeanings[static_cast<size_t>(tone)];
}

Tone ToneOf(ChunkFate fate) {
  switch (fate) {
    case ChunkFate::kRead:
      return Tone::kGood;
    case ChunkFate::kReadable:
    case ChunkFate::kMoved:
      return Tone::kUnread;
    case ChunkFate::kStalled:
      return Tone::kWaiting;
    case ChunkFate::kPartlyRead:
    case ChunkFate::kAbandoned:
      return Tone::kPartly;
    case ChunkFate::kOverwritten:
    case ChunkFate::kDiscarded:
    case ChunkFate::kRefused:
    case ChunkFate::kCleared:
      return Tone::kLost;
    case ChunkFate::kUnknown:
      return Tone::kUnknown;
  }
  return Tone::kUnknown;
}

Tone ToneOf(const ChunkRun& run) {
  if (run.fate()) return ToneOf(*run.fate());
  Tone worst = Tone::kGood;
  for (size_t i = 0; i < kChunkFates; ++i)
    if (run.by_fate[i] > 0) worst = std::max(worst, ToneOf(static_cast<ChunkFate>(i)));
  return worst == Tone::kLost ? Tone::kPartly : worst;
}

std::string GraphClock::At(const LogMoment& moment) const {
  if (!moment.time_ns || !start_ns_)
    return fmt::format("record {}", WithCommas(moment.record.value_or(0)));
  const uint64_t ns = *moment.time_ns > *start_ns_ ? *moment.time_ns - *start_ns_ : 0;
  return fmt::format("{}.{:06} s", ns / 1'000'000'000, ns % 1'000'000'000 / 1000);
}

std::string IdText(uint64_t id) { return fmt::format("#{}", static_cast<uint32_t>(id)); }

std::string RangeText(uint64_t first, uint64_t last) {
  return first == last ? IdText(first) : IdText(first) + "-" + IdText(last);
}

std::string PacketsText(const FateTally& packets) {
  std::vector<std::string> parts;
  uint64_t total = 0;
  for (const auto& [fate, count] : packets) {
    if (count.packets == 0) continue;
    total += count.packets;
    std::string name = Name(fate);
    std::replace(name.begin(), name.end(), '_', ' ');
    parts.push_back(WithCommas(count.packets) + " " + name);
  }
  if (total == 0) return "no packets";
  if (parts.size() == 1)
    return Count(total, "packet") + parts.front().substr(parts.front().find(' '));
  return Count(total, "packet") + ": " + Joined(parts);
}

std::string ShortFate(const ChunkNode& node) {
  std::string text = InWords(node.fate);
  if (node.fate == ChunkFate::kStalled)
    text = node.stall ? InWords(*node.stall) : "after a stalled chunk";
  return text;
}

std::string ShortFate(const ChunkRun& run) {
  if (run.fate()) return std::string("all ") + InWords(*run.fate());
  std::vector<std::string> parts;
  for (size_t i = 0; i < kChunkFates; ++i) {
    if (run.by_fate[i] > 0)
      parts.push_back(WithCommas(run.by_fate[i]) + " " + InWords(static_cast<ChunkFate>(i)));
  }
  return Joined(parts);
}

std::string CulpritText(const ChunkNode& node) {
  const bool is_lost = node.fate == ChunkFate::kOverwritten || node.fate == ChunkFate::kPartlyRead;
  return is_lost && node.culprit ? ToString(*node.culprit) : std::string();
}

std::string CulpritText(const ChunkRun& run) {
  std::vector<std::pair<uint64_t, SequenceKey>> worst;
  uint64_t total = run.evictors.others, others = total;
  for (const auto& [sequence, count] : run.evictors.packets) {
    total += count;
    worst.emplace_back(count, sequence);
  }
  if (total == 0) return "";
  std::ranges::stable_sort(worst, std::ranges::greater(), &decltype(worst)::value_type::first);
  std::vector<std::string> parts;
  for (const auto& [count, sequence] : worst) {
    if (parts.size() == kNamedCulprits)
      others += count;
    else
      parts.push_back(fmt::format("{} {}", ShareText(count, total), ToString(sequence)));
  }
  if (others > 0) parts.push_back(fmt::format("{} others", ShareText(others, total)));
  return Joined(parts);
}

std::string FateText(const ChunkNode& node, const GraphClock& clock) {
  std::string text = (node.fate == ChunkFate::kStalled ? "stalled: " : "") + ShortFate(node);
  if (const std::string culprit = CulpritText(node); !culprit.empty()) {
    text += node.fate == ChunkFate::kPartlyRead ? ", rest overwritten by " : " by ";
    text += culprit;
  }
  if (node.left) text += " at " + clock.At(*node.left);
  if (node.discarded) text += std::string(": ") + InWords(*node.discarded);
  if (node.refused) text += std::string(": ") + InWords(*node.refused);
  return text;
}

std::vector<std::string> Remarks(const ChunkNode& node, const GraphClock& clock) {
  std::vector<std::string> remarks;
  AddFailedPatches(node.patches, remarks);
  if (node.unpatched) remarks.emplace_back("a patch is missing");
  if (node.stalls > 0) {
    remarks.push_back(
        fmt::format("stalled {} from {}", Count(node.stalls, "read"), clock.At(*node.stalled)));
  }
  if (!node.complete) remarks.emplace_back("only scraped, never completed");
  if (node.recommits > 0) remarks.push_back(Count(node.recommits, "re-commit"));
  if (node.recommit_refused)
    remarks.push_back(std::string("a re-commit refused: ") + InWords(*node.recommit_refused));
  if (node.relocations > 0) remarks.emplace_back("moved to the write cursor");
  if (node.end == ChunkEnd::kAborted) remarks.emplace_back("its writer aborted a packet");
  if (node.end == ChunkEnd::kBroken) remarks.emplace_back("ends in an invalid size");
  if (node.abandoned_fragments > 0)
    remarks.push_back(Count(node.abandoned_fragments, "fragment") + " abandoned");
  if (node.invalid > 0)
    remarks.push_back(Count(node.invalid, "packet") + " rejected by the service");
  if (node.loss_bits != 0) remarks.push_back("the trace shows " + LossBitsToString(node.loss_bits));
  AddPatches(node.patches.applied, "applied", remarks);
  return remarks;
}

std::string FlagsText(uint8_t flags) {
  std::vector<std::string> parts;
  for (const FlagName& known : kFlagNames)
    if ((flags & known.flag) != 0) parts.emplace_back(known.name);
  return Joined(parts);
}

std::string FateText(const ChunkRun& run) {
  std::string text = ShortFate(run);
  if (const std::string culprits = CulpritText(run); !culprits.empty())
    text += ", packets for " + culprits;
  if (run.discarded) text += std::string(": ") + InWords(*run.discarded);
  if (run.refused) text += std::string(": ") + InWords(*run.refused);
  return text;
}

std::vector<std::string> Remarks(const ChunkRun& run) {
  std::vector<std::string> remarks;
  AddFailedPatches(run.patches, remarks);
  if (run.unpatched > 0) remarks.push_back(Count(run.unpatched, "chunk") + " left unpatched");
  if (run.recommits > 0) remarks.push_back(Count(run.recommits, "re-commit"));
  if (run.relocations > 0) remarks.push_back(WithCommas(run.relocations) + " moved");
  if (run.abandoned > 0) remarks.push_back(Count(run.abandoned, "fragment") + " abandoned");
  if (run.invalid > 0) remarks.push_back(Count(run.invalid, "packet") + " rejected by the service");
  if (run.aborted > 0) remarks.push_back(Count(run.aborted, "aborted packet"));
  if (run.broken > 0) remarks.push_back(Count(run.broken, "invalid size"));
  if (run.missing() > 0) remarks.push_back(Count(run.missing(), "id") + " missing");
  if (run.loss_bits != 0) remarks.push_back("the trace shows " + LossBitsToString(run.loss_bits));
  AddPatches(run.patches.applied, "applied", remarks);
  return remarks;
}

std::string GapText(const ChunkGap& gap) {
  const uint64_t ids = gap.last - gap.first + 1;
  return fmt::format("{} missing: {} never committed", RangeText(gap.first, gap.last),
                     Count(ids, "chunk"));
}

const char* LinkText(Link link) {
  switch (link) {
    case Link::kNone:
      return "";
    case Link::kRead:
      return "packet continues: read";
    case Link::kContinues:
      return "packet continues: not read";
    case Link::kBroken:
      return "packet broken: the next chunk does not continue it";
  }
  return "";
}

}  // namespace ringscope
