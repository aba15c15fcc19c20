#include "core/compare/shrink.h"

#include <algorithm>
#include <map>
#include <set>

#include "core/compare/payload_parts.h"
#include "core/compare/remove_blocks.h"
#include "core/perfetto/page.h"

namespace ringscope {
namespace {

using StepKind = StreamStep::Kind;
using StepChange = std::function<void(PlainStep&)>;

SequenceKey& SequenceOf(PlainStep& step) {
  return step.step.kind == StepKind::kPatch ? step.step.patches.sequence
                                            : step.step.commit.sequence;
}
ChunkId& ChunkOf(PlainStep& step) {
  return step.step.kind == StepKind::kPatch ? step.step.patches.chunk : step.step.commit.chunk;
}
bool HasSequence(const PlainStep& step) {
  return step.step.kind == StepKind::kCommit || step.step.kind == StepKind::kPatch;
}

/// Smaller sizes to try, the smallest first.
std::vector<size_t> SmallerSizes(size_t size) {
  std::set<size_t> sizes;
  for (const size_t smaller :
       {size_t{0}, size_t{1}, size_t{8}, size / 2, size - size / 8, size - size / 64, size - 1})
    if (smaller < size) sizes.insert(smaller);
  return {sizes.begin(), sizes.end()};
}

/// The n-th letter from one on, after z comes a.
char LetterAfter(char letter, size_t n) {
  return static_cast<char>('a' + (static_cast<size_t>(letter - 'a') + n) % 26);
}

/// The same bytes in a fragment that is to have `size` of them, in letters.
std::string InLetters(size_t size, char first, size_t fragment) {
  return FragmentBytes(size, LetterAfter(first, fragment));
}

/// Of a commit's flags and counts: what makes it plainer, most first. Its payload is not touched.
void AddCommitChanges(const PlainStep& step, std::vector<StepChange>& changes) {
  const ChunkCommit& commit = step.step.commit;
  if (!commit.complete) changes.push_back([](PlainStep& to) { to.step.commit.complete = true; });
  if (commit.identity != Identity{})
    changes.push_back([](PlainStep& to) { to.step.commit.identity = {}; });
  for (uint8_t bit = 0x80; bit != 0; bit = static_cast<uint8_t>(bit >> 1)) {
    if ((commit.flags & bit) == 0) continue;
    changes.push_back([bit](PlainStep& to) {
      to.step.commit.flags = static_cast<uint8_t>(to.step.commit.flags & ~bit);
    });
  }
  const size_t counted = PartsOf(step).fragments.size();
  for (const size_t count : {counted, size_t{commit.fragments} / 2}) {
    if (count >= commit.fragments) continue;
    changes.push_back(
        [count](PlainStep& to) { to.step.commit.fragments = static_cast<uint16_t>(count); });
  }
}

void AddPatchChanges(const PlainStep& step, std::vector<StepChange>& changes) {
  if (step.step.patches.more)
    changes.push_back([](PlainStep& to) { to.step.patches.more = false; });
  for (size_t i = 0; i < step.patches.size(); ++i) {
    changes.push_back([i](PlainStep& to) {
      to.patches.erase(to.patches.begin() + static_cast<std::ptrdiff_t>(i));
    });
    if (step.patches[i].second != "abcd")
      changes.push_back([i](PlainStep& to) { to.patches[i].second = "abcd"; });
    if (step.patches[i].first > 1)
      changes.push_back([i](PlainStep& to) { to.patches[i].first = 1; });
  }
}

/// What may make the step plainer, most first; of a commit without its payload, which is tried part
/// by part.
std::vector<StepChange> ChangesOf(const PlainStep& step) {
  std::vector<StepChange> changes;
  switch (step.step.kind) {
    case StepKind::kCommit:
      AddCommitChanges(step, changes);
      break;
    case StepKind::kPatch:
      AddPatchChanges(step, changes);
      break;
    case StepKind::kRead:
      if (step.step.max_packets == UINT64_MAX) break;
      for (const uint64_t limit : {UINT64_MAX, uint64_t{1}, step.step.max_packets - 1})
        if (limit == UINT64_MAX || limit < step.step.max_packets)
          changes.push_back([limit](PlainStep& to) { to.step.max_packets = limit; });
      break;
    case StepKind::kClone:
      break;
  }
  return changes;
}

class Shrinker {
 public:
  Shrinker(PlainStream stream, const Shows& shows, const std::function<bool()>& stop)
      : stream_(std::move(stream)), shows_(shows), stop_(stop) {}

