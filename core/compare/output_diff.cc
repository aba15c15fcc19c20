#include "core/compare/output_diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "core/base/list_alignment.h"
#include "core/compare/sequence_matcher.h"

namespace ringscope {
namespace {

std::vector<uint64_t> HashesOf(const OutputSequence& sequence) {
  std::vector<uint64_t> hashes;
  hashes.reserve(sequence.packets.size());
  for (const OutputPacket& packet : sequence.packets) hashes.push_back(packet.hash);
  return hashes;
}

/// Where a difference is: the earlier of its places in the two files.
uint64_t PositionOf(const OutputDifference& difference) {
  uint64_t position = UINT64_MAX;
  for (const Side side : kSides)
    if (difference.packet[side])
      position = std::min<uint64_t>(position, difference.packet[side]->position);
  return position;
}

class OutputComparison {
 public:
  OutputComparison(const ReplayOutput& a, const ReplayOutput& b, size_t listed,
                   bool ignore_identity)
      : a_(a), b_(b), listed_(listed), ignore_identity_(ignore_identity) {}

  Result<OutputDiff> Run() {
    diff_.packets = {a_.packets, b_.packets};
    diff_.service_packets = {a_.service_packets, b_.service_packets};
    RS_RETURN_IF_ERROR(CompareCounters());
    ComparePatches();
    CompareSequences();
    RS_RETURN_IF_ERROR(CheckCommon());
    CompareOrder();
    for (std::vector<OutputDifference>& listed : diff_.listed) CutToFirst(listed);
    return std::move(diff_);
  }

 private:
  Status CompareCounters() {
    const auto ids = [](const std::map<uint32_t, BufferStats>& stats) {
      std::string text;
      for (const auto& [id, of_buffer] : stats)
        text += fmt::format("{}{}", text.empty() ? "" : ", ", id);
      return text;
    };
    const bool both_count = !a_.stats.empty() && !b_.stats.empty();
    if (both_count && ids(a_.stats) != ids(b_.stats)) {
      return Fail(ErrorCode::kUsage,
                  fmt::format("A has the buffers {}, and B has {}: they are not of the same log",
                              ids(a_.stats), ids(b_.stats)));
    }
    if (!both_count) return {};
    for (const auto& [id, stats] : a_.stats) {
      Both<BufferStats> both = {stats, b_.stats.at(id)};
      for (const StatField& field : kStatFields)
        diff_.counts[DifferenceKind::kCounter] += both.a.*field.value != both.b.*field.value;
      diff_.stats.emplace(id, both);
    }
    return {};
  }

  /// Results of one log have most packets in common, those of others hardly any.
  Status CheckCommon() const {
    constexpr uint64_t kLeastPart = 10;  // of the smaller result, at least one in so many
    const uint64_t smaller = std::min(a_.packets, b_.packets);
    if (smaller == 0 || diff_.counts.matched * kLeastPart >= smaller) return {};
    return Fail(
        ErrorCode::kUsage,
        fmt::format("only {} of the {} packets of the smaller result are in the other: they "
                    "are not of the same log",
                    diff_.counts.matched, smaller));
  }

  void ComparePatches() {
    const size_t both = std::min(a_.patches.size(), b_.patches.size());
    diff_.counts.patches = both;
    for (size_t i = 0; i < std::max(a_.patches.size(), b_.patches.size()); ++i) {
      if (i < both && a_.patches[i] == b_.patches[i]) continue;
      ++diff_.counts[DifferenceKind::kPatch];
      if (!diff_.first_patch) diff_.first_patch = i;
    }
  }

  void CompareSequences() {
    std::vector<bool> seen_b(b_.sequences.size(), false);
    size_t next_a = 0;
    const auto add_alone = [&](size_t end) {
      for (; next_a < end; ++next_a) Compare(&a_.sequences[next_a], nullptr);
    };
    for (const auto& [s, t] : MatchSequences(a_, b_)) {
      add_alone(s);
      next_a = s + 1;
      seen_b[t] = true;
      ++diff_.sequences_matched;
      Compare(&a_.sequences[s], &b_.sequences[t]);
    }
    add_alone(a_.sequences.size());
    for (size_t t = 0; t < b_.sequences.size(); ++t)
      if (!seen_b[t]) Compare(nullptr, &b_.sequences[t]);
  }

  /// Two sequences that belong together, or one that is there on one side alone.
  void Compare(const OutputSequence* a, const OutputSequence* b) {
    sequences_ = {a, b};
    current_ = SequenceDiff();
    current_.group = a != nullptr ? a->group : b->group;
    for (const Side side : kSides) {
      if (sequences_[side] == nullptr) continue;
      current_.name[side] = sequences_[side]->name;
      current_.identity[side] = sequences_[side]->identity;
      current_.packets[side] = sequences_[side]->packets.size();
    }
    std::vector<AlignedPair> pairs;
    if (a != nullptr && b != nullptr) {
      pairs = Align(HashesOf(*a), HashesOf(*b));
      if (a->identity != b->identity) {
        if (ignore_identity_)
          ++diff_.identities_ignored;
        else
          Note(DifferenceKind::kIdentity, 0, 0);
      }
    }
    for (const auto& [i, j] : pairs) {
      ++current_.counts.matched;
      matched_positions_[current_.group].emplace_back(a->packets[i].position,
                                                      b->packets[j].position);
      if (a->packets[i].loss_bits != b->packets[j].loss_bits) Note(DifferenceKind::kLossBits, i, j);
    }
    CompareAlone(pairs);
    diff_.counts.matched += current_.counts.matched;
    const bool differs = current_.counts.results() > 0;
    if (differs) diff_.sequences.push_back(std::move(current_));
  }

