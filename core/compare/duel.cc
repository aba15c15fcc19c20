#include "core/compare/duel.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <vector>

#include "core/base/wire.h"
#include "core/perfetto/data_loss.h"

namespace ringscope {
namespace {

/// A packet that is kept to be compared.
struct KeptPacket {
  SequenceKey sequence;
  Identity identity;
  uint32_t dropped = 0;
  PacketPlace place;
  uint64_t size = 0;
  XXH128_hash_t content{};  // its bytes themselves would be most of the work

  bool HasContentOf(const KeptPacket& other) const {
    return size == other.size && XXH128_isEqual(content, other.content) != 0;
  }
};

KeptPacket KeepPacket(const Packet& packet) {
  KeptPacket kept{packet.sequence, packet.identity, packet.dropped, packet.place, packet.size, {}};
  if (packet.slices.size() == 1) {
    kept.content = XXH3_128bits(packet.slices[0].data(), packet.slices[0].size());
  } else {
    std::string joined;
    for (const Bytes slice : packet.slices) joined += wire::AsText(slice);
    kept.content = XXH3_128bits(joined.data(), joined.size());
  }
  return kept;
}

std::string NameOf(const KeptPacket& packet) {
  std::string name =
      fmt::format("{}:{}", Raw(packet.sequence.producer), Raw(packet.sequence.writer));
  if (packet.place != kUnknownPlace)
    name += fmt::format("#{}+{}", Raw(packet.place.first_chunk), packet.place.first_offset);
  return fmt::format("packet {} ({} bytes)", name, packet.size);
}

bool BothPlaced(const PacketPlace& a, const PacketPlace& b) {
  return a != kUnknownPlace && b != kUnknownPlace;
}

bool SameBytes(const Packet& a, const Packet& b) {
  if (a.size != b.size) return false;
  if (a.slices.size() == b.slices.size()) {
    bool same_slices = true;
    for (size_t i = 0; i < a.slices.size() && same_slices; ++i)
      same_slices = a.slices[i].size() == b.slices[i].size();
    if (same_slices) {
      for (size_t i = 0; i < a.slices.size(); ++i) {
        const Bytes &x = a.slices[i], &y = b.slices[i];
        if (!x.empty() && std::memcmp(x.data(), y.data(), x.size()) != 0) return false;
      }
      return true;
    }
  }
  return KeepPacket(a).HasContentOf(KeepPacket(b));
}

/// Whether two packets are the same, what is ignored apart: never wrongly true.
bool SamePacket(const Packet& a, const Packet& b, const Ignored& ignored) {
  return a.sequence == b.sequence &&
         (a.dropped == b.dropped || ignored(DifferenceKind::kLossBits)) &&
         (a.identity == b.identity || ignored(DifferenceKind::kIdentity)) &&
         (!BothPlaced(a.place, b.place) || a.place == b.place) && SameBytes(a, b);
}

/// Whether they are the same packet, whatever the engines made of it.
bool SameKey(const KeptPacket& a, const KeptPacket& b) {
  if (a.sequence != b.sequence) return false;
  if (!BothPlaced(a.place, b.place)) return a.HasContentOf(b);
  return a.place.first_chunk == b.place.first_chunk && a.place.first_offset == b.place.first_offset;
}

/// The packets of one pass that the engines did not return alike.
class PassDifference {
 public:
  PassDifference(const Both<const EngineInfo*>& infos, const Ignored& ignored)
      : infos_(infos), ignored_(ignored) {}

  std::optional<Mismatch> First(std::vector<KeptPacket> a, std::vector<KeptPacket> b,
                                bool by_sequence) {
    if (by_sequence || ignored_(DifferenceKind::kReordered)) {
      Sort(a);
      Sort(b);
    }
    size_t i = 0, j = 0;
    while (i < a.size() || j < b.size()) {
      std::optional<Mismatch> found;
      if (i < a.size() && j < b.size() && SameKey(a[i], b[j])) {
        found = OfPair(a[i++], b[j++]);
      } else if (i < a.size() && !Has(b, j, a[i])) {
        found = OnlyIn(Side::kA, a[i++]);
      } else if (j < b.size() && !Has(a, i, b[j])) {
        found = OnlyIn(Side::kB, b[j++]);
      } else {
        if (!ignored_(DifferenceKind::kReordered)) {
          return Mismatch{.kind = DifferenceKind::kReordered,
                          .text = fmt::format("{} returns {} next, {} {}", infos_.a->name,
                                              NameOf(a[i]), infos_.b->name, NameOf(b[j]))};
        }
        ++i, ++j;  // what was sorted and is still apart is there twice
      }
      if (found && !ignored_(found->kind)) return found;
    }
    return std::nullopt;
  }

