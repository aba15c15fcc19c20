#include "core/compare/minimize.h"

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

template <typename T>
void EraseRange(std::vector<T>& of, size_t begin, size_t end) {
  of.erase(of.begin() + static_cast<std::ptrdiff_t>(begin),
           of.begin() + static_cast<std::ptrdiff_t>(end));
}

/// A record taken apart: a chunk of a commit, patches of a chunk, or anything else as it is.
struct Parts {
  Op op;                                   // the bytes of its request are those of the log's record
  std::optional<ChunkToMove> chunk = {};   // without data, if that has a header
  std::optional<ChunkHeader> header = {};  // of the chunk
  std::vector<std::string> fragments = {};  // as the header counts them
  std::string rest = {};                    // bytes after the fragments
  std::optional<ChunkToPatch> patch = {};   // without data
  std::vector<std::string> patched = {};    // data of its patches

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
    EraseRange(fragments, begin, end);
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

/// Takes each chunk and each patched chunk of a commit apart; requests in several parts stay as
/// they are. The flush id of a request is left out.
std::vector<Parts> TakeApart(const Op& op) {
  const auto* const commit = std::get_if<Commit>(&op.body);
  CommitRequestParser parser;
  if (commit == nullptr || !commit->last || commit->part > 0 || !parser.Parse(commit->request))
    return {Parts{.op = op}};
  std::vector<Parts> all;
  for (const ChunkToMove& chunk : parser.chunks()) {
    Parts& parts = all.emplace_back(Parts{.op = op, .chunk = chunk, .header = chunk.header()});
    if (!parts.header) continue;
    const Bytes payload = chunk.data->subspan(kChunkHeaderSize);
    uint32_t end = 0;
    VisitFragments(payload, parts.header->fragments, [&](const Fragment& fragment) {
      parts.fragments.emplace_back(wire::AsText(payload.subspan(fragment.body, fragment.size())));
      end = fragment.end;
    });
    parts.rest = wire::AsText(payload.subspan(end));
    parts.chunk->data.reset();
  }
  // A request's patches take effect after all its chunks.
  for (const ChunkToPatch& patch : parser.patches()) {
    Parts& parts = all.emplace_back(Parts{.op = op, .patch = patch});
    for (PatchSpan& span : parts.patch->patches)
      parts.patched.emplace_back(wire::AsText(std::exchange(span.data, {})));
  }
  return all;
}

StoredOp PutTogether(const Parts& parts) {
  if (!parts.chunk && !parts.patch) return StoredOp(parts.op);
  std::string request, data;
  CommitRequestBuilder builder(request);
  if (parts.chunk) {
    ChunkToMove chunk = *parts.chunk;
    if (parts.header) {
      AppendChunkHeader(data, *parts.header);
      data += parts.Payload();
      chunk.data = wire::AsBytes(data);
    }
    builder.AddChunk(chunk);
  } else {
    ChunkToPatch patch = *parts.patch;
    for (size_t i = 0; i < patch.patches.size(); ++i)
      patch.patches[i].data = wire::AsBytes(parts.patched[i]);
    builder.AddPatch(patch);
  }
  return StoredOp(parts.op, std::move(request));
}

/// A record, and its parts.
struct Record {
  Parts parts;
  StoredOp op;
};
using Records = std::vector<std::shared_ptr<const Record>>;

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
  return (parts.chunk && std::exchange(parts.chunk->incomplete, false)) ||
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
  Minimizer(const Ops& whole, ShowsDifference shows, std::function<bool()> stop)
      : shows_(std::move(shows)), stop_(std::move(stop)) {
    Records apart;
    for (const StoredOp& op : whole) {
      records_.push_back(std::make_shared<Record>(Record{{.op = op.op()}, op}));
      for (const Parts& parts : TakeApart(op.op())) apart.push_back(RecordOf(parts));
    }
    Try(std::move(apart));
  }

  Ops Run() {
    ShrinkBuffers();  // it takes fewer operations to fill
    do {
      RemoveSequences();
      RemoveBlocks([&] { return records_.size(); },
                   [&](size_t begin, size_t end) {
                     Records rest = records_;
                     EraseRange(rest, begin, end);
                     return Try(std::move(rest));
                   });
    } while (!IsOver() && Simplify());
    return OpsOf(records_);
  }

 private:
  static std::shared_ptr<const Record> RecordOf(const Parts& parts) {
    return std::make_shared<Record>(Record{parts, PutTogether(parts)});
  }
  static Ops OpsOf(const Records& records) {
    Ops ops;
    for (const auto& record : records) ops.push_back(record->op);
    return ops;
  }

  bool IsOver() const { return stop_ && stop_(); }

  bool Try(Records records) {
    if (!shows_(OpsOf(records))) return false;
    records_ = std::move(records);
    return true;
  }

