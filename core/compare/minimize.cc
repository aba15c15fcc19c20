#include "core/compare/minimize.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <variant>

#include "core/base/wire.h"
#include "core/perfetto/chunk.h"
#include "core/perfetto/commit_request.h"
#include "core/perfetto/fragment.h"

namespace ringscope {
namespace {

using Ops = std::vector<StoredOp>;

/// A record taken apart: its chunk if it is a commit of one, or its patches.
struct Parts {
  Op op;
  std::optional<ChunkHeader> header;
  ChunkToMove chunk;                   // without data
  std::vector<std::string> fragments;  // as the header counts them
  std::string rest;                    // bytes after the fragments
  std::optional<ChunkToPatch> patch;   // without data
  std::vector<std::string> patched;    // data of its patches

  ProducerId producer() const { return std::get<Commit>(op.body).producer; }
  /// The chunk that is committed or patched.
  std::optional<ChunkName> name() const {
    if (header) return ChunkName{{producer(), header->writer}, header->chunk};
    if (patch) return patch->NameFor(producer());
    return std::nullopt;
  }
  void SetName(const ChunkName& name) {
    std::get<Commit>(op.body).producer = name.sequence.producer;
    if (header) {
      header->writer = name.sequence.writer;
      header->chunk = name.chunk;
    } else if (patch) {
      patch->writer = Raw(name.sequence.writer);
      patch->chunk = Raw(name.chunk);
    }
  }
  std::string Payload() const {
    std::string payload;
    for (const std::string& fragment : fragments) {
      wire::AppendVarint(payload, fragment.size());
      payload += fragment;
    }
    return payload + rest;
  }
};

Parts TakeApart(const StoredOp& stored) {
  Parts parts;
  parts.op = stored.op();
  const auto* commit = std::get_if<Commit>(&parts.op.body);
  CommitRequestParser parser;
  if (commit == nullptr || !commit->last || commit->part > 0 || !parser.Parse(commit->request) ||
      parser.chunks().size() + parser.patches().size() != 1)
    return parts;
  if (!parser.patches().empty()) {
    parts.patch = parser.patches().front();
    for (PatchSpan& span : parts.patch->patches)
      parts.patched.emplace_back(wire::AsText(std::exchange(span.data, {})));
    return parts;
  }
  parts.chunk = parser.chunks().front();
  parts.header = parts.chunk.header();
  if (!parts.header) return parts;
  const Bytes payload = parts.chunk.data->subspan(kChunkHeaderSize);
  uint32_t end = 0;
  VisitFragments(payload, parts.header->fragments, [&](const Fragment& fragment) {
    parts.fragments.emplace_back(wire::AsText(payload.subspan(fragment.body, fragment.size())));
    end = fragment.end;
  });
  parts.rest = wire::AsText(payload.subspan(end));
  parts.chunk.data.reset();
  return parts;
}

StoredOp PutTogether(const Parts& parts) {
  const auto* commit = std::get_if<Commit>(&parts.op.body);
  if (commit == nullptr) return StoredOp(parts.op);
  std::string request;
  CommitRequestBuilder builder(request);
  if (parts.header) {
    std::string data;
    AppendChunkHeader(data, *parts.header);
    data += parts.Payload();
    ChunkToMove chunk = parts.chunk;
    chunk.data = wire::AsBytes(data);
    builder.AddChunk(chunk);
  } else if (parts.patch) {
    ChunkToPatch patch = *parts.patch;
    for (size_t i = 0; i < patch.patches.size(); ++i)
      patch.patches[i].data = wire::AsBytes(parts.patched[i]);
    builder.AddPatch(patch);
  } else {
    request = wire::AsText(commit->request);
  }
  return StoredOp(parts.op, std::move(request));
}

/// Bytes that a person can tell apart, as the helpers of Perfetto's tests make them: a letter for
/// each fragment, two digits that count, a dash, and again.
std::string FragmentBytes(size_t size, size_t fragment) {
  std::string bytes;
  for (size_t i = 0; i < size; ++i) {
    const char of_four[] = {static_cast<char>('a' + fragment % 26),
                            static_cast<char>('0' + i / 40 % 10),
                            static_cast<char>('0' + i / 4 % 10), '-'};
    bytes += of_four[i % 4];
  }
  return bytes;
}

/// Smaller sizes to try, the smallest first.
std::set<size_t> SmallerSizes(size_t size) {
  std::set<size_t> sizes;
  for (const size_t smaller :
       {size_t{0}, size_t{1}, size_t{8}, size / 2, size - size / 8, size - size / 64, size - 1})
    if (smaller < size) sizes.insert(smaller);
  return sizes;
}

using Change = std::function<void(Parts&)>;

/// The changes that may make a record plainer, the greatest first; fragments apart.
std::vector<Change> ChangesOf(const Parts& parts) {
  std::vector<Change> changes;
  const auto add = [&](bool applies, Change change) {
    if (applies) changes.push_back(std::move(change));
  };
  if (const auto* commit = std::get_if<Commit>(&parts.op.body)) {
    add(commit->uid.value_or(0) != 0 || commit->pid.value_or(0) != 0, [](Parts& to) {
      std::get<Commit>(to.op.body).uid.reset();
      std::get<Commit>(to.op.body).pid.reset();
    });
  }
  if (const auto* read = std::get_if<ReadPass>(&parts.op.body)) {
    add(read->max_bytes || read->max_packets, [](Parts& to) {
      std::get<ReadPass>(to.op.body).max_bytes.reset();
      std::get<ReadPass>(to.op.body).max_packets.reset();
    });
    add(read->max_packets.value_or(0) > 1,
        [](Parts& to) { --*std::get<ReadPass>(to.op.body).max_packets; });
  }
  if (parts.header) {
    add(parts.chunk.incomplete, [](Parts& to) { to.chunk.incomplete = false; });
    for (int bit = 0x80; bit != 0; bit >>= 1)
      add((parts.header->flags & bit) != 0,
          [bit](Parts& to) { to.header->flags = static_cast<uint8_t>(to.header->flags & ~bit); });
    add(parts.fragments.size() < parts.header->fragments,
        [](Parts& to) { to.header->fragments = static_cast<uint16_t>(to.fragments.size()); });
    for (const size_t size : SmallerSizes(parts.rest.size()))
      add(true, [size](Parts& to) { to.rest.resize(size); });
    add(parts.rest.find_first_not_of('\0') != std::string::npos,
        [](Parts& to) { to.rest.assign(to.rest.size(), '\0'); });
  }
  if (parts.patch) add(parts.patch->more, [](Parts& to) { to.patch->more = false; });
  for (size_t i = 0; i < parts.patched.size(); ++i)
    add(true, [at = static_cast<std::ptrdiff_t>(i)](Parts& to) {
      to.patch->patches.erase(to.patch->patches.begin() + at);
      to.patched.erase(to.patched.begin() + at);
    });
  return changes;
}

class Minimizer {
 public:
  explicit Minimizer(MinimizeInput input) : input_(std::move(input)), ops_(input_.ops) {}

