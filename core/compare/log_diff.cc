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

uint64_t DiffCounts::results() const {
  return std::accumulate(by_kind.begin(), by_kind.end(), uint64_t{0}) -
         (*this)[DifferenceKind::kCounter];
}

bool BufferDiff::CounterDiffers(size_t i) const {
  const auto field = kStatFields[i].value;
  if (sides.a.stats.*field == sides.b.stats.*field) return false;
  return field != &BufferStats::buffer_size || sides.a.size == sides.b.size;
}

bool LogDiff::SameResults() const {
  return counts.results() == 0 && counts.across_order == 0;
}

bool LogDiff::Same() const { return SameResults() && counts[DifferenceKind::kCounter] == 0; }

}  // namespace ringscope