  using Group = std::vector<size_t>;  // of records, by index
  /// Records to be changed together: those of all chunks, those of a chunk that is committed again
  /// or patched, and each other one by itself.
  /// @param splits_chunks also each record of such a chunk by itself
  std::vector<Group> Groups(bool splits_chunks) const {
    std::map<std::optional<uint64_t>, Group> of_chunks;  // nullopt: of all, which comes first
    for (size_t i = 0; i < records_.size(); ++i) {
      const auto name = records_[i]->parts.name();
      if (!name) continue;
      of_chunks[std::nullopt].push_back(i);
      of_chunks[name->Packed()].push_back(i);
    }
    std::vector<Group> groups;
    for (const auto& [chunk, group] : of_chunks)
      if (group.size() > 1) groups.push_back(group);
    for (size_t i = 0; i < records_.size(); ++i)
      if (const auto name = records_[i]->parts.name();
          splits_chunks || !name || of_chunks.at(name->Packed()).size() == 1)
        groups.push_back({i});
    return groups;
  }
  /// Tries the records with their parts changed. @return false, too: nothing changes
  template <typename F>
  bool TryOn(const Group& group, F change) {
    Records records = records_;
    bool changes = false;
    for (const size_t i : group) {
      Parts parts = records[i]->parts;
      if (!change(parts)) continue;
      records[i] = RecordOf(parts);
      changes = true;
    }
    return changes && !IsOver() && Try(std::move(records));
  }
  template <typename F>
  bool Change(F change, bool splits_chunks) {
    bool changed = false;
    for (const Group& group : Groups(splits_chunks)) changed |= TryOn(group, change);
    return changed;
  }
  template <typename F>
  bool TryAll(F change) {
    Group all(records_.size());
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
        if (const Parts& parts = records_[i]->parts; parts.header)
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
    std::set<SequenceKey> sequences;
    for (const ChunkName& name : Names()) sequences.insert(name.sequence);
    for (const SequenceKey sequence : sequences) {
      if (IsOver() || sequences.size() == 1) return;
      Records rest = records_;
      std::erase_if(rest, [&](const auto& record) {
        const auto name = record->parts.name();
        return name && name->sequence == sequence;
      });
      Try(std::move(rest));
    }
  }

  /// Tries smaller buffers, with packets as they are or smaller by the same factor.
  bool ShrinkBuffers() {
    uint64_t largest = 0;
    for (const auto& record : records_)
      if (const auto* setup = std::get_if<BufferSetUp>(&record->parts.op.body))
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
        for (const size_t i : group) most = std::max<size_t>(most, get(records_[i]->parts));
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
      // `limit` makes a number of the parts at most so large, and returns what it was.
      const auto shrink = [&](auto limit) {
        const size_t most = largest([&](Parts of) { return limit(of, SIZE_MAX); });
        changed |= most > Least(most, [&](size_t size) {
                     return TryOn(group, [&](Parts& of) { return limit(of, size) > size; });
                   });
      };
      for (size_t k = largest(packets); k-- > 0;)
        shrink([k](Parts& of, size_t most) -> size_t {
          if (k >= of.fragments.size()) return 0;
          const size_t size = of.fragments[k].size();
          of.fragments[k].resize(std::min(size, most));
          return size;
        });
      shrink([](Parts& of, size_t most) {
        const size_t size = of.rest.size();
        if (size > most) of.rest.assign(most, '\0');
        return size;
      });
      shrink([](Parts& of, size_t most) -> size_t {
        if (!of.header) return 0;
        const size_t there = of.fragments.size(), missing = of.header->fragments - there;
        of.header->fragments = static_cast<uint16_t>(there + std::min(missing, most));
        return missing;
      });
      shrink([](Parts& of, size_t most) -> size_t {  // patches after the first
        if (of.patched.empty()) return 0;
        const size_t more = of.patched.size() - 1;
        of.patched.resize(1 + std::min(more, most));
        of.patch->patches.resize(of.patched.size());
        return more;
      });
      shrink(
          [](Parts& of, size_t most) -> size_t {  // patches stay after the size of a first packet
            if (of.patched.empty() || of.patch->patches[0].offset < 2) return 0;
            uint64_t& offset = of.patch->patches[0].offset;
            return std::exchange(offset, 2 + std::min(offset - 2, most)) - 2;
          });
      shrink([](Parts& of, size_t most) -> size_t {
        auto* const read = std::get_if<ReadPass>(&of.op.body);
        if (read == nullptr || !read->max_packets) return 0;
        return std::exchange(*read->max_packets, std::min(*read->max_packets, most));
      });
    }
    return changed;
  }

  /// Takes chunks away whose space the commit before or after them can take, as a larger packet.
  bool MergeChunks() {
    bool changed = false;
    for (size_t i = records_.size(); i-- > 0 && !IsOver();) {
      const Parts merged = records_[i]->parts;
      for (const size_t to : {i - 1, i + 1}) {
        if (!merged.header || to >= records_.size()) continue;
        Parts larger = records_[to]->parts;
        // The packets of a chunk that other records are of stay where they are in it.
        if (!larger.header || std::ranges::count(Names(), *larger.name()) > 1) continue;
        size_t bytes = OuterSize(static_cast<uint32_t>(merged.Payload().size()));
        if (larger.fragments.empty()) larger.fragments.resize(larger.header->fragments = 1);
        std::string& packet = *std::ranges::max_element(larger.fragments, {}, &std::string::size);
        if (!packet.empty()) bytes += SizeInPayload(packet.size());
        packet.resize(SizeWithin(bytes));
        if (packet.size() > kMostPacketBytes) continue;
        Records records = records_;
        records[to] = RecordOf(larger);
        EraseRange(records, i, i + 1);
        if (!Try(std::move(records))) continue;
        changed = true;
        break;
      }
    }
    return changed;
  }

  /// The chunks of all commits and patches, in order.
  std::vector<ChunkName> Names() const {
    std::vector<ChunkName> names;
    for (const auto& record : records_)
      if (const auto name = record->parts.name()) names.push_back(*name);
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

  Records records_;
  const ShowsDifference shows_;
  const std::function<bool()> stop_;
};

}  // namespace

std::vector<StoredOp> Minimize(const std::vector<StoredOp>& ops, ShowsDifference shows,
                               std::function<bool()> stop) {
  return Minimizer(ops, std::move(shows), std::move(stop)).Run();
}

}  // namespace ringscope