  Ops Run() {
    Try(SplitCommits(ops_));
    ShrinkBuffers();  // it takes fewer operations to fill
    do {
      RemoveBlocks(ops_, [&](Ops rest) { return Try(std::move(rest)); });
    } while (!IsOver() && Simplify());
    return std::move(ops_);
  }

 private:
  bool IsOver() const { return input_.stop && input_.stop(); }

  bool Try(Ops ops) {
    if (!input_.shows(ops)) return false;
    ops_ = std::move(ops);
    if (input_.progress) input_.progress(ops_.size());
    return true;
  }
  bool TryOp(size_t i, const Parts& parts) {
    Ops ops = ops_;
    ops[i] = PutTogether(parts);
    return Try(std::move(ops));
  }
  /// Tries all records with their parts changed. @return false, too: nothing changes
  template <typename F>
  bool TryAll(F change) {
    Ops ops;
    bool changes = false;
    for (const StoredOp& stored : ops_) {
      Parts parts = TakeApart(stored);
      const bool is_changed = change(parts);
      changes |= is_changed;
      ops.push_back(is_changed ? PutTogether(parts) : stored);
    }
    return changes && !IsOver() && Try(std::move(ops));
  }

  /// Takes blocks out of a list, halving their size, the last block first, and at the end single
  /// elements, until none can go.
  /// @param list is read again after each call of `keep`
  /// @param keep (std::vector<T>) takes a shorter list over, and returns true, if that shows the
  /// same
  template <typename T, typename Keep>
  void RemoveBlocks(const std::vector<T>& list, Keep keep) const {
    size_t block = std::max<size_t>(1, list.size() / 2);
    while (!IsOver()) {
      bool removed = false;
      for (size_t end = list.size(); end > 0 && !IsOver();) {
        const size_t begin = end > block ? end - block : 0;
        std::vector<T> rest(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(begin));
        rest.insert(rest.end(), list.begin() + static_cast<std::ptrdiff_t>(end), list.end());
        removed |= keep(std::move(rest));
        end = std::min(begin, list.size());
      }
      if (block == 1 && !removed) return;
      if (!removed) block /= 2;
      block = std::clamp<size_t>(block, 1, std::max<size_t>(1, list.size()));
    }
  }

