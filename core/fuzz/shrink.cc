#include "core/fuzz/shrink.h"

#include <algorithm>
#include <map>
#include <set>

#include "core/base/wire.h"
#include "core/diff/remove_blocks.h"
#include "core/perfetto/fragment.h"

namespace ringscope {
namespace {

using StepKind = StreamStep::Kind;
using StepChange = std::function<void(PlainStep&)>;

constexpr uint64_t kLeastBuffer = 4096;

/// A commit's payload as its fragments, and what follows them.
struct PayloadParts {
  std::vector<std::string> fragments;
  std::string rest;

  std::string Join() const {
    std::string payload;
    for (const std::string& fragment : fragments) {
      wire::AppendVarint(payload, fragment.size());
      payload += fragment;
    }
    return payload + rest;
  }
};

PayloadParts PartsOf(const PlainStep& step) {
  PayloadParts parts;
  const Bytes payload = wire::AsBytes(step.payload);
  uint32_t end = 0;
  VisitFragments(payload, step.step.commit.fragments, [&](const Fragment& fragment) {
    parts.fragments.emplace_back(wire::AsText(payload.subspan(fragment.body, fragment.size())));
    end = fragment.end;
  });
  parts.rest = wire::AsText(payload.subspan(end));
  return parts;
}

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
       {size_t{0}, size_t{1}, size_t{8}, size / 2, size - size / 8, size - 1})
    if (smaller < size) sizes.insert(smaller);
  return {sizes.begin(), sizes.end()};
}

void AddPayloadChanges(const PlainStep& step, char letter, std::vector<StepChange>& changes) {
  const PayloadParts parts = PartsOf(step);
  const auto set = [&changes](PayloadParts changed, int fewer = 0) {
    changes.push_back([payload = changed.Join(), fewer](PlainStep& to) {
      to.payload = payload;
      to.step.commit.fragments = static_cast<uint16_t>(to.step.commit.fragments - fewer);
    });
  };
  for (const size_t size : SmallerSizes(parts.rest.size())) {
    PayloadParts changed = parts;
    changed.rest.resize(size);
    set(changed);
  }
  if (!parts.rest.empty() && parts.rest.find_first_not_of('\0') != std::string::npos) {
    PayloadParts changed = parts;
    changed.rest.assign(parts.rest.size(), '\0');
    set(changed);
  }
  for (size_t i = 0; i < parts.fragments.size(); ++i) {
    PayloadParts changed = parts;
    changed.fragments.erase(changed.fragments.begin() + static_cast<std::ptrdiff_t>(i));
    set(changed, 1);
  }
  for (size_t i = 0; i < parts.fragments.size(); ++i) {
    const auto fill = static_cast<char>('a' + (letter - 'a' + static_cast<int>(i)) % 26);
    for (const size_t size : SmallerSizes(parts.fragments[i].size())) {
      PayloadParts changed = parts;
      changed.fragments[i] = FragmentBytes(size, fill);
      set(changed);
    }
    PayloadParts changed = parts;
    changed.fragments[i] = FragmentBytes(parts.fragments[i].size(), fill);
    if (changed.fragments[i] != parts.fragments[i]) set(changed);
  }
}

void AddCommitChanges(const PlainStep& step, char letter, std::vector<StepChange>& changes) {
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
  AddPayloadChanges(step, letter, changes);
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

/// What may make the step smaller or plainer, most first.
/// @param letter for the bytes of its fragments
std::vector<StepChange> ChangesOf(const PlainStep& step, char letter) {
  std::vector<StepChange> changes;
  switch (step.step.kind) {
    case StepKind::kCommit:
      AddCommitChanges(step, letter, changes);
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
    TakeEnd();
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

  /// Of a long stream often a short end is enough.
  void TakeEnd() {
    for (size_t count = 16; count < stream_.steps.size() && !IsOver(); count *= 4) {
      PlainSteps end(stream_.steps.end() - static_cast<std::ptrdiff_t>(count), stream_.steps.end());
      if (TrySteps(std::move(end))) return;
    }
  }

  /// @return whether anything became smaller
  bool Simplify() {
    bool changed = ShrinkBuffer();
    changed |= NumberSequences();
    changed |= NumberChunks();
    char letter = 'a';
    for (size_t i = 0; i < stream_.steps.size() && !IsOver(); ++i) {
      while (SimplifyStep(i, letter)) changed = true;
      if (stream_.steps[i]->step.kind == StepKind::kCommit) {
        const auto used = static_cast<int>(PartsOf(*stream_.steps[i]).fragments.size());
        letter = static_cast<char>('a' + (letter - 'a' + used) % 26);
      }
    }
    return changed;
  }

  bool SimplifyStep(size_t i, char letter) {
    if (IsOver()) return false;
    for (const StepChange& change : ChangesOf(*stream_.steps[i], letter)) {
      auto changed = std::make_shared<PlainStep>(*stream_.steps[i]);
      change(*changed);
      PlainSteps steps = stream_.steps;
      steps[i] = std::move(changed);
      if (TrySteps(std::move(steps))) return true;
      if (IsOver()) return false;
    }
    return false;
  }

  bool ShrinkBuffer() {
    for (uint64_t size = kLeastBuffer; size < stream_.size && !IsOver(); size *= 2) {
      PlainStream smaller = stream_;
      smaller.size = size;
      if (Try(std::move(smaller))) return true;
    }
    return false;
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
