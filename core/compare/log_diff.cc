#include "core/compare/log_diff.h"

#include <fmt/format.h>

#include <numeric>

#include "core/perfetto/data_loss.h"
#include "core/session/replay_listener.h"

namespace ringscope {

std::string Describe(const DiffWhy& why) {
  switch (why.kind) {
    case DiffWhy::Kind::kNotReported:
      return "not returned; the engine does not report why";
    case DiffWhy::Kind::kDiscarded:
      return fmt::format("chunk discarded: {}", RowOf(why.discard).text);
    case DiffWhy::Kind::kEvicted:
      return fmt::format("evicted{}", why.by ? " for " + ToString(*why.by) : "");
    case DiffWhy::Kind::kCleared:
      return fmt::format("cleared on the way to {}{}", why.with ? ToString(*why.with) : "another",
                         why.by ? ", evicted for " + ToString(*why.by) : "");
    case DiffWhy::Kind::kAbandoned:
      return fmt::format("abandoned by a read: {}", LossBitsText(why.loss_bits));
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
  std::string text = Name(kind);
  if (!counters.empty()) {
    const StatField& field = kStatFields[counters.front()];
    return fmt::format("{} {} {}", text, field.name,
                       stats.a.*field.value < stats.b.*field.value ? "rises" : "falls");
  }
  if (kind == DifferenceKind::kPatch) return text + (patched.a ? " by A" : " by B");
  if (kind == DifferenceKind::kLossBits && packet)
    return fmt::format("{} {}/{}", text, LossBitsToString(packet->sides.a.loss_bits),
                       LossBitsToString(packet->sides.b.loss_bits));
  for (const Side side : kSides)
    if (packet && packet->sides[side].why)
      text += fmt::format(" {}", Name(packet->sides[side].why->kind));
  return text;
}

std::string Divergence::Text(const Both<std::string>& names) const {
  const std::string chunk_name = chunk ? ToString(*chunk) : "a chunk";
  if (kind == DifferenceKind::kPatch)
    return fmt::format("a patch of {} is applied by {}, not by {}", chunk_name,
                       patched.a ? names.a : names.b, patched.a ? names.b : names.a);
  if (kind == DifferenceKind::kCounter && !counters.empty()) {
    const StatField& field = kStatFields[counters.front()];
    return fmt::format("{} is {} in {}, {} in {}", field.name, stats.a.*field.value, names.a,
                       stats.b.*field.value, names.b);
  }
  if (kind == DifferenceKind::kOrder)
    return fmt::format("{} and {} return packets of several sequences in different orders", names.a,
                       names.b);
  if (!packet) return Name(kind);
  const std::string name =
      fmt::format("packet {}+{} ({} bytes)", chunk_name, packet->place.offset, packet->seen().size);
  const auto both = [&](const char* what, auto text_of) {
    return fmt::format("{}: {}{} from {}, {} from {}", name, what, text_of(packet->sides.a),
                       names.a, text_of(packet->sides.b), names.b);
  };
  switch (kind) {
    case DifferenceKind::kOnlyInA:
      return fmt::format("{} returns {}, {} does not", names.a, name, names.b);
    case DifferenceKind::kOnlyInB:
      return fmt::format("{} returns {}, {} does not", names.b, name, names.a);
    case DifferenceKind::kDuplicateInA:
      return fmt::format("{} returns {} twice", names.a, name);
    case DifferenceKind::kDuplicateInB:
      return fmt::format("{} returns {} twice", names.b, name);
    case DifferenceKind::kMoved: {
      const bool a_first = packet->sides.a.moment.record < packet->sides.b.moment.record;
      return fmt::format("{} returns {} earlier", a_first ? names.a : names.b, name);
    }
    case DifferenceKind::kLossBits:
      return both("flag ", [](const PacketView& view) { return LossBitsText(view.loss_bits); });
    case DifferenceKind::kIdentity:
      return both("", [](const PacketView& view) {
        return fmt::format("uid {} pid {}", view.identity.uid, view.identity.pid);
      });
    case DifferenceKind::kContent:
      return both("", [](const PacketView& view) {
        return fmt::format("{} bytes{}", view.size, view.valid ? "" : ", invalid");
      });
    default:
      return fmt::format("{} is returned in a different order within its sequence", name);
  }
}

Ignored Divergence::Others() const {
  Ignored others;
  others.kinds.fill(true);
  others.kinds[static_cast<size_t>(kind)] = false;
  others.counters.fill(!counters.empty());
  if (!counters.empty()) others.counters[counters.front()] = false;
  return others;
}

uint64_t DiffCounts::all() const {
  return std::accumulate(by_kind.begin(), by_kind.end(), uint64_t{0});
}

bool BufferDiff::CounterDiffers(size_t i, const BufferStats& a, const BufferStats& b) const {
  const auto field = kStatFields[i].value;
  if (a.*field == b.*field) return false;
  return field != &BufferStats::buffer_size || sides.a.size == sides.b.size;
}

const Divergence* LogDiff::First() const {
  for (const auto* divergence : {&first, &first_counter, &first_order})
    if (*divergence) return &**divergence;
  return nullptr;
}

}  // namespace ringscope
