#include "core/compare/minimize.h"

#include <map>
#include <numeric>
#include <set>
#include <unordered_map>

#include "core/perfetto/fragment.h"

namespace ringscope {
namespace {

using Ops = std::vector<StoredOp>;

/// Bytes of packets to try first. Even ones can be well-formed messages.
constexpr std::array<size_t, 3> kSmallSizes = {0, 2, 8};
/// The largest packet that the helpers of Perfetto's tests make.
constexpr size_t kMostPacketBytes = 4094;

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
  /// Takes fragments away; the header counts as many fewer. @return false: there are none
  bool Erase(size_t begin, size_t end) {
    end = std::min(end, fragments.size());
    if (!header || begin >= end) return false;
    const auto first = fragments.begin() + static_cast<std::ptrdiff_t>(begin);
    fragments.erase(first, first + static_cast<std::ptrdiff_t>(end - begin));
    header->fragments = static_cast<uint16_t>(header->fragments - (end - begin));
    return true;
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

size_t SizeInPayload(size_t packet) { return packet + wire::VarintSize(packet); }
/// The largest packet that takes at most so many bytes, at least 1, its size varint included.
size_t SizeWithin(size_t bytes) {
  size_t packet = bytes;
  while (SizeInPayload(packet) > bytes) --packet;
  return packet;
}

/// Finds the least number up to `most`, for which it is known, that `fits`: one of the smallest, or
/// else by halving.
template <typename Fits>
size_t Least(size_t most, Fits fits) {
  size_t low = 0;
  for (const size_t small : kSmallSizes) {
    if (small >= most) return most;
    if (fits(small)) return small;
    low = small + 1;
  }
  return FirstNotBefore(low, most, [&](size_t size) { return !fits(size); });
}

/// Makes each chunk and each patched chunk of a commit a commit of its own. Requests in several
/// parts stay as they are. The flush id of a request is left out.
Ops SplitCommits(const Ops& ops) {
  Ops split;
  for (const StoredOp& stored : ops) {
    const auto* const commit = std::get_if<Commit>(&stored.op().body);
    CommitRequestParser parser;
    if (commit == nullptr || !commit->last || commit->part > 0 || !parser.Parse(commit->request)) {
      split.push_back(stored);
      continue;
    }
    const auto add = [&](auto add_part) {
      std::string request;
      CommitRequestBuilder builder(request);
      add_part(builder);
      split.emplace_back(stored.op(), std::move(request));
    };
    // A request's patches take effect after all its chunks.
    for (const ChunkToMove& chunk : parser.chunks())
      add([&](CommitRequestBuilder& builder) { builder.AddChunk(chunk); });
    for (const ChunkToPatch& patch : parser.patches())
      add([&](CommitRequestBuilder& builder) { builder.AddPatch(patch); });
  }
  return split;
}

// Changes that make a record plainer; false: the record has nothing to change.

bool DropTimeAndIdentity(Parts& parts) {
  bool dropped = std::exchange(parts.op.time_ns, std::nullopt).has_value();
  if (auto* const commit = std::get_if<Commit>(&parts.op.body)) {
    dropped |= commit->uid.value_or(0) != 0 || commit->pid.value_or(0) != 0;
    commit->uid.reset();
    commit->pid.reset();
  }
  return dropped;
}
bool DropReadLimits(Parts& parts) {
  auto* const read = std::get_if<ReadPass>(&parts.op.body);
  if (read == nullptr || (!read->max_bytes && !read->max_packets)) return false;
  read->max_bytes.reset();
  read->max_packets.reset();
  return true;
}
bool Complete(Parts& parts) {
  return std::exchange(parts.chunk.incomplete, false) ||
         (parts.patch && std::exchange(parts.patch->more, false));
}
/// Makes one packet of those that are whole from `begin` to `end`, with as many bytes.
bool JoinPackets(Parts& parts, size_t begin, size_t end) {
  if (!parts.header || parts.fragments.size() != parts.header->fragments) return false;
  const bool continues = (parts.header->flags & kLastContinues) != 0 && !parts.fragments.empty();
  begin = std::max<size_t>(begin, (parts.header->flags & kFirstContinues) != 0 ? 1 : 0);
  end = std::min(end, parts.fragments.size() - (continues ? 1 : 0));
  if (end < begin + 2) return false;
  size_t bytes = 0;
  for (size_t i = begin; i < end; ++i) bytes += SizeInPayload(parts.fragments[i].size());
  parts.Erase(begin + 1, end);
  parts.fragments[begin].resize(SizeWithin(bytes));
  return true;
}
/// Makes packets smaller by a factor, so that their chunk occupies as much less, rounded up.
bool ScalePayload(Parts& parts, uint64_t size, uint64_t of) {
  if (parts.fragments.empty()) return false;
  const uint64_t outer = OuterSize(static_cast<uint32_t>(parts.Payload().size())) * size / of;
  const size_t wanted =
      OuterSize(static_cast<uint32_t>(std::max<uint64_t>(outer, 1))) - 2 * kStoredHeaderSize;
  for (std::string& fragment : parts.fragments) fragment.resize(fragment.size() * size / of);
  parts.rest.resize(parts.rest.size() * size / of);
  std::string& largest = *std::ranges::max_element(parts.fragments, {}, &std::string::size);
  if (const size_t now = parts.Payload().size(); now < wanted)
    largest.resize(SizeWithin(SizeInPayload(largest.size()) + wanted - now));
  return true;
}
/// Gives packets and padding the bytes that they have in the notation.
bool FillPackets(Parts& parts) {
  if (!parts.header) return false;
  const std::string before = parts.Payload();
  for (size_t i = 0; i < parts.fragments.size(); ++i)
    parts.fragments[i] = ExampleBytes(parts.fragments[i].size(), *parts.name(), i);
  parts.rest.assign(parts.rest.size(), '\0');
  return parts.Payload() != before;
}

class Minimizer {
 public:
  Minimizer(Ops ops, ShowsDifference shows, std::function<bool()> stop)
      : ops_(std::move(ops)), shows_(std::move(shows)), stop_(std::move(stop)) {}

  Ops Run() {
    Try(SplitCommits(ops_));
    ShrinkBuffers();  // it takes fewer operations to fill
    do {
      RemoveSequences();
      RemoveBlocks([&] { return ops_.size(); },
                   [&](size_t begin, size_t end) {
                     Ops rest = ops_;
                     const auto first = rest.begin() + static_cast<std::ptrdiff_t>(begin);
                     rest.erase(first, first + static_cast<std::ptrdiff_t>(end - begin));
                     return Try(std::move(rest));
                   });
    } while (!IsOver() && Simplify());
    return std::move(ops_);
  }

 private:
  bool IsOver() const { return stop_ && stop_(); }

  bool Try(Ops ops) {
    if (!shows_(ops)) return false;
    ops_ = std::move(ops);
    return true;
  }

  /// Returns true if other records are of the same chunk: its packets stay where they are in it.
  bool IsPartOfChunk(const StoredOp& op) const {
    const auto name = TakeApart(op).name();
    return name && std::ranges::count(Names(), *name) > 1;
  }

  using Group = std::vector<size_t>;  // of records, by index
  /// Records to be changed together: those of all chunks, those of a chunk that is committed again
  /// or patched, and each other one by itself.
  /// @param splits_chunks also each record of such a chunk by itself
  std::vector<Group> Groups(bool splits_chunks) const {
    std::map<std::optional<uint64_t>, Group> of_chunks;  // nullopt: of all, which comes first
    for (size_t i = 0; i < ops_.size(); ++i) {
      const auto name = TakeApart(ops_[i]).name();
      if (!name) continue;
      of_chunks[std::nullopt].push_back(i);
      of_chunks[name->Packed()].push_back(i);
    }
    std::vector<Group> groups;
    for (const auto& [chunk, group] : of_chunks)
      if (group.size() > 1) groups.push_back(group);
    for (size_t i = 0; i < ops_.size(); ++i)
      if (const auto name = TakeApart(ops_[i]).name();
          splits_chunks || !name || of_chunks.at(name->Packed()).size() == 1)
        groups.push_back({i});
    return groups;
  }
  /// Tries the records with their parts changed. @return false, too: nothing changes
  template <typename F>
  bool TryOn(const Group& group, F change) {
    Ops ops = ops_;
    bool changes = false;
    for (const size_t i : group) {
      Parts parts = TakeApart(ops[i]);
      if (!change(parts)) continue;
      ops[i] = PutTogether(parts);
      changes = true;
    }
    return changes && !IsOver() && Try(std::move(ops));
  }
  template <typename F>
  bool Change(F change, bool splits_chunks) {
    bool changed = false;
    for (const Group& group : Groups(splits_chunks)) changed |= TryOn(group, change);
    return changed;
  }
  template <typename F>
  bool TryAll(F change) {
    Group all(ops_.size());
    std::iota(all.begin(), all.end(), 0);
    return TryOn(all, change);
  }

  /// Takes blocks out of a list, halving their size, the last block first, and at the end single
  /// elements, until none can go.
  /// @param size () counts those that are left
  /// @param remove (begin, end) tries without these, and returns true if that shows the same
  template <typename Size, typename Remove>
  void RemoveBlocks(Size size, Remove remove) const {
    size_t block = std::max<size_t>(1, size() / 2);
    while (!IsOver()) {
      bool removed = false;
      for (size_t end = size(); end > 0 && !IsOver();) {
        const size_t begin = end > block ? end - block : 0;
        removed |= remove(begin, end);
        end = std::min(begin, size());
      }
      if (block == 1 && !removed) return;
      if (!removed) block /= 2;
      block = std::clamp<size_t>(block, 1, std::max<size_t>(1, size()));
    }
  }

  /// Returns true if anything became smaller.
  bool Simplify() {
    bool changed = ShrinkBuffers();
    changed |= Renumber();
    for (bool (*const change)(Parts&) : {DropTimeAndIdentity, DropReadLimits, Complete})
      changed |= Change(change, /*splits_chunks=*/true);
    for (int bit = 0x80; bit != 0; bit >>= 1) {
      const auto drop = [bit](Parts& parts) {
        if (!parts.header || (parts.header->flags & bit) == 0) return false;
        parts.header->flags = static_cast<uint8_t>(parts.header->flags & ~bit);
        return true;
      };
      changed |= Change(drop, /*splits_chunks=*/true);
    }
    for (const Group& group : Groups(false)) {
      size_t most = SIZE_MAX;  // packets that each commit of the chunk has
      for (const size_t i : group)
        if (const Parts parts = TakeApart(ops_[i]); parts.header)
          most = std::min(most, parts.fragments.size());
      const auto join = [&](size_t begin, size_t end) {
        changed |= TryOn(group, [&](Parts& parts) { return JoinPackets(parts, begin, end); });
      };
      join(0, most);
      join(0, most - 1);
      join(most, SIZE_MAX);
    }
    changed |= ShrinkContents();
    changed |= MergeChunks();
    changed |= Change(FillPackets, false);
    return changed;
  }

  /// Takes away all operations of a sequence, one sequence after the other.
  void RemoveSequences() {
    std::set<uint32_t> sequences;
    for (const ChunkName& name : Names()) sequences.insert(name.sequence.Packed());
    for (const uint32_t sequence : sequences) {
      if (IsOver() || sequences.size() == 1) return;
      Ops rest = ops_;
      std::erase_if(rest, [&](const StoredOp& op) {
        const auto name = TakeApart(op).name();
        return name && name->sequence.Packed() == sequence;
      });
      Try(std::move(rest));
    }
  }

  /// Tries smaller buffers, with packets as they are or smaller by the same factor.
  bool ShrinkBuffers() {
    uint64_t largest = 0;
    for (const StoredOp& op : ops_)
      if (const auto* setup = std::get_if<BufferSetUp>(&op.op().body))
        largest = std::max(largest, setup->size);
    for (uint64_t size = kPageBytes; size < largest; size *= 2) {
      for (const bool scales : {false, true}) {
        const bool is_smaller = TryAll([&](Parts& parts) {
          if (auto* const setup = std::get_if<BufferSetUp>(&parts.op.body))
            return std::exchange(setup->size, std::min(setup->size, size)) > size;
          return scales && ScalePayload(parts, size, largest);
        });
        if (is_smaller) return true;
      }
    }
    return false;
  }

  /// Takes packets away, and makes sizes and numbers as small as they can be.
  bool ShrinkContents() {
    bool changed = false;
    for (const Group& group : Groups(/*splits_chunks=*/false)) {
      const auto largest = [&](auto get) {
        size_t most = 0;
        for (const size_t i : group) most = std::max<size_t>(most, get(TakeApart(ops_[i])));
        return most;
      };
      const auto packets = [](const Parts& of) { return of.fragments.size(); };
      RemoveBlocks([&] { return largest(packets); },
                   [&](size_t begin, size_t end) {
                     const bool gone =
                         TryOn(group, [&](Parts& of) { return of.Erase(begin, end); });
                     changed |= gone;
                     return gone;
                   });
      const auto shrink = [&](auto get, auto set) {
        const size_t most = largest(get);
        changed |= most > Least(most, [&](size_t size) {
                     return TryOn(group, [&](Parts& parts) {
                       if (get(parts) <= size) return false;
                       set(parts, size);
                       return true;
                     });
                   });
      };
      for (size_t k = largest(packets); k-- > 0;)
        shrink(
            [k](const Parts& of) { return k < of.fragments.size() ? of.fragments[k].size() : 0; },
            [k](Parts& of, size_t size) { of.fragments[k].resize(size); });
      shrink([](const Parts& of) { return of.rest.size(); },
             [](Parts& of, size_t size) { of.rest.assign(size, '\0'); });
      shrink(
          [](const Parts& of) {
            return of.header ? of.header->fragments - of.fragments.size() : 0;
          },
          [](Parts& of, size_t missing) {
            of.header->fragments = static_cast<uint16_t>(of.fragments.size() + missing);
          });
      shrink([](const Parts& of) { return of.patched.empty() ? 0 : of.patched.size() - 1; },
             [](Parts& of, size_t more) {
               of.patched.resize(1 + more);
               of.patch->patches.resize(1 + more);
             });
      // Patches stay after the size of a first packet.
      shrink(
          [](const Parts& of) {
            return of.patched.empty() ? 0 : std::max<uint64_t>(of.patch->patches[0].offset, 2) - 2;
          },
          [](Parts& of, size_t offset) { of.patch->patches[0].offset = offset + 2; });
      shrink(
          [](const Parts& of) {
            const auto* const read = std::get_if<ReadPass>(&of.op.body);
            return read == nullptr ? 0 : read->max_packets.value_or(0);
          },
          [](Parts& of, size_t limit) { std::get<ReadPass>(of.op.body).max_packets = limit; });
    }
    return changed;
  }

  /// Takes chunks away whose space the commit before or after them can take, as a larger packet.
  bool MergeChunks() {
    bool changed = false;
    for (size_t i = ops_.size(); i-- > 0 && !IsOver();) {
      const Parts merged = TakeApart(ops_[i]);
      for (const size_t to : {i - 1, i + 1}) {
        Parts larger = to < ops_.size() && !IsPartOfChunk(ops_[to]) ? TakeApart(ops_[to]) : Parts();
        if (!merged.header || !larger.header) continue;
        size_t bytes = OuterSize(static_cast<uint32_t>(merged.Payload().size()));
        if (larger.fragments.empty()) larger.fragments.resize(larger.header->fragments = 1);
        std::string& packet = *std::ranges::max_element(larger.fragments, {}, &std::string::size);
        if (!packet.empty()) bytes += SizeInPayload(packet.size());
        packet.resize(SizeWithin(bytes));
        if (packet.size() > kMostPacketBytes) continue;
        Ops ops = ops_;
        ops[to] = PutTogether(larger);
        ops.erase(ops.begin() + static_cast<std::ptrdiff_t>(i));
        if (!Try(std::move(ops))) continue;
        changed = true;
        break;
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

  /// Gives the sequences the numbers 1:1, 1:2, and so on, in the order of their numbers, and their
  /// chunks those from 0: without gaps; else as far apart as they were.
  bool Renumber() {
    std::map<SequenceKey, std::map<int32_t, ChunkId>> ids;  // by distance from the first
    for (const ChunkName& name : Names()) {
      auto& of_sequence = ids[name.sequence];
      const ChunkId first = of_sequence.empty() ? name.chunk : of_sequence.at(0);
      of_sequence[SignedDistance(first, name.chunk)] = name.chunk;
    }
    for (const bool keeps_gaps : {false, true}) {
      std::unordered_map<ChunkName, ChunkName> names;
      uint16_t writer = 0;
      for (const auto& [sequence, chunks] : ids) {
        ++writer;
        uint32_t count = 0;
        for (const auto& [distance, chunk] : chunks) {
          const uint32_t apart =
              static_cast<uint32_t>(distance) - static_cast<uint32_t>(chunks.begin()->first);
          names[{sequence, chunk}] = {{ProducerId{1}, WriterId{writer}},
                                      ChunkId{keeps_gaps ? apart : count++}};
        }
      }
      const bool changed = TryAll([&](Parts& parts) {
        const auto name = parts.name();
        if (!name) return false;
        parts.SetName(names.at(*name));
        return names.at(*name) != *name;
      });
      if (changed) return true;
    }
    return false;
  }

  Ops ops_;
  const ShowsDifference shows_;
  const std::function<bool()> stop_;
};

}  // namespace

std::vector<StoredOp> Minimize(std::vector<StoredOp> ops, ShowsDifference shows,
                               std::function<bool()> stop) {
  return Minimizer(std::move(ops), std::move(shows), std::move(stop)).Run();
}

}  // namespace ringscope