 private:
  static void Sort(std::vector<KeptPacket>& packets) {
    std::stable_sort(packets.begin(), packets.end(), [](const auto& x, const auto& y) {
      return x.sequence.producer != y.sequence.producer ? x.sequence.producer < y.sequence.producer
                                                        : x.sequence.writer < y.sequence.writer;
    });
  }
  static bool Has(const std::vector<KeptPacket>& in, size_t from, const KeptPacket& packet) {
    return std::any_of(in.begin() + static_cast<std::ptrdiff_t>(std::min(from, in.size())),
                       in.end(), [&](const KeptPacket& other) { return SameKey(other, packet); });
  }
  Mismatch OnlyIn(Side side, const KeptPacket& packet) const {
    return {.kind = ringscope::OnlyIn(side),
            .text = fmt::format("{} returns {}, {} does not", infos_[side]->name, NameOf(packet),
                                infos_[Other(side)]->name)};
  }
  std::optional<Mismatch> OfPair(const KeptPacket& a, const KeptPacket& b) const {
    const auto differs = [&](DifferenceKind kind, std::string how) {
      return Mismatch{.kind = kind, .text = fmt::format("{}: {}", NameOf(a), how)};
    };
    if (!ignored_(DifferenceKind::kContent)) {
      if (a.size != b.size) {
        return differs(DifferenceKind::kContent,
                       fmt::format("{} bytes from {}, {} from {}", a.size, infos_.a->name, b.size,
                                   infos_.b->name));
      }
      if (!a.HasContentOf(b)) return differs(DifferenceKind::kContent, "its bytes differ");
      if (BothPlaced(a.place, b.place) && a.place != b.place) {
        return differs(DifferenceKind::kContent,
                       fmt::format("its last chunk is {} in {}, {} in {}", Raw(a.place.last_chunk),
                                   infos_.a->name, Raw(b.place.last_chunk), infos_.b->name));
      }
    }
    if (a.identity != b.identity && !ignored_(DifferenceKind::kIdentity)) {
      return differs(DifferenceKind::kIdentity,
                     fmt::format("uid {} pid {} from {}, uid {} pid {} from {}", a.identity.uid,
                                 a.identity.pid, infos_.a->name, b.identity.uid, b.identity.pid,
                                 infos_.b->name));
    }
    if (a.dropped != b.dropped && !ignored_(DifferenceKind::kLossBits)) {
      Mismatch bits =
          differs(DifferenceKind::kLossBits,
                  fmt::format("loss bits {} from {}, {} from {}", LossBitsToString(a.dropped),
                              infos_.a->name, LossBitsToString(b.dropped), infos_.b->name));
      bits.loss_bits = {a.dropped, b.dropped};
      return bits;
    }
    return std::nullopt;
  }

