#include "core/compare/output_diff.h"

#include <tuple>
#include <unordered_map>

#include "core/compare/list_alignment.h"

namespace ringscope {
namespace {

/// Counts of each content in the sequences that have it. Of one that more than kMostOwners
/// sequences have no more are listed: it is no sign of any of them.
using Owners = std::unordered_map<uint64_t, std::vector<std::pair<uint32_t, uint32_t>>>;
constexpr size_t kMostOwners = 16;

Owners OwnersIn(const ReplayOutput& file) {
  Owners owners;
  for (uint32_t s = 0; s < file.sequences.size(); ++s) {
    for (const OutputPacket& packet : file.sequences[s].packets) {
      auto& of_content = owners[packet.hash];
      if (!of_content.empty() && of_content.back().first == s)
        ++of_content.back().second;
      else if (of_content.size() <= kMostOwners)
        of_content.emplace_back(s, 1);
    }
  }
  return owners;
}

/// Matches the sequences of two outputs one to one: those with most packets in common first, and
/// among equals those of the same name. Only sequences with something in common.
/// @return pairs of indices, ascending in the first
std::vector<AlignedPair> MatchSequences(const ReplayOutput& a, const ReplayOutput& b) {
  const Owners in_b = OwnersIn(b);
  std::map<AlignedPair, uint64_t> common;
  for (const auto& [hash, owners_a] : OwnersIn(a))
    if (const auto* const owners_b = FindIn(in_b, hash))
      for (const auto& [s, count_a] : owners_a)
        for (const auto& [t, count_b] : *owners_b) common[{s, t}] += std::min(count_a, count_b);
  std::vector<std::tuple<uint64_t, bool, AlignedPair>> candidates;  // the best is the least
  for (const auto& [pair, packets] : common)
    candidates.emplace_back(UINT64_MAX - packets,
                            a.sequences[pair.first].name != b.sequences[pair.second].name, pair);
  std::ranges::sort(candidates);
  std::vector<bool> used_a(a.sequences.size()), used_b(b.sequences.size());
  std::vector<AlignedPair> pairs;
  for (const auto& [score, other_name, pair] : candidates) {
    if (used_a[pair.first] || used_b[pair.second]) continue;
    used_a[pair.first] = used_b[pair.second] = true;
    pairs.push_back(pair);
  }
  std::ranges::sort(pairs);
  return pairs;
}

class OutputComparison {
 public:
  OutputComparison(const ReplayOutput& a, const ReplayOutput& b, size_t listed)
      : a_(a), b_(b), listed_(listed) {}

  Result<OutputDiff> Run() {
    diff_.packets = {a_.packets, b_.packets};
    diff_.service_packets = {a_.service_packets, b_.service_packets};
    RS_RETURN_IF_ERROR(CompareCounters());
    CompareSequences();
    RS_RETURN_IF_ERROR(CheckCommon());
    CompareOrder();
    for (std::vector<OutputDifference>& listed : diff_.listed) CutToFirst(listed);
    return std::move(diff_);
  }

