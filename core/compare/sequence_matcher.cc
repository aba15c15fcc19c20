#include "core/compare/sequence_matcher.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>

namespace ringscope {
namespace {

/// Content that more sequences than this have is no sign of any of them.
constexpr size_t kMostOwners = 16;

/// How often a sequence has a content.
struct Owner {
  uint32_t sequence = 0;
  uint32_t count = 0;
};
using Owners = std::unordered_map<uint64_t, std::vector<Owner>>;

Owners OwnersIn(const ReplayOutput& file) {
  Owners owners;
  for (uint32_t s = 0; s < file.sequences.size(); ++s) {
    for (const OutputPacket& packet : file.sequences[s].packets) {
      std::vector<Owner>& of_content = owners[packet.hash];
      if (!of_content.empty() && of_content.back().sequence == s)
        ++of_content.back().count;
      else if (of_content.size() <= kMostOwners)
        of_content.push_back({s, 1});
    }
  }
  return owners;
}

struct Candidate {
  uint32_t a = 0;
  uint32_t b = 0;
  uint64_t common = 0;  // packets
  bool same_name = false;
};

}  // namespace

std::vector<std::pair<uint32_t, uint32_t>> MatchSequences(const ReplayOutput& a,
                                                          const ReplayOutput& b) {
  const Owners in_a = OwnersIn(a);
  const Owners in_b = OwnersIn(b);
  std::unordered_map<uint64_t, uint64_t> common;  // by both indices
  for (const auto& [hash, owners_a] : in_a) {
    const auto found = in_b.find(hash);
    if (found == in_b.end()) continue;
    for (const Owner& of_a : owners_a)
      for (const Owner& of_b : found->second)
        if (a.sequences[of_a.sequence].group == b.sequences[of_b.sequence].group)
          common[uint64_t{of_a.sequence} << 32 | of_b.sequence] += std::min(of_a.count, of_b.count);
  }

  std::vector<Candidate> candidates;
  for (const auto& [indices, packets] : common) {
    Candidate candidate{.a = static_cast<uint32_t>(indices >> 32),
                        .b = static_cast<uint32_t>(indices),
                        .common = packets,
                        .same_name = false};
    candidate.same_name = a.sequences[candidate.a].name == b.sequences[candidate.b].name;
    candidates.push_back(candidate);
  }
  std::sort(candidates.begin(), candidates.end(), [](const Candidate& x, const Candidate& y) {
    return std::tuple(y.common, y.same_name, x.a, x.b) <
           std::tuple(x.common, x.same_name, y.a, y.b);
  });

  std::vector<bool> used_a(a.sequences.size(), false), used_b(b.sequences.size(), false);
  std::vector<std::pair<uint32_t, uint32_t>> pairs;
  for (const Candidate& candidate : candidates) {
    if (used_a[candidate.a] || used_b[candidate.b]) continue;
    used_a[candidate.a] = used_b[candidate.b] = true;
    pairs.emplace_back(candidate.a, candidate.b);
  }
  std::sort(pairs.begin(), pairs.end());
  return pairs;
}

}  // namespace ringscope
