#ifndef RINGSCOPE_CORE_COMPARE_MINIMIZE_H_
#define RINGSCOPE_CORE_COMPARE_MINIMIZE_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/compare/log_differ.h"
#include "core/compare/stored_ops.h"

namespace ringscope {

/// What makes a difference the same one: its kind, its place, and why. Absent parts do not matter.
struct DivergenceSignature {
  DifferenceKind kind{};
  bool across_order = false;  // only the order across sequences differs; nothing else counts then
  std::optional<BufferId> buffer;
  std::optional<ChunkName> chunk;
  Both<std::optional<DiffWhy::Kind>> why;  // a packet on one side alone
  Both<uint32_t> loss_bits;                // kLossBits
  Both<bool> patched;                      // kPatch
  std::optional<size_t> counter;           // kCounter: index in kStatFields
  bool counter_less_in_a = false;
  bool counter_stays = false;  // it differs at the end, too

  friend bool operator==(const DivergenceSignature&, const DivergenceSignature&) = default;
};

/// Of a comparison's first divergence: in the results, else in a
/// counter, else in the order.
/// @return nullopt: nothing differs
std::optional<DivergenceSignature> SignatureOf(const LogDiff& result);

/// Compares the sides over these records. @param ops numbered from 0
Result<LogDiff> DiffOps(const std::vector<StoredOp>& ops, const Both<ReplayOptions>& sides);

/// Called now and then with the number of records that are left.
using MinimizeProgress = std::function<void(size_t records)>;

/// Delta debugging: takes records away, makes what is left smaller, and numbers producers, writers,
/// chunks, uids and pids from the start, as long as the first divergence stays the same, until no
/// single record can go. Commits of several chunks and patches
/// are taken apart first, if that changes nothing. Deterministic.
/// @param stop asked between tries; true: the records left so far are returned. May be empty.
/// @return the records left; kUsage if the sides do not differ over `ops`
Result<std::vector<StoredOp>> Minimize(std::vector<StoredOp> ops, const Both<ReplayOptions>& sides,
                                       const MinimizeProgress& progress = {},
                                       const std::function<bool()>& stop = {});

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_COMPARE_MINIMIZE_H_