  const Both<const EngineInfo*>& infos_;
  const Ignored& ignored_;
};

void KeepRest(Engine& engine, const Packet* packet, uint64_t left,
              std::vector<KeptPacket>& packets) {
  for (; packet != nullptr; packet = --left > 0 ? engine.NextPacket() : nullptr)
    packets.push_back(KeepPacket(*packet));
}

/// Without what differs from case to case.
std::string WithoutNumbers(const std::string& text) {
  std::string plain;
  for (const char c : text)
    if (std::isdigit(static_cast<unsigned char>(c)) == 0) plain += c;
  return plain;
}

/// What a process died of, for a line.
std::string DeathText(const Error& error) {
  return fmt::format("{} ({})", error.message, error.hint);
}

}  // namespace

std::string Mismatch::Class() const {
  if (oracle != Oracle::kDifference) {
    const std::string which = side ? fmt::format(" of {}", Letter(*side)) : "";
    const std::string what = oracle == Oracle::kTime ? ""
                             : detail.empty()        ? ": " + WithoutNumbers(text)
                                                     : ": " + detail;
    return fmt::format("{}{}{}", Name(oracle), which, what);
  }
  if (counter) return fmt::format("{} {}", Name(kind), kStatFields[*counter].name);
  if (kind == DifferenceKind::kLossBits) {
    return fmt::format("{} {}/{}", Name(kind), LossBitsToString(loss_bits.a),
                       LossBitsToString(loss_bits.b));
  }
  return Name(kind);
}

Result<Duel> Duel::Create(const Both<const EngineInfo*>& engines, DuelOptions options) {
  Duel duel(engines, std::move(options));
  for (const Side side : kSides) {
    RS_ASSIGN_OR_RETURN(duel.engines_[side],
                        engines[side]->create({.size = duel.options_.size,
                                               .policy = duel.options_.policy,
                                               .observer = duel.options_.observers[side]}));
  }
  return duel;
}

template <typename Call>
void Duel::Timed(Side side, Call call) {
  if (!options_.clock) return call();
  const uint64_t begin = options_.clock();
  call();
  took_ns_[side] += options_.clock() - begin;
}

std::optional<Mismatch> Duel::Apply(const StreamStep& step) {
  took_ns_ = {};
  std::optional<Mismatch> found = CheckFailures();
  if (!found) found = Step(step);
  // What a broken engine returns is not to be compared.
  if (std::optional<Mismatch> failed = CheckFailures()) found = std::move(failed);
  if (!found) {
    const BufferStats& a = engines_.a->stats();
    const BufferStats& b = engines_.b->stats();
    found = CheckFailures();  // of a process that ended only now
    if (!found) found = CompareStats(a, b);
  }
  for (const Side side : kSides) {
    if (!found && took_ns_[side] > options_.slowest_ns)
      found = OfOne(Oracle::kTime, side, fmt::format("took {} us", took_ns_[side] / 1000));
  }
  if (found) found->step = steps_;
  ++steps_;
  return found;
}

std::optional<Mismatch> Duel::Step(const StreamStep& step) {
  switch (step.kind) {
    case StreamStep::Kind::kCommit:
      for (const Side side : kSides) Timed(side, [&] { engines_[side]->Commit(step.commit); });
      return std::nullopt;
    case StreamStep::Kind::kPatch:
      return ApplyPatches(step.patches);
    case StreamStep::Kind::kRead:
      return CompareReads(*engines_.a, *engines_.b, step.max_packets);
    case StreamStep::Kind::kClone:
      return CompareClones();
  }
  return std::nullopt;
}

std::optional<Mismatch> Duel::ApplyPatches(const ChunkPatches& patches) {
  Both<bool> patched;
  for (const Side side : kSides)
    Timed(side, [&] { patched[side] = engines_[side]->ApplyPatches(patches); });
  if (patched.a == patched.b || options_.ignored(DifferenceKind::kPatch)) return std::nullopt;
  const Side by = patched.a ? Side::kA : Side::kB;
  return Mismatch{
      .kind = DifferenceKind::kPatch,
      .text = fmt::format("a patch of {}:{}#{} is applied by {}, not by {}",
                          Raw(patches.sequence.producer), Raw(patches.sequence.writer),
                          Raw(patches.chunk), infos_[by]->name, infos_[Other(by)]->name)};
}

std::optional<Mismatch> Duel::CompareReads(Engine& a, Engine& b, uint64_t max_packets) {
  // Engines that read in another order stop elsewhere: what they have in common is all there is.
  const bool by_sequence = infos_.a->read_order != infos_.b->read_order &&
                           infos_.a->read_order != ReadOrder::kUnknown &&
                           infos_.b->read_order != ReadOrder::kUnknown;
  uint64_t left = by_sequence ? UINT64_MAX : max_packets;
  if (left == 0) return std::nullopt;
  // What differs is kept to the pass's end, too.
  if (left == UINT64_MAX) Timed(Side::kA, [&] { a.BeginRead(); });
  Timed(Side::kB, [&] { b.BeginRead(); });
  const Packet *from_a = nullptr, *from_b = nullptr;
  const auto next = [&] {
    Timed(Side::kA, [&] { from_a = a.NextPacket(); });
    Timed(Side::kB, [&] { from_b = b.NextPacket(); });
  };
  next();
  while (!by_sequence && from_a != nullptr && from_b != nullptr &&
         SamePacket(*from_a, *from_b, options_.ignored)) {
    if (--left == 0) return std::nullopt;
    next();
  }
  if (from_a == nullptr && from_b == nullptr) return std::nullopt;
  std::vector<KeptPacket> rest_a, rest_b;
  KeepRest(a, from_a, left, rest_a);
  KeepRest(b, from_b, left, rest_b);
  return PassDifference(infos_, options_.ignored)
      .First(std::move(rest_a), std::move(rest_b), by_sequence);
}

std::optional<Mismatch> Duel::CompareClones() {
  Both<std::unique_ptr<Engine>> clones;
  for (const Side side : kSides) {
    auto clone = engines_[side]->Clone();
    // A plug-in without clones is none to be compared.
    if (!clone && clone.error().code == ErrorCode::kUnsupported) return std::nullopt;
    if (!clone) return Failed(side, clone.error());
    clones[side] = std::move(*clone);
  }
  std::optional<Mismatch> found = CompareReads(*clones.a, *clones.b, UINT64_MAX);
  if (!found) found = CompareStats(clones.a->stats(), clones.b->stats());
  for (const Side side : kSides)
    if (const Error* error = clones[side]->failure()) return Failed(side, *error);
  if (found) found->text = "in a clone: " + found->text;
  return found;
}

std::optional<Mismatch> Duel::CompareStats(const BufferStats& a, const BufferStats& b) const {
  if (a == b || options_.ignored(DifferenceKind::kCounter)) return std::nullopt;
  for (size_t i = 0; i < kStatFields.size(); ++i) {
    const StatField& field = kStatFields[i];
    if (a.*field.value == b.*field.value || options_.ignored.counters[i]) continue;
    return Mismatch{.kind = DifferenceKind::kCounter,
                    .counter = i,
                    .text = fmt::format("{} is {} in {}, {} in {}", field.name, a.*field.value,
                                        infos_.a->name, b.*field.value, infos_.b->name)};
  }
  return std::nullopt;
}

std::optional<Mismatch> Duel::OfOne(Oracle oracle, Side side, const std::string& text) const {
  return Mismatch{
      .oracle = oracle, .side = side, .text = fmt::format("{}: {}", infos_[side]->name, text)};
}

std::optional<Mismatch> Duel::CheckFailures() const {
  for (const Side side : kSides) {
    if (const Error* error = engines_[side]->failure()) return Failed(side, *error);
  }
  return std::nullopt;
}

Mismatch Duel::Failed(Side side, const Error& error) const {
  if (error.code != ErrorCode::kDied) return *OfOne(Oracle::kFailure, side, error.ToString());
  Mismatch crash = *OfOne(Oracle::kCrash, side, DeathText(error));
  crash.detail = error.message;
  return crash;
}

std::optional<Mismatch> Duel::Finish() {
  if (auto found = Apply({.kind = StreamStep::Kind::kRead})) return found;
  for (const Side side : kSides) {
    const std::string wrong = engines_[side]->CheckInvariants();
    if (wrong.empty()) continue;
    std::optional<Mismatch> found = OfOne(Oracle::kCheck, side, wrong);
    found->step = steps_ - 1;
    return found;
  }
  return std::nullopt;
}

std::optional<Mismatch> RunDuel(const Both<const EngineInfo*>& engines, const PlainStream& stream,
                                const Ignored& ignored) {
  Result<Duel> duel =
      Duel::Create(engines, {.size = stream.size, .policy = stream.policy, .ignored = ignored});
  if (!duel) {
    const bool died = duel.error().code == ErrorCode::kDied;
    return Mismatch{.oracle = died ? Oracle::kCrash : Oracle::kFailure,
                    .text = duel.error().ToString(),
                    .detail = died ? duel.error().message : ""};
  }
  for (const auto& step : stream.steps) {
    auto found = step->With([&](const StreamStep& view) { return duel->Apply(view); });
    if (found) return found;
  }
  return duel->Finish();
}

}  // namespace ringscope