  /// Sizes of buffers to try, up to that of the largest.
  std::vector<uint64_t> BufferSizes() const {
    uint64_t largest = kPageBytes;
    for (const StoredOp& op : ops_)
      if (const auto* setup = std::get_if<BufferSetUp>(&op.op().body))
        largest = std::max(largest, setup->size);
    std::vector<uint64_t> sizes;
    for (uint64_t size = kPageBytes; size < largest; size *= 2) sizes.push_back(size);
    sizes.push_back(largest);
    return sizes;
  }
  /// Returns true if anything became smaller.
  bool Simplify() {
    bool changed = ShrinkBuffers();
    changed |= TryAll(
        [](Parts& parts) { return std::exchange(parts.op.time_ns, std::nullopt).has_value(); });
    for (size_t i = 0; i < ops_.size() && !IsOver(); ++i) changed |= RemoveFragments(i);
    changed |= ShrinkFragments();
    changed |= NumberSequences();
    changed |= NumberChunks();
    for (size_t i = 0; i < ops_.size() && !IsOver(); ++i)
      while (SimplifyOp(i)) changed = true;
    return changed;
  }

  bool ShrinkBuffers() {
    for (const uint64_t size : BufferSizes()) {
      const bool is_smaller = TryAll([&](Parts& parts) {
        auto* const setup = std::get_if<BufferSetUp>(&parts.op.body);
        if (setup == nullptr || setup->size <= size) return false;
        setup->size = size;
        return true;
      });
      if (is_smaller) return true;
    }
    return false;
  }

  bool SimplifyOp(size_t i) {
    const Parts parts = TakeApart(ops_[i]);
    for (const Change& change : ChangesOf(parts)) {
      if (IsOver()) return false;
      Parts changed = parts;
      change(changed);
      if (TryOp(i, changed)) return true;
    }
    return false;
  }

  bool RemoveFragments(size_t i) {
    Parts parts = TakeApart(ops_[i]);
    if (!parts.header) return false;
    const size_t before = parts.fragments.size();
    RemoveBlocks(parts.fragments, [&](std::vector<std::string> fewer) {
      Parts less = parts;
      // The header counts as many fewer.
      less.header->fragments =
          static_cast<uint16_t>(less.header->fragments + fewer.size() - parts.fragments.size());
      less.fragments = std::move(fewer);
      if (!TryOp(i, less)) return false;
      parts = std::move(less);
      return true;
    });
    return parts.fragments.size() < before;
  }