  PlainStream Run() {
    TakePart();
    ShrinkBuffer(/*chunks_too=*/false);  // it takes fewer operations to fill
    do {
      RemoveBlocks(
          stream_.steps, [&](PlainSteps rest) { return TrySteps(std::move(rest)); },
          [&] { return IsOver(); });
    } while (!IsOver() && Simplify());
    return std::move(stream_);
  }

 private:
  bool IsOver() const { return stop_ && stop_(); }

  bool Try(PlainStream stream) {
    if (!shows_(stream)) return false;
    stream_ = std::move(stream);
    return true;
  }
  bool TrySteps(PlainSteps steps) {
    return Try({.size = stream_.size, .policy = stream_.policy, .steps = std::move(steps)});
  }

  /// Of a long stream often a short end is enough, or a short start, in a buffer that it fills.
  void TakePart() {
    for (size_t count = 16; count < stream_.steps.size(); count *= 4) {
      const auto length = static_cast<std::ptrdiff_t>(count);
      const PlainSteps end(stream_.steps.end() - length, stream_.steps.end());
      const PlainSteps start(stream_.steps.begin(), stream_.steps.begin() + length);
      for (uint64_t size = kPageBytes; !IsOver(); size = std::min(size * 2, stream_.size)) {
        for (const PlainSteps& part : {end, start})
          if (Try({.size = size, .policy = stream_.policy, .steps = part})) return;
        if (size >= stream_.size) break;
      }
    }
  }

  /// @return whether anything became smaller
  bool Simplify() {
    bool changed = ShrinkBuffer(/*chunks_too=*/true);
    changed |= ShrinkAllPayloads();
    changed |= NumberSequences();
    changed |= NumberChunks();
    char letter = 'a';
    for (size_t i = 0; i < stream_.steps.size() && !IsOver(); ++i) {
      while (SimplifyStep(i)) changed = true;
      if (stream_.steps[i]->step.kind != StepKind::kCommit) continue;
      changed |= SimplifyPayload(i, letter);
      letter = LetterAfter(letter, PartsOf(*stream_.steps[i]).fragments.size());
    }
    return changed;
  }

  bool TryStep(size_t i, PlainStep step) {
    PlainSteps steps = stream_.steps;
    steps[i] = std::make_shared<const PlainStep>(std::move(step));
    return TrySteps(std::move(steps));
  }

  bool SimplifyStep(size_t i) {
    for (const StepChange& change : ChangesOf(*stream_.steps[i])) {
      if (IsOver()) return false;
      PlainStep changed = *stream_.steps[i];
      change(changed);
      if (TryStep(i, std::move(changed))) return true;
    }
    return false;
  }

  /// The commit with other fragments: the header counts as many fewer or more.
  bool TryPayload(size_t i, const PayloadParts& parts) {
    PlainStep changed = *stream_.steps[i];
    const size_t before = PartsOf(changed).fragments.size();
    changed.payload = parts.Join();
    changed.step.commit.fragments =
        static_cast<uint16_t>(changed.step.commit.fragments + parts.fragments.size() - before);
    return TryStep(i, std::move(changed));
  }

