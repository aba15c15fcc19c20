#include "core/compare/log_diff.h"

#include <fmt/format.h>

#include <numeric>

#include "core/perfetto/data_loss.h"
#include "core/session/buffer_event.h"

namespace ringscope {

std::string Describe(const DiffWhy& why) {
  switch (why.kind) {
    case DiffWhy::Kind::kNotReported:
      return "not returned; the engine does not report why";
    case DiffWhy::Kind::kDiscarded:
      return fmt::format("chunk discarded: {}", InWords(why.discard));
    case DiffWhy::Kind::kEvicted:
      return fmt::format("evicted{}", why.by ? " for " + ToString(*why.by) : "");
    case DiffWhy::Kind::kCleared:
      return fmt::format("cleared on the way to {}{}", why.with ? ToString(*why.with) : "another",
                         why.by ? ", evicted for " + ToString(*why.by) : "");
    case DiffWhy::Kind::kAbandoned:
      return fmt::format("abandoned by a read: {}", LossBitsToString(why.loss_bits));
    case DiffWhy::Kind::kNotFound:
      return "not found in its chunk by a read";
    case DiffWhy::Kind::kHeld:
      return "still in the buffer";
    case DiffWhy::Kind::kWaits:
      return fmt::format("still in the buffer: waits for {}",
                         WaitsFor(why.stall, why.with ? ToString(*why.with) : "a chunk"));
  }
  return "";
}

std::string Divergence::Class() const {
  if (!counters.empty()) return fmt::format("{} {}", Name(kind), kStatFields[counters[0]].name);
  if (kind != DifferenceKind::kLossBits || !packet) return Name(kind);
  return fmt::format("{} {}/{}", Name(kind), LossBitsToString(packet->sides.a.loss_bits),
                     LossBitsToString(packet->sides.b.loss_bits));
}

std::string Divergence::Text(const Both<std::string>& names) const {
  const auto both = [&](auto text_of) {
    return fmt::format("{} from {}, {} from {}", text_of(packet->sides.a), names.a,
                       text_of(packet->sides.b), names.b);
  };
  const std::string chunk_name = chunk ? ToString(*chunk) : "a chunk";
  if (kind == DifferenceKind::kPatch)
    return fmt::format("a patch of {} is applied by {}, not by {}", chunk_name,
                       patched.a ? names.a : names.b, patched.a ? names.b : names.a);
  if (kind == DifferenceKind::kCounter && !counters.empty()) {
    const StatField& field = kStatFields[counters.front()];
    return fmt::format("{} is {} in {}, {} in {}", field.name, stats.a.*field.value, names.a,
                       stats.b.*field.value, names.b);
  }
  if (!packet) return Name(kind);
  const PacketView& seen = packet->sides.a.returned ? packet->sides.a : packet->sides.b;
  const std::string name =
      fmt::format("packet {}+{} ({} bytes)", chunk_name, packet->place.offset, seen.size);
  switch (kind) {
    case DifferenceKind::kOnlyInA:
      return fmt::format("{} returns {}, {} does not", names.a, name, names.b);
    case DifferenceKind::kOnlyInB:
      return fmt::format("{} returns {}, {} does not", names.b, name, names.a);
    case DifferenceKind::kDuplicateInA:
    case DifferenceKind::kDuplicateInB:
      return fmt::format("{} returns {} twice",
                         kind == DifferenceKind::kDuplicateInA ? names.a : names.b, name);
    case DifferenceKind::kMoved:
      return fmt::format(
          "{} returns {} earlier",
          packet->sides.a.moment.record < packet->sides.b.moment.record ? names.a : names.b, name);
    case DifferenceKind::kLossBits:
      return fmt::format("{}: loss bits {}", name, both([](const PacketView& view) {
                           return LossBitsToString(view.loss_bits);
                         }));
    case DifferenceKind::kIdentity:
      return fmt::format("{}: {}", name, both([](const PacketView& view) {
                           return fmt::format("uid {} pid {}", view.identity.uid,
                                              view.identity.pid);
                         }));
    case DifferenceKind::kContent:
      return fmt::format("{}: {}", name, both([](const PacketView& view) {
                           return fmt::format("{} bytes{}", view.size,
                                              view.valid ? "" : ", invalid");
                         }));
    default:
      return fmt::format("{} is returned in a different order within its sequence", name);
  }
}

std::optional<FirstDifference> FirstDifferenceOf(const LogDiff& result) {
  FirstDifference difference;
  difference.others.kinds.fill(true);
  const auto& first = result.first ? result.first : result.first_counter;
  const DifferenceKind kind = first ? first->kind : DifferenceKind::kReordered;
  difference.others.kinds[static_cast<size_t>(kind)] = false;
  if (!first) {
    if (!result.first_across_order) return std::nullopt;
    difference.signature = "order_across_sequences";
    difference.record = result.first_across_order->record;
    return difference;
  }
  difference.signature = first->Class();
  if (first->packet)
    for (const Side side : kSides)
      if (const std::optional<DiffWhy>& why = first->packet->sides[side].why)
        difference.signature += fmt::format(" {}", Name(why->kind));
  if (kind == DifferenceKind::kPatch) difference.signature += first->patched.a ? " by A" : " by B";
  if (!first->at_end) difference.record = first->moment.record;
  if (!first->counters.empty()) {
    const auto field = kStatFields[first->counters.front()].value;
    difference.signature += first->stats.a.*field < first->stats.b.*field ? " rises" : " falls";
    difference.others.counters.fill(true);
    difference.others.counters[first->counters.front()] = false;
  }
  return difference;
}

uint64_t DiffCounts::results() const {
  return std::accumulate(by_kind.begin(), by_kind.end(), uint64_t{0}) -
         (*this)[DifferenceKind::kCounter];
}

bool BufferDiff::CounterDiffers(size_t i) const {
  const auto field = kStatFields[i].value;
  if (sides.a.stats.*field == sides.b.stats.*field) return false;
  return field != &BufferStats::buffer_size || sides.a.size == sides.b.size;
}

bool LogDiff::SameResults() const { return counts.results() == 0 && counts.across_order == 0; }

bool LogDiff::Same() const { return SameResults() && counts[DifferenceKind::kCounter] == 0; }

}  // namespace ringscope