  /// What is left of a content that has no counterpart.
  struct Alone {
    std::vector<uint32_t> in_a;
    std::vector<uint32_t> in_b;
    bool is_matched = false;  // the same content was paired elsewhere in the sequence
  };

  /// The packets that the alignment left alone: on both sides, but elsewhere; once more; or
  /// nowhere.
  void CompareAlone(const std::vector<AlignedPair>& pairs) {
    const size_t all_a = sequences_.a == nullptr ? 0 : sequences_.a->packets.size();
    const size_t all_b = sequences_.b == nullptr ? 0 : sequences_.b->packets.size();
    if (pairs.size() == all_a && pairs.size() == all_b) return;
    std::unordered_map<uint64_t, Alone> by_hash;
    size_t next = 0;
    for (uint32_t i = 0; i < all_a; ++i) {
      if (next < pairs.size() && pairs[next].first == i) {
        ++next;
      } else {
        by_hash[sequences_.a->packets[i].hash].in_a.push_back(i);
      }
    }
    next = 0;
    for (uint32_t j = 0; j < all_b; ++j) {
      if (next < pairs.size() && pairs[next].second == j) {
        ++next;
      } else {
        by_hash[sequences_.b->packets[j].hash].in_b.push_back(j);
      }
    }
    for (const auto& [i, j] : pairs) {
      const auto found = by_hash.find(sequences_.a->packets[i].hash);
      if (found != by_hash.end()) found->second.is_matched = true;
    }
    for (const auto& [hash, alone] : by_hash) {
      const size_t both = std::min(alone.in_a.size(), alone.in_b.size());
      current_.counts.matched += both;
      for (size_t n = 0; n < both; ++n)
        Note(DifferenceKind::kReordered, alone.in_a[n], alone.in_b[n]);
      const bool elsewhere = alone.is_matched || both > 0;
      for (size_t n = both; n < alone.in_a.size(); ++n)
        Note(elsewhere ? DifferenceKind::kDuplicateInA : DifferenceKind::kOnlyInA, alone.in_a[n],
             std::nullopt);
      for (size_t n = both; n < alone.in_b.size(); ++n)
        Note(elsewhere ? DifferenceKind::kDuplicateInB : DifferenceKind::kOnlyInB, std::nullopt,
             alone.in_b[n]);
    }
  }

  void Note(DifferenceKind kind, std::optional<uint32_t> index_a, std::optional<uint32_t> index_b) {
    OutputDifference difference;
    difference.kind = kind;
    difference.group = current_.group;
    difference.sequence = current_.name;
    const Both<std::optional<uint32_t>> indices = {index_a, index_b};
    for (const Side side : kSides) {
      if (!indices[side]) continue;
      difference.packet[side] = sequences_[side]->packets[*indices[side]];
      difference.index[side] = *indices[side];
    }
    ++current_.counts[kind];
    ++diff_.counts[kind];
    const auto is_before = [](const OutputDifference& x, const OutputDifference& y) {
      return std::tuple(PositionOf(x), x.kind) < std::tuple(PositionOf(y), y.kind);
    };
    if (!diff_.first || is_before(difference, *diff_.first)) diff_.first = difference;
    std::vector<OutputDifference>& listed = diff_.listed[static_cast<size_t>(kind)];
    listed.push_back(std::move(difference));
    // Kept in no order until there are too many.
    if (listed.size() >= 2 * listed_ + 1024) CutToFirst(listed);
  }

  void CutToFirst(std::vector<OutputDifference>& listed) const {
    std::sort(listed.begin(), listed.end(),
              [](const auto& x, const auto& y) { return PositionOf(x) < PositionOf(y); });
    if (listed.size() > listed_) listed.resize(listed_);
  }

  /// The order of the packets that both have, sequences taken together.
  void CompareOrder() {
    for (auto& [group, positions] : matched_positions_) {
      std::sort(positions.begin(), positions.end());
      std::vector<uint32_t> in_b;
      in_b.reserve(positions.size());
      for (const auto& [position_a, position_b] : positions) in_b.push_back(position_b);
      diff_.counts.across_order += in_b.size() - LongestAscending(in_b).size();
    }
  }

  const ReplayOutput& a_;
  const ReplayOutput& b_;
  const size_t listed_;
  const bool ignore_identity_;
  OutputDiff diff_;
  Both<const OutputSequence*> sequences_;  // under comparison
  SequenceDiff current_;
  std::map<OutputGroup, std::vector<std::pair<uint32_t, uint32_t>>> matched_positions_;
};

}  // namespace

bool OutputDiff::Same() const {
  return counts.results() == 0 && counts.across_order == 0 && counts[DifferenceKind::kCounter] == 0;
}

Result<OutputDiff> DiffOutputs(const ReplayOutput& a, const ReplayOutput& b, size_t listed,
                               bool ignore_identity) {
  return OutputComparison(a, b, listed, ignore_identity).Run();
}

}  // namespace ringscope