  /// What follows the fragments, then the fragments themselves: blocks of them, their sizes, their
  /// bytes; first all at once. Each fragment is visited once.
  bool SimplifyPayload(size_t i, char letter) {
    bool changed = ShrinkRest(i);
    PayloadParts parts = PartsOf(*stream_.steps[i]);
    RemoveBlocks(
        parts.fragments,
        [&](std::vector<std::string> fewer) {
          PayloadParts less = parts;
          less.fragments = std::move(fewer);
          if (!TryPayload(i, less)) return false;
          parts = std::move(less);
          return changed = true;
        },
        [&] { return IsOver(); });
    const auto resize = [&](std::string& fragment, size_t size, size_t index) {
      fragment = InLetters(std::min(size, fragment.size()), letter, index);
    };
    for (const size_t size : {size_t{0}, size_t{1}, size_t{8}, SIZE_MAX}) {
      if (IsOver()) return changed;
      PayloadParts all = parts;
      for (size_t k = 0; k < all.fragments.size(); ++k) resize(all.fragments[k], size, k);
      if (all.fragments == parts.fragments) break;
      if (!TryPayload(i, all)) continue;
      parts = std::move(all);
      changed = true;
      break;
    }
    for (size_t k = 0; k < parts.fragments.size(); ++k) {
      const auto take = [&](size_t size) {
        PayloadParts one = parts;
        resize(one.fragments[k], size, k);
        if (one.fragments[k] == parts.fragments[k] || !TryPayload(i, one)) return false;
        parts = std::move(one);
        return changed = true;
      };
      const auto smaller = [&] {
        for (const size_t size : SmallerSizes(parts.fragments[k].size())) {
          if (IsOver()) return false;
          if (take(size)) return true;
        }
        return false;
      };
      while (smaller()) {
      }
      if (!IsOver()) take(SIZE_MAX);
    }
    return changed;
  }

  bool ShrinkRest(size_t i) {
    bool changed = false;
    PayloadParts parts = PartsOf(*stream_.steps[i]);
    const auto take = [&](std::string rest) {
      if (rest == parts.rest) return false;
      PayloadParts other = parts;
      other.rest = std::move(rest);
      if (!TryPayload(i, other)) return false;
      parts = std::move(other);
      return changed = true;
    };
    const auto smaller = [&] {
      for (const size_t size : SmallerSizes(parts.rest.size())) {
        if (IsOver()) return false;
        if (take(parts.rest.substr(0, size))) return true;
      }
      return false;
    };
    while (smaller()) {
    }
    take(std::string(parts.rest.size(), '\0'));
    return changed;
  }

  /// All fragments of all commits at once, before each is tried alone.
  bool ShrinkAllPayloads() {
    for (const size_t size : {size_t{1}, size_t{8}, SIZE_MAX}) {
      if (IsOver()) return false;
      char letter = 'a';
      bool changes = false;
      PlainSteps steps = Changed([&](PlainStep& step) {
        if (step.step.kind != StepKind::kCommit) return;
        PayloadParts parts = PartsOf(step);
        for (std::string& fragment : parts.fragments) {
          fragment = FragmentBytes(std::min(size, fragment.size()), letter);
          letter = LetterAfter(letter, 1);
        }
        if (size != SIZE_MAX) parts.rest.clear();
        std::string payload = parts.Join();
        changes |= payload != step.payload;
        step.payload = std::move(payload);
      });
      if (!changes) return false;
      if (TrySteps(std::move(steps))) return true;
    }
    return false;
  }

  bool ShrinkBuffer(bool chunks_too) {
    for (uint64_t size = kPageBytes; size < stream_.size && !IsOver(); size *= 2) {
      PlainStream smaller = stream_;
      smaller.size = size;
      if (Try(std::move(smaller)) || (chunks_too && TryScaled(size))) return true;
    }
    return false;
  }

  /// A smaller buffer, and all chunks smaller in proportion: as full as it was.
  bool TryScaled(uint64_t size) {
    const double ratio = static_cast<double>(size) / static_cast<double>(stream_.size);
    PlainStream scaled = stream_;
    scaled.size = size;
    scaled.steps = Changed([&](PlainStep& step) {
      if (step.step.kind == StepKind::kCommit) step.payload = Scaled(PartsOf(step), ratio).Join();
    });
    return Try(std::move(scaled));
  }