  /// Fills the fragments with letters, all with as few bytes as they can have together, then each
  /// with as few as it can have.
  bool ShrinkFragments() {
    bool changed = false;
    for (const size_t size : {size_t{0}, size_t{1}, size_t{8}, SIZE_MAX}) {
      size_t index = 0;
      changed = changed || TryAll([&](Parts& parts) {
                  const std::string before = parts.header ? parts.Payload() : "";
                  for (std::string& fragment : parts.fragments)
                    fragment = FragmentBytes(std::min(size, fragment.size()), index++);
                  if (size != SIZE_MAX) parts.rest.clear();
                  return parts.header && parts.Payload() != before;
                });
    }
    size_t index = 0;
    for (size_t op = 0; op < ops_.size() && !IsOver(); ++op) {
      Parts parts = TakeApart(ops_[op]);
      for (size_t k = 0; k < parts.fragments.size(); ++k, ++index) {
        const auto resize = [&](size_t size) {
          Parts less = parts;
          less.fragments[k] = FragmentBytes(std::min(size, less.fragments[k].size()), index);
          if (IsOver() || less.fragments[k] == parts.fragments[k] || !TryOp(op, less)) return false;
          parts = std::move(less);
          return changed = true;
        };
        const auto shrink = [&] {
          const auto sizes = SmallerSizes(parts.fragments[k].size());
          return std::ranges::any_of(sizes, resize);
        };
        while (shrink()) {
        }
        resize(SIZE_MAX);
      }
    }
    return changed;
  }

  /// The chunks of all commits and patches, in order.
  std::vector<ChunkName> Names() const {
    std::vector<ChunkName> names;
    for (const StoredOp& op : ops_)
      if (const auto name = TakeApart(op).name()) names.push_back(*name);
    return names;
  }

  /// Gives the sequences the numbers 1:1, 1:2, and so on, in the order of their numbers.
  bool NumberSequences() {
    std::set<uint32_t> order;
    for (const ChunkName& name : Names()) order.insert(name.sequence.Packed());
    return TryAll([&](Parts& parts) {
      const auto name = parts.name();
      if (!name) return false;
      const auto at = std::distance(order.begin(), order.find(name->sequence.Packed()));
      const SequenceKey key{ProducerId{1}, WriterId{static_cast<uint16_t>(1 + at)}};
      parts.SetName({key, name->chunk});
      return key != name->sequence;
    });
  }

  /// Numbers the chunks of each sequence from 0: without gaps; else as far apart as they were.
  bool NumberChunks() {
    std::map<SequenceKey, std::map<int32_t, ChunkId>> ids;  // by distance from the first
    for (const ChunkName& name : Names()) {
      auto& of_sequence = ids[name.sequence];
      const ChunkId first = of_sequence.empty() ? name.chunk : of_sequence.at(0);
      of_sequence[SignedDistance(first, name.chunk)] = name.chunk;
    }
    for (const bool keeps_gaps : {false, true}) {
      std::unordered_map<ChunkName, ChunkId> numbers;
      for (const auto& [sequence, chunks] : ids) {
        uint32_t count = 0;
        for (const auto& [distance, chunk] : chunks) {
          const int32_t number = distance - chunks.begin()->first;
          numbers[{sequence, chunk}] = ChunkId{keeps_gaps ? static_cast<uint32_t>(number) : count};
          ++count;
        }
      }
      const bool changed = TryAll([&](Parts& parts) {
        const auto name = parts.name();
        if (!name) return false;
        parts.SetName({name->sequence, numbers.at(*name)});
        return numbers.at(*name) != name->chunk;
      });
      if (changed) return true;
    }
    return false;
  }

  const MinimizeInput input_;
  Ops ops_;
};

}  // namespace

std::vector<StoredOp> Minimize(MinimizeInput input) { return Minimizer(std::move(input)).Run(); }

}  // namespace ringscope
