#include "core/compare/loss_check.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>

#include "core/base/wire.h"
#include "core/perfetto/data_loss.h"
#include "core/perfetto/fragment.h"

namespace ringscope {
namespace {

/// "the packet at chunk 3, offset 0 (20 bytes)"; chunks count from the sequence's first commit.
template <typename Packet>
std::string PacketName(const Packet& packet) {
  return fmt::format("the packet at chunk {:+}, offset {} ({} bytes)", packet.place.first,
                     packet.place.second, packet.size);
}

/// Adds a fault, unless there is one of its sort and kind.
void AddFault(std::vector<FoundFault>& faults, LossFault fault, std::string kind,
              std::string text) {
  const bool known = std::any_of(faults.begin(), faults.end(), [&](const FoundFault& other) {
    return other.fault == fault && other.kind == kind;
  });
  if (!known) faults.push_back({fault, std::move(kind), std::move(text)});
}

}  // namespace

std::string LossCheck::Chunk::ContentOf(std::pair<uint32_t, uint32_t> fragment) const {
  std::string patched = bytes;
  for (const auto& [offset, data] : patches) patched.replace(offset, data.size(), data);
  return std::string(
      wire::AsText(BodyAt(wire::AsBytes(patched), fragment.first).value_or(Bytes())));
}

int64_t LossCheck::Sequence::StepsTo(ChunkId chunk) const { return SignedDistance(first, chunk); }

void LossCheck::OnChunk(BufferId, const ChunkCommit& commit, std::optional<Refusal>) {
  const auto [found, is_new] = sequences_.try_emplace(commit.sequence);
  Sequence& sequence = found->second;
  if (is_new) sequence.first = commit.chunk;
  Chunk chunk;
  chunk.complete = commit.complete;
  const FinishedPart part = FinishedPartOf(commit.fragments, commit.flags, commit.complete);
  chunk.flags = part.flags;
  uint32_t end = 0;
  const FragmentStatus status =
      VisitFragments(commit.payload, part.fragments, [&](const Fragment& fragment) {
        chunk.fragments.emplace_back(fragment.offset, fragment.size());
        end = fragment.end;
      });
  chunk.aborts = status == FragmentStatus::kWriterDrop;
  chunk.bytes = wire::AsText(commit.payload.first(end));
  if (status != FragmentStatus::kFragment && !chunk.aborts) sequence.breaks_rules = true;
  const auto [at, is_first] = sequence.chunks.try_emplace(sequence.StepsTo(commit.chunk));
  if (!is_first) {
    // A scraped chunk grows, and nothing else.
    const Chunk& before = at->second;
    const uint8_t lost_flags = static_cast<uint8_t>(before.flags & ~chunk.flags);
    if (before.complete || chunk.fragments.size() < before.fragments.size() ||
        (lost_flags & kAbiFlags) != 0 || !chunk.bytes.starts_with(before.bytes))
      sequence.breaks_rules = true;
  }
  chunk.patches = std::move(at->second.patches);
  at->second = std::move(chunk);
}

void LossCheck::NoteReturned(const Packet& packet) {
  std::string joined;
  const Bytes content = Joined(packet.slices, joined);
  hash_ = XXH3_64bits(content.data(), content.size());
}

void LossCheck::AddPatches(const ChunkPatches& patches) {
  const auto found = sequences_.find(patches.sequence);
  if (found == sequences_.end()) return;
  Sequence& sequence = found->second;
  const auto at = sequence.chunks.find(sequence.StepsTo(patches.chunk));
  // Patches are for the content of a fragment that continues.
  bool fits = at != sequence.chunks.end() && (at->second.flags & kNeedsPatching) != 0 &&
              (at->second.flags & kLastContinues) != 0 && !at->second.fragments.empty();
  for (const Patch& patch : patches.patches) {
    if (!fits) break;
    const uint64_t end = at->second.bytes.size();
    fits = patch.offset + kPatchSize <= end &&
           patch.offset >= end - at->second.fragments.back().second;
    if (fits)
      at->second.patches.emplace_back(patch.offset, wire::AsText(Bytes(patch.data, kPatchSize)));
  }
  if (!fits) sequence.breaks_rules = true;
}

void LossCheck::OnPacketFate(const PacketAccount& account) {
  unexplained_ += account.fate == Fate::kUnexplained ? 1 : 0;
  const auto found = sequences_.find(account.sequence);
  if (found == sequences_.end()) return;
  Sequence& sequence = found->second;
  const auto steps = [&](uint64_t unwrapped) { return sequence.StepsTo(IdOf(unwrapped)); };
  const Place place{steps(account.first_chunk), account.first_offset};
  const uint64_t record = account.decided.record.value_or(0);
  if (account.fate == Fate::kRead || account.fate == Fate::kInvalid ||
      account.fate == Fate::kReadable) {
    sequence.returned.push_back({.place = place,
                                 .last_chunk = steps(account.last_chunk),
                                 .size = account.size,
                                 .hash = hash_,
                                 .loss_bits = account.loss_bits,
                                 .record = record,
                                 .order = returned_++});
  } else if (IsLoss(account.fate)) {
    sequence.lost.push_back({.place = place,
                             .size = account.size,
                             .fate = account.fate,
                             .cause = account.cause,
                             .loss_bits = account.loss_bits,
                             .own_fault = account.own_fault,
                             .record = record});
  }
}

/// Returns true if neighbouring chunks fit to each other: a packet that continues is continued.
bool LossCheck::KeepsRules(const Sequence& sequence) {
  if (sequence.breaks_rules) return false;
  for (auto at = sequence.chunks.begin(); at != sequence.chunks.end(); ++at) {
    const auto next = std::next(at);
    if (next == sequence.chunks.end() || next->first != at->first + 1) continue;
    if (!at->second.complete) continue;  // what it is to become is not known
    const bool continues = (at->second.flags & kLastContinues) != 0;
    const bool continued = (next->second.flags & kFirstContinues) != 0;
    if (continues != continued || (continues && at->second.fragments.empty())) return false;
  }
  return true;
}

void LossCheck::FindLostWhole(const Sequence& sequence, std::vector<FoundFault>& faults) {
  for (const Lost& lost : sequence.lost) {
    if (!lost.own_fault) continue;
    AddFault(faults, LossFault::kLostWhole, kEnumNames<Cause>[static_cast<size_t>(lost.cause)],
             fmt::format("{} is lost, though all of it was in the buffer, complete and patched",
                         PacketName(lost)));
  }
}

void LossCheck::FindSilentLosses(const Sequence& sequence, std::vector<FoundFault>& faults) {
  std::vector<Returned> by_place = sequence.returned;
  std::stable_sort(by_place.begin(), by_place.end(),
                   [](const Returned& x, const Returned& y) { return x.place < y.place; });
  const auto next_after = [&](const Place& place) {
    return std::find_if(by_place.begin(), by_place.end(),
                        [&](const Returned& packet) { return packet.place > place; });
  };
  for (const Lost& lost : sequence.lost) {
    // An abort has a sign of its own; of a chunk that never came, the gap is looked at below.
    if (lost.fate == Fate::kWriterDropped || lost.fate == Fate::kUnexplained ||
        lost.cause == Cause::kNeverCommitted || lost.cause == Cause::kNotInLog ||
        lost.cause == Cause::kNoBeginning || lost.cause == Cause::kBeforeLog)
      continue;
    const auto next = next_after(lost.place);
    if (next == by_place.end() || next->loss_bits != 0) continue;
    // The sign may be at what was returned next, wherever that is in the sequence. Within the read
    // that lost it, the order is not known.
    bool shown = true;  // as long as nothing was returned that could show it
    for (const Returned& later : sequence.returned) {  // in the order of time
      if (later.record < lost.record) continue;
      shown = later.loss_bits != 0;
      if (shown || later.record > lost.record) break;
    }
    if (shown) continue;
    AddFault(faults, LossFault::kSilentLoss, kEnumNames<Cause>[static_cast<size_t>(lost.cause)],
             fmt::format("{} is lost, and {}, the next one returned, shows no loss",
                         PacketName(lost), PacketName(*next)));
  }
  for (auto at = sequence.chunks.begin(); at != sequence.chunks.end(); ++at) {
    const auto after = std::next(at);
    if (after == sequence.chunks.end() || after->first == at->first + 1) continue;
    const auto next = next_after({at->first + 1, 0});
    if (next == by_place.end() || next->loss_bits != 0) continue;
    AddFault(faults, LossFault::kSilentLoss, "never_committed",
             fmt::format("chunk {:+} was never committed, and {}, the next one returned, shows no "
                         "loss",
                         at->first + 1, PacketName(*next)));
  }
}

void LossCheck::FindFalseSigns(const Sequence& sequence, std::vector<FoundFault>& faults) {
  for (const Returned& packet : sequence.returned) {
    if (packet.loss_bits == 0) continue;
    const Returned* previous = nullptr;  // in the sequence, of those that were returned earlier
    for (const Returned& other : sequence.returned) {
      if (other.order >= packet.order || other.place >= packet.place) continue;
      if (previous == nullptr || previous->place < other.place) previous = &other;
    }
    if (previous == nullptr) continue;  // what precedes the first one is not known
    const bool lost =
        std::any_of(sequence.lost.begin(), sequence.lost.end(), [&](const Lost& between) {
          return between.place > previous->place && between.place < packet.place;
        });
    bool missing = false;
    for (int64_t chunk = previous->last_chunk; chunk <= packet.place.first && !missing; ++chunk) {
      const auto at = sequence.chunks.find(chunk);
      missing = at == sequence.chunks.end() || at->second.aborts || !at->second.complete;
    }
    if (lost || missing) continue;
    AddFault(
        faults, LossFault::kFalseSign, LossBitsToString(packet.loss_bits),
        fmt::format("{} shows a loss ({}), though nothing is missing since {}", PacketName(packet),
                    LossBitsToString(packet.loss_bits), PacketName(*previous)));
  }
}

void LossCheck::FindWrongPackets(const Sequence& sequence, std::vector<FoundFault>& faults) {
  for (const Returned& packet : sequence.returned) {
    const auto add = [&](const char* kind, const std::string& what) {
      AddFault(faults, LossFault::kWrongPacket, kind,
               fmt::format("{} {}", PacketName(packet), what));
    };
    const auto first = sequence.chunks.find(packet.place.first);
    if (first == sequence.chunks.end()) continue;
    const Chunk& chunk = first->second;
    const auto fragment =
        std::find_if(chunk.fragments.begin(), chunk.fragments.end(),
                     [&](const auto& of_chunk) { return of_chunk.first == packet.place.second; });
    if (fragment == chunk.fragments.end()) {
      add("no_packet_there", "is returned, but none was written there");
      continue;
    }
    if (fragment == chunk.fragments.begin() && (chunk.flags & kFirstContinues) != 0) {
      add("end_alone", "is returned, but is the rest of one that began before");
      continue;
    }
    std::string content = chunk.ContentOf(*fragment);
    int64_t last = packet.place.first;
    bool continues = fragment + 1 == chunk.fragments.end() && (chunk.flags & kLastContinues) != 0 &&
                     !chunk.aborts;
    bool ends = true;
    while (continues) {
      const auto next = sequence.chunks.find(++last);
      if (next == sequence.chunks.end() || next->second.fragments.empty()) {
        ends = false;
        break;
      }
      content += next->second.ContentOf(next->second.fragments.front());
      continues = next->second.fragments.size() == 1 && !next->second.aborts &&
                  (next->second.flags & kLastContinues) != 0;
    }
    if (!ends) {
      add("of_fragments", fmt::format("is returned, but its rest is not in chunk {:+}", last));
    } else if (content.size() != packet.size || last != packet.last_chunk) {
      add("other_size", fmt::format("is returned, but one of {} bytes was written that ends in "
                                    "chunk {:+}",
                                    content.size(), last));
    } else if (XXH3_64bits(content.data(), content.size()) != packet.hash) {
      add("other_bytes", "is returned with other bytes than were written");
    }
  }
}

std::vector<FoundFault> LossCheck::Faults() const {
  std::vector<FoundFault> faults;
  for (const auto& [key, sequence] : sequences_) {
    if (!KeepsRules(sequence)) continue;
    FindLostWhole(sequence, faults);
    FindSilentLosses(sequence, faults);
    if (signs_prove_loss_) FindFalseSigns(sequence, faults);
    FindWrongPackets(sequence, faults);
  }
  return faults;
}

Result<Accounts> CheckAccounts(const EngineInfo& engine, const ReplayOptions& options,
                               const std::vector<StoredOp>& ops) {
  LossCheck check(!engine.flags_first_of_sequence);
  Ledger ledger(check);
  Replay replay(options, {&check, &ledger});
  for (size_t i = 0; i < ops.size(); ++i) RS_RETURN_IF_ERROR(replay.Apply(ops[i].op(), i));
  RS_RETURN_IF_ERROR(replay.Finish());
  RS_RETURN_IF_ERROR(replay.Drain());
  Accounts accounts{.wrong = ledger.Check(), .faults = check.Faults()};
  // An engine that does not report abandoned packets leaves their fates unknown.
  if (accounts.wrong.empty() && check.unexplained() > 0 && engine.reports.abandoned)
    accounts.wrong =
        fmt::format("the events do not explain what became of {} packets", check.unexplained());
  return accounts;
}

}  // namespace ringscope
