#include "core/smb/memory_sends.h"

#include <algorithm>

namespace ringscope::smb {
namespace {

/// What a request names.
struct SentRequest {
  uint64_t time_ns = 0;
  uint64_t chunks = 0;
  uint64_t first_returned_ns = kNotOver;
  bool is_early = false;
  DueTime due;
};

std::vector<SentRequest> RequestsOf(const std::vector<ChunkUse>& uses) {
  std::vector<std::pair<uint64_t, uint64_t>> sent;  // when, and when it was returned
  for (const ChunkUse& use : uses)
    if (use.committed_ns != kNotOver) sent.emplace_back(use.committed_ns, use.returned.to);
  std::sort(sent.begin(), sent.end());
  std::vector<SentRequest> requests;
  for (const auto& [time, returned] : sent) {
    if (requests.empty() || requests.back().time_ns != time)
      requests.push_back({.time_ns = time, .first_returned_ns = returned});
    ++requests.back().chunks;
  }
  return requests;
}

/// Times, from the first to before the second.
using Spell = std::pair<uint64_t, uint64_t>;

/// When so many chunks may have been returned and not sent.
std::vector<Spell> SpellsOf(const std::vector<ChunkUse>& uses, uint64_t chunks) {
  std::vector<uint64_t> returned, sent;
  for (const ChunkUse& use : uses) {
    if (use.committed_ns == kNotOver) continue;
    returned.push_back(use.returned.from);
    sent.push_back(use.due.latest_ns);
  }
  std::sort(returned.begin(), returned.end());
  std::sort(sent.begin(), sent.end());
  std::vector<Spell> spells;
  for (size_t begun = 0, over = 0; begun < returned.size(); ++begun) {
    while (over < sent.size() && sent[over] < returned[begun]) ++over;
    if (begun + 1 < over + chunks) continue;
    // Until one more than that is sent.
    const uint64_t end = sent[begun + 1 - chunks];
    const uint64_t next = end == kNotOver ? end : end + 1;
    if (!spells.empty() && spells.back().second >= returned[begun])
      spells.back().second = std::max(spells.back().second, next);
    else
      spells.emplace_back(returned[begun], next);
  }
  return spells;
}

}  // namespace

EarlySends FindDueTimes(std::vector<ChunkUse>& uses, uint64_t chunk_bytes, uint64_t memory_bytes) {
  std::vector<SentRequest> requests = RequestsOf(uses);
  EarlySends early;
  for (SentRequest& request : requests) {
    request.is_early = request.chunks * chunk_bytes >= memory_bytes / 2;
    if (request.is_early)
      ++early.requests;
    else if (request.time_ns > request.first_returned_ns)
      early.delay_ns = std::max(early.delay_ns, request.time_ns - request.first_returned_ns);
  }
  // What one request was too early for waits for the next at the latest.
  uint64_t next_ns = kNotOver;
  for (auto request = requests.rbegin(); request != requests.rend(); ++request) {
    if (!request->is_early) next_ns = request->time_ns;
    request->due = {.likely_ns = next_ns, .latest_ns = next_ns};
    const bool is_delay_known = early.requests < requests.size();
    if (request->is_early && is_delay_known)
      request->due.likely_ns = std::min(
          next_ns, std::max(request->time_ns, request->first_returned_ns + early.delay_ns));
  }
  for (ChunkUse& use : uses) {
    if (use.committed_ns == kNotOver) continue;
    use.due = std::ranges::lower_bound(requests, use.committed_ns, {}, &SentRequest::time_ns)->due;
  }
  return early;
}

std::vector<uint64_t> EarliestEnds(const std::vector<ChunkUse>& uses, uint64_t chunk_bytes,
                                   uint64_t memory_bytes) {
  const uint64_t half = std::max<uint64_t>((memory_bytes / 2 + chunk_bytes - 1) / chunk_bytes, 1);
  const std::vector<Spell> spells = SpellsOf(uses, half);
  std::vector<uint64_t> ends;
  ends.reserve(uses.size());
  for (const ChunkUse& use : uses) {
    uint64_t end = use.freed.from;
    const auto spell = std::ranges::upper_bound(spells, use.returned.from, {}, &Spell::second);
    if (use.committed_ns != kNotOver && spell != spells.end()) {
      const uint64_t sent = std::max(spell->first, use.returned.from);
      if (sent < use.committed_ns) end = sent + Between(use.committed_ns, use.freed.from);
    }
    ends.push_back(end);
  }
  return ends;
}

}  // namespace ringscope::smb