  /// All steps, changed.
  template <typename Change>
  PlainSteps Changed(Change change) const {
    PlainSteps steps = stream_.steps;
    for (auto& step : steps) {
      if (!HasSequence(*step)) continue;
      auto changed = std::make_shared<PlainStep>(*step);
      change(*changed);
      step = std::move(changed);
    }
    return steps;
  }

  /// 1:1, 1:2, and so on: in order of their first steps, or else of their numbers.
  bool NumberSequences() {
    for (const bool by_number : {false, true}) {
      std::vector<SequenceKey> order;
      Changed([&](PlainStep& step) {
        const SequenceKey key = SequenceOf(step);
        if (std::find(order.begin(), order.end(), key) == order.end()) order.push_back(key);
      });
      if (by_number) {
        std::sort(order.begin(), order.end(), [](const SequenceKey& x, const SequenceKey& y) {
          return std::pair(x.producer, x.writer) < std::pair(y.producer, y.writer);
        });
      }
      const auto number = [&](SequenceKey key) {
        const auto at = std::find(order.begin(), order.end(), key) - order.begin();
        return SequenceKey{ProducerId{1}, WriterId{static_cast<uint16_t>(at + 1)}};
      };
      if (std::all_of(order.begin(), order.end(), [&](SequenceKey k) { return number(k) == k; }))
        return false;
      if (TrySteps(Changed([&](PlainStep& step) { SequenceOf(step) = number(SequenceOf(step)); })))
        return true;
    }
    return false;
  }

  /// From 0, without gaps; else with gaps of one; else as far apart as they were.
  bool NumberChunks() {
    std::map<SequenceKey, std::vector<uint32_t>> ids;  // sorted as they follow each other
    std::map<SequenceKey, uint32_t> first;
    Changed([&](PlainStep& step) {
      first.try_emplace(SequenceOf(step), Raw(ChunkOf(step)));
      ids[SequenceOf(step)].push_back(Raw(ChunkOf(step)) - first[SequenceOf(step)]);
    });
    for (auto& [key, list] : ids) {
      std::sort(list.begin(), list.end(), [](uint32_t x, uint32_t y) {
        return static_cast<int32_t>(x) < static_cast<int32_t>(y);
      });
      list.erase(std::unique(list.begin(), list.end()), list.end());
    }
    for (const uint32_t widest : {1u, 2u, UINT32_MAX}) {
      bool same = true;
      const auto number = [&](SequenceKey key, ChunkId id) {
        uint32_t rank = 0;
        const std::vector<uint32_t>& list = ids[key];
        for (size_t i = 0; i < list.size() && list[i] != Raw(id) - first[key]; ++i)
          rank += i + 1 < list.size() ? std::min(list[i + 1] - list[i], widest) : 0;
        same &= rank == Raw(id);
        return ChunkId{rank};
      };
      PlainSteps steps = Changed(
          [&](PlainStep& step) { ChunkOf(step) = number(SequenceOf(step), ChunkOf(step)); });
      if (same) return false;
      if (TrySteps(std::move(steps))) return true;
    }
    return false;
  }

  PlainStream stream_;
  const Shows& shows_;
  const std::function<bool()>& stop_;
};

}  // namespace

std::string FragmentBytes(size_t size, char letter) {
  std::string bytes;
  for (size_t i = 0; i < size; ++i) {
    const char of_four[] = {letter, static_cast<char>('0' + i / 40 % 10),
                            static_cast<char>('0' + i / 4 % 10), '-'};
    bytes += of_four[i % 4];
  }
  return bytes;
}

PlainStream Shrink(PlainStream stream, const Shows& shows, const std::function<bool()>& stop) {
  return Shrinker(std::move(stream), shows, stop).Run();
}

}  // namespace ringscope