 private:
  Status CompareCounters() {
    if (a_.stats.empty() || b_.stats.empty()) return {};
    if (a_.stats.size() != b_.stats.size())
      return Fail(ErrorCode::kUsage,
                  fmt::format("A has {} buffers, and B has {}: they are not of the same log",
                              a_.stats.size(), b_.stats.size()));
    for (uint32_t i = 0; i < a_.stats.size(); ++i) {
      BufferDiff& buffer = diff_.buffers.emplace_back();
      buffer.id = BufferId{static_cast<uint16_t>(i)};
      buffer.sides.a.index = i;
      buffer.sides.a.stats = a_.stats[i];
      buffer.sides.b.stats = b_.stats[i];
      for (size_t j = 0; j < kStatFields.size(); ++j)
        diff_.counts[DifferenceKind::kCounter] += buffer.CounterDiffers(j);
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

  void CompareSequences() {
    std::vector<bool> seen_b(b_.sequences.size());
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
    Both<std::vector<uint64_t>> hashes;
    for (const Side side : kSides) {
      if (sequences_[side] == nullptr) continue;
      current_.name[side] = sequences_[side]->name;
      current_.identity[side] = sequences_[side]->identity;
      current_.packets[side] = sequences_[side]->packets.size();
      for (const OutputPacket& packet : sequences_[side]->packets)
        hashes[side].push_back(packet.hash);
    }
    const std::vector<AlignedPair> pairs = AlignLists(hashes.a, hashes.b);
    const bool are_both = a != nullptr && b != nullptr;
    if (are_both && a->identity != b->identity) Note(DifferenceKind::kIdentity, 0, 0);
    for (const auto& [i, j] : pairs) {
      ++current_.counts.matched;
      matched_positions_.emplace_back(a->packets[i].position, b->packets[j].position);
      if (a->packets[i].loss_bits != b->packets[j].loss_bits) Note(DifferenceKind::kLossBits, i, j);
    }
    CompareAlone(hashes, pairs);
    diff_.counts.matched += current_.counts.matched;
    if (are_both && a->name != b->name) {
      ++diff_.renamed_sequences;
      diff_.renamed_packets += current_.counts.matched;
    }
    if (current_.counts.all() > 0) diff_.sequences.push_back(std::move(current_));
  }

  /// The packets of a content that the alignment left alone: on both sides, but elsewhere; once
  /// more; or nowhere.
  void CompareAlone(const Both<std::vector<uint64_t>>& hashes,
                    const std::vector<AlignedPair>& pairs) {
    Both<std::vector<bool>> is_paired = {std::vector<bool>(hashes.a.size()),
                                         std::vector<bool>(hashes.b.size())};
    for (const auto& [i, j] : pairs) is_paired.a[i] = is_paired.b[j] = true;
    struct Alone {
      Both<std::vector<uint32_t>> in;
      bool is_matched = false;  // the same content was paired elsewhere in the sequence
    };
    std::unordered_map<uint64_t, Alone> by_hash;
    for (const Side side : kSides)
      for (uint32_t i = 0; i < hashes[side].size(); ++i)
        if (!is_paired[side][i]) by_hash[hashes[side][i]].in[side].push_back(i);
    if (by_hash.empty()) return;
    for (const auto& [i, j] : pairs)
      if (auto* const alone = FindIn(by_hash, hashes.a[i])) alone->is_matched = true;
    for (const auto& [hash, alone] : by_hash) {
      const auto& [a, b] = alone.in;
      const size_t both = std::min(a.size(), b.size());
      current_.counts.matched += both;
      for (size_t n = 0; n < both; ++n) Note(DifferenceKind::kReordered, a[n], b[n]);
      const bool elsewhere = alone.is_matched || both > 0;
      for (const Side side : kSides)
        for (size_t n = both; n < alone.in[side].size(); ++n)
          Note(elsewhere ? DuplicateIn(side) : OnlyIn(side),
               side == Side::kA ? std::optional(a[n]) : std::nullopt,
               side == Side::kB ? std::optional(b[n]) : std::nullopt);
    }
  }

  void Note(DifferenceKind kind, std::optional<uint32_t> index_a, std::optional<uint32_t> index_b) {
    OutputDifference difference{.kind = kind, .sequence = current_.name, .packet = {}};
    const Both<std::optional<uint32_t>> indices = {index_a, index_b};
    for (const Side side : kSides) {
      if (!indices[side]) continue;
      difference.packet[side] = sequences_[side]->packets[*indices[side]];
      difference.index[side] = *indices[side];
    }
    ++current_.counts[kind];
    ++diff_.counts[kind];
    const auto key = [](const OutputDifference& of) { return std::pair(of.position(), of.kind); };
    if (!diff_.first || key(difference) < key(*diff_.first)) diff_.first = difference;
    std::vector<OutputDifference>& listed = diff_.listed[kind];
    listed.push_back(std::move(difference));
    // Kept in no order until there are too many.
    if (listed.size() >= 2 * listed_ + 1024) CutToFirst(listed);
  }

  void CutToFirst(std::vector<OutputDifference>& listed) const {
    std::ranges::sort(listed, {}, &OutputDifference::position);
    if (listed.size() > listed_) listed.resize(listed_);
  }

  /// The order of the packets that both have, sequences taken together.
  void CompareOrder() {
    std::ranges::sort(matched_positions_);
    std::vector<uint32_t> in_b;
    for (const auto& [position_a, position_b] : matched_positions_) in_b.push_back(position_b);
    diff_.counts[DifferenceKind::kOrder] = in_b.size() - LongestAscending(in_b).size();
  }

  const ReplayOutput& a_;
  const ReplayOutput& b_;
  const size_t listed_;
  OutputDiff diff_;
  Both<const OutputSequence*> sequences_;  // under comparison
  SequenceDiff current_;
  std::vector<AlignedPair> matched_positions_;
};

}  // namespace

uint64_t ReplayOutput::CutTo(uint64_t most) {
  stats.clear();
  for (OutputSequence& sequence : sequences)
    std::erase_if(sequence.packets, [&](const auto& packet) { return packet.position >= most; });
  std::erase_if(sequences, [](const OutputSequence& one) { return one.packets.empty(); });
  const uint64_t all = std::exchange(packets, std::min(packets, most));
  return all - packets;
}

uint64_t OutputDifference::position() const {
  uint64_t position = UINT64_MAX;
  for (const Side side : kSides)
    if (packet[side]) position = std::min<uint64_t>(position, packet[side]->position);
  return position;
}

Result<OutputDiff> DiffOutputs(const ReplayOutput& a, const ReplayOutput& b, size_t listed) {
  return OutputComparison(a, b, listed).Run();
}

}  // namespace ringscope
