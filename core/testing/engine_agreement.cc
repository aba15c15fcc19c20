#include "core/testing/engine_agreement.h"

#include <fmt/format.h>

#include <algorithm>

namespace ringscope::testing {
namespace {

using Kind = RandomStream::Kind;

/// More than any chunk of a correct stream takes, bytes.
constexpr uint64_t kLargestChunk = 8192;

/// How far two engines' loss flags must be the same.
enum class Flags : uint8_t { kWithCauses, kWhetherSet, kApart };

std::vector<Seen> With(Flags flags, std::vector<Seen> packets) {
  for (Seen& seen : packets) {
    if (flags == Flags::kWhetherSet) seen.dropped = seen.dropped != 0;
    if (flags == Flags::kApart) seen.dropped = 0;
  }
  return packets;
}

/// What the last step gave must be the same in both, except for the counters in `apart`.
std::string SameStep(const CheckedEngine& a, const CheckedEngine& b, Flags flags,
                     const StatSet& apart = {}) {
  std::string differs;
  if (a.patched != b.patched) differs = "a patch";
  if (differs.empty()) differs = Difference(With(flags, a.packets), With(flags, b.packets));
  if (differs.empty()) differs = Difference(a.stats, b.stats, apart);
  return differs.empty() ? "" : fmt::format("{} and {}: {}", a.name, b.name, differs);
}

}  // namespace

EngineAgreement::EngineAgreement(const StreamTraits& traits, const Written* written)
    : traits_(traits), written_(written) {
  engines_.reserve(Engines().size());
  for (const EngineInfo& engine : Engines()) engines_.emplace_back(engine, traits);
}

CheckedEngine& EngineAgreement::Find(const char* name) {
  return *std::find_if(engines_.begin(), engines_.end(),
                       [&](const CheckedEngine& engine) { return engine.name == name; });
}

std::string EngineAgreement::Apply(const RandomStream::Step& step) {
  Note(step);
  for (CheckedEngine& engine : engines_) {
    std::string wrong = engine.Apply(step);
    if (wrong.empty() && written_ != nullptr) wrong = CheckWritten(engine);
    if (!wrong.empty()) return engine.name + ": " + wrong;
  }
  return CheckReleases();
}

void EngineAgreement::Note(const RandomStream::Step& step) {
  if (step.kind != Kind::kCommit) return;
  has_recommits_ |= !committed_.insert({step.commit.sequence, step.commit.chunk}).second;
}

/// Packets are those that were written: with the writer's bytes and identity, at their place. They
/// are returned once, in order, and nothing is missing before one without a flag.
std::string EngineAgreement::CheckWritten(CheckedEngine& engine) {
  // What an engine forgets of a chunk that was read, it can return again after a re-commit.
  const bool is_v1 = engine.name == "v1";
  const bool forgets_reads = is_v1 || engine.name == "v2@54" || engine.name == "v2@55";
  const bool once = !(forgets_reads && traits_.scrapes);
  // V1 joins a packet with the wrong fragment if the chunk that continues it was read from first.
  const bool as_written = !(is_v1 && traits_.swaps);
  const bool in_order = once && !traits_.swaps;
  // In V1 an empty packet takes the flag of the packet that was lost before it.
  const bool flags_losses = in_order && !is_v1;
  // A chunk that is missing or did not fit, or a packet that its writer aborted, is flagged, in
  // each read pass until the sequence's next chunk is gone, but is no packet missing.
  const bool flags_only_losses =
      flags_losses && !traits_.aborts && !traits_.losses && traits_.size >= kLargestChunk;

  for (const Seen& seen : engine.packets) {
    const auto sequence = written_->find(seen.sequence);
    if (sequence == written_->end()) return "of an unknown sequence: " + Describe(seen);
    const auto& packets = sequence->second.packets;
    const std::pair place = {Distance(sequence->second.first_chunk, seen.place.first_chunk),
                             seen.place.first_offset};
    const auto packet = packets.find(place);
    if (packet == packets.end()) return "never written: " + Describe(seen);
    if (sequence->second.identity != seen.identity) return "another identity: " + Describe(seen);
    if (as_written && packet->second.content != seen.content)
      return "not as written: " + Describe(seen);
    if (as_written && packet->second.last_chunk != seen.place.last_chunk)
      return "ends elsewhere: " + Describe(seen);

    Progress& progress = progress_[{engine.name, seen.sequence}];
    if (!progress.returned.insert(place).second && once) return "twice: " + Describe(seen);
    if (in_order && progress.last && place < *progress.last)
      return "out of order: " + Describe(seen);
    const auto next = progress.last ? packets.upper_bound(*progress.last) : packets.begin();
    if (flags_losses && next != packet && seen.dropped == 0)
      return "nothing flagged after a loss: " + Describe(seen);
    if (flags_only_losses && next == packet && seen.dropped != 0)
      return "flagged, and nothing is missing: " + Describe(seen);
    progress.last = place;
  }
  return "";
}

/// What the releases of V2 have in common, step by step.
std::string EngineAgreement::CheckReleases() {
  const CheckedEngine &v54 = Find("v2@54"), &v55 = Find("v2@55"), &v56 = Find("v2@56"),
                      &v57 = Find("v2@57"), &v58 = Find("v2@58");
  // v57 reports causes where v56 reports 1. All else is equal.
  if (std::string wrong = SameStep(v57, v56, Flags::kWhetherSet); !wrong.empty()) return wrong;

  // Up to the first relocation v58 is v57, but that abort markers are no violations.
  if (v58.stats.chunks_relocated == 0) {
    if (std::string wrong = SameStep(v58, v57, Flags::kWithCauses, {&BufferStats::abi_violations});
        !wrong.empty())
      return wrong;
    const uint64_t for_aborts = v57.stats.abi_violations - v58.stats.abi_violations;
    // Chunks larger than the buffer are violations, but not counted as having lost a packet.
    const bool all_fit = written_ != nullptr && traits_.size >= kLargestChunk;
    const uint64_t aborts = v58.stats.trace_writer_packet_loss;
    const bool adds_up = v57.stats.abi_violations >= v58.stats.abi_violations &&
                         (all_fit ? for_aborts == aborts : for_aborts >= aborts);
    if (!adds_up) return "v2@58 and v2@57: abi_violations differ by other than abort markers";
  }

  if (traits_.fits && written_ != nullptr) {
    // Where no space is needed, releases before v56 clear none either; but they flag re-commits.
    const Flags flags = traits_.scrapes ? Flags::kApart : Flags::kWhetherSet;
    if (std::string wrong = SameStep(v56, v55, flags); !wrong.empty()) return wrong;
  }
  if (has_recommits_) return "";

  // Without re-commits v56 is v55, except for the count of chunks that lose their last fragments.
  // Patches that change sizes make packets of fragments that only v56 has consumed.
  std::string wrong;
  if (written_ != nullptr || v55.stats.patches_succeeded == 0) {
    wrong = SameStep(v56, v55, Flags::kWhetherSet,
                     {&BufferStats::chunks_overwritten, &BufferStats::bytes_overwritten,
                      &BufferStats::chunks_read, &BufferStats::bytes_read});
  }
  if (!wrong.empty()) return wrong;
  // v55 is v54, except for the wrap that v54 does not count; in discard mode until it is full.
  if (traits_.policy == FillPolicy::kRingBuffer) {
    wrong = SameStep(v55, v54, Flags::kWhetherSet, {&BufferStats::write_wrap_count});
    if (wrong.empty() && v54.stats.write_wrap_count > v55.stats.write_wrap_count)
      wrong = "v2@54 counts more wraps than v2@55";
  } else if (v55.stats.bytes_written < v55.stats.buffer_size) {
    wrong = SameStep(v55, v54, Flags::kWhetherSet);
  }
  return wrong;
}

std::string EngineAgreement::Finish() {
  const std::string wrong = Apply({.kind = Kind::kRead});
  if (!wrong.empty() || written_ == nullptr || !traits_.fits) return wrong;
  for (CheckedEngine& engine : engines_)
    if (std::string missing = CheckNothingLost(engine); !missing.empty())
      return engine.name + ": " + missing;
  return "";
}

/// Where there is space for everything, nothing is overwritten, and all that was committed is
/// returned: the same packets of each sequence by every engine.
std::string EngineAgreement::CheckNothingLost(CheckedEngine& engine) {
  const BufferStats& stats = engine.stats;
  if (stats.chunks_overwritten + stats.padding_bytes_written + stats.padding_bytes_cleared +
          stats.write_wrap_count !=
      0)
    return "space was cleared, though there is enough";
  // V1 and v54 lose what follows a scrape that was read.
  const bool takes_scrapes = engine.name != "v1" && engine.name != "v2@54";
  if (traits_.aborts || traits_.losses || traits_.swaps || (traits_.scrapes && !takes_scrapes))
    return "";
  // A chunk that adds nothing to a scrape that was read is discarded.
  const uint64_t discarded = traits_.scrapes ? 0 : stats.chunks_discarded;
  if (discarded + stats.patches_failed + stats.abi_violations != 0)
    return "something was refused, though nothing is wrong";
  for (const auto& [key, sequence] : *written_) {
    const size_t returned = progress_[{engine.name, key}].returned.size();
    if (returned != sequence.packets.size()) {
      return fmt::format("sequence {}:{}: {} packets written, {} returned", Raw(key.producer),
                         Raw(key.writer), sequence.packets.size(), returned);
    }
  }
  return "";
}

std::string CheckAgreement(WrittenStream& stream, int steps) {
  const bool correct = stream.traits().conduct == Conduct::kCorrect;
  EngineAgreement agreement(stream.traits(), correct ? &stream.written() : nullptr);
  for (int i = 0; i < steps; ++i)
    if (std::string wrong = agreement.Apply(stream.Next()); !wrong.empty())
      return fmt::format("step {}: {}", i + 1, wrong);
  while (correct) {
    const auto step = stream.NextToFinish();
    if (!step) break;
    if (std::string wrong = agreement.Apply(*step); !wrong.empty())
      return "while the writers finish: " + wrong;
  }
  const std::string wrong = agreement.Finish();
  return wrong.empty() ? "" : "at the end: " + wrong;
}

}  // namespace ringscope::testing
