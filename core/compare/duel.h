#ifndef RINGSCOPE_CORE_COMPARE_DUEL_H_
#define RINGSCOPE_CORE_COMPARE_DUEL_H_

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "core/base/enum_names.h"
#include "core/compare/log_diff.h"
#include "core/compare/plain_stream.h"
#include "core/engine/catalogue.h"
#include "core/perfetto/page.h"

namespace ringscope {

/// How a mismatch was found.
enum class Oracle : uint8_t {
  kDifference,  // A and B gave other results
  kCheck,       // an engine's check of its own structures failed
  kLedger,      // what an engine reports and what it returns does not add up
  kFailure,     // an engine could not continue
  kTime,        // one operation took too long
  kCrash,       // a plug-in's process ended, or had to be ended
  kLosses,      // an engine lost what no buffer should lose, or showed it wrongly
};
template <>
inline constexpr std::array kEnumNames<Oracle> = {"difference", "check", "ledger", "failure",
                                                  "time",       "crash", "losses"};

/// Something that a stream of operations shows of two engines.
struct Mismatch {
  Oracle oracle = Oracle::kDifference;
  DifferenceKind kind{};          // of a difference
  std::optional<size_t> counter;  // of kCounter: index in kStatFields
  Both<uint32_t> loss_bits;       // of kLossBits
  std::optional<Side> side;       // of all but differences: the engine that is wrong
  size_t step = 0;                // index of the operation; the number of all: the last read
  std::string text;               // what differs, in a line
  /// What tells mismatches of one oracle apart: of a crash how the process ended, and in which
  /// function; of kLosses the fault and its kind. Of others empty.
  std::string detail;

  /// The same for mismatches of one class: "loss_bits present/read_gap", "counter chunks_read".
  std::string Class() const;
};

struct DuelOptions {
  uint64_t size = kPageBytes;
  FillPolicy policy = FillPolicy::kRingBuffer;
  Ignored ignored;
  Both<EngineObserver*> observers;  // not owned; may be null
  /// Nanoseconds; empty: no operation is measured.
  std::function<uint64_t()> clock;
  uint64_t slowest_ns = UINT64_MAX;  // an operation that takes longer is a mismatch
};

/// Puts one stream through two engines, step by step, and compares all that they return: packets
/// with their places, identities and loss bits, results of patches, and all counters.
class Duel {
 public:
  /// Fails if an engine cannot be made.
  static Result<Duel> Create(const Both<const EngineInfo*>& engines, DuelOptions options);

  /// @return the first mismatch; nothing may be applied after one
  std::optional<Mismatch> Apply(const StreamStep& step);
  /// A last read of all there is, and both engines' check of themselves.
  std::optional<Mismatch> Finish();

 private:
  Duel(const Both<const EngineInfo*>& engines, DuelOptions options)
      : infos_(engines), options_(std::move(options)) {}

  std::optional<Mismatch> Step(const StreamStep& step);
  std::optional<Mismatch> ApplyPatches(const ChunkPatches& patches);
  std::optional<Mismatch> CompareReads(Engine& a, Engine& b, uint64_t max_packets);
  std::optional<Mismatch> CompareClones();
  std::optional<Mismatch> CompareStats(const BufferStats& a, const BufferStats& b) const;
  std::optional<Mismatch> CheckFailures() const;
  Mismatch Failed(Side side, const Error& error) const;
  std::optional<Mismatch> OfOne(Oracle oracle, Side side, const std::string& text) const;
  template <typename Call>
  void Timed(Side side, Call call);

  Both<const EngineInfo*> infos_;
  DuelOptions options_;
  Both<std::unique_ptr<Engine>> engines_;
  Both<uint64_t> took_ns_;  // by the last step
  size_t steps_ = 0;
};

/// A whole stream, with the last read.
/// @return the first mismatch; an engine that cannot be made is kFailure
std::optional<Mismatch> RunDuel(const Both<const EngineInfo*>& engines, const PlainStream& stream,
                                const Ignored& ignored);

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_COMPARE_DUEL_H_
