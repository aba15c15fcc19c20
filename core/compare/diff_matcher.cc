#include "core/compare/diff_matcher.h"

#include <limits>
#include <unordered_map>

namespace ringscope {
namespace {

struct PlaceHash {
  size_t operator()(const DiffPlace& place) const {
    const size_t chunk = std::hash<ChunkAt>()({place.buffer, {place.sequence, place.chunk}});
    return chunk ^ (uint64_t{place.offset} << 1 | place.clone) * 0xC2B2AE3D27D4EB4F;
  }
};

constexpr uint32_t kNoMatch = std::numeric_limits<uint32_t>::max();

}  // namespace

PacketMatches MatchByPlace(const ReturnedPackets& a, const ReturnedPackets& b) {
  // The packets of b at one place form a chain, the first of them first.
  std::unordered_map<DiffPlace, uint32_t, PlaceHash> heads;
  heads.reserve(b.size());
  std::vector<uint32_t> next(b.size(), kNoMatch);
  for (size_t j = b.size(); j-- > 0;) {
    const auto [head, is_new] = heads.try_emplace(b[j].place, static_cast<uint32_t>(j));
    if (!is_new) next[j] = std::exchange(head->second, static_cast<uint32_t>(j));
  }

  PacketMatches matches;
  std::vector<bool> matched(b.size(), false);
  for (uint32_t i = 0; i < a.size(); ++i) {
    const auto head = heads.find(a[i].place);
    if (head == heads.end() || head->second == kNoMatch) {
      matches.only_a.push_back(i);
      continue;
    }
    const uint32_t j = std::exchange(head->second, next[head->second]);
    matched[j] = true;
    matches.pairs.emplace_back(i, j);
  }
  for (uint32_t j = 0; j < b.size(); ++j)
    if (!matched[j]) matches.only_b.push_back(j);
  return matches;
}

uint64_t CountDisplaced(std::span<const AlignedPair> pairs) {
  std::vector<uint32_t> seconds;
  seconds.reserve(pairs.size());
  for (const auto& [i, j] : pairs) seconds.push_back(j);
  return pairs.size() - LongestAscending(seconds).size();
}

}  // namespace ringscope
