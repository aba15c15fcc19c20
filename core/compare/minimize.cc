#include "core/compare/minimize.h"

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>

#include "core/base/wire.h"
#include "core/perfetto/chunk.h"
#include "core/perfetto/commit_request.h"
#include "core/perfetto/fragment.h"
#include "core/perfetto/page.h"

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

  bool is_chunk() const { return header.has_value(); }
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

/// Bytes that a person can tell apart, as the helpers of Perfetto's tests make them: the letter,
/// two digits that count, a dash, and again.
std::string FragmentBytes(size_t size, char letter) {
  std::string bytes;
  for (size_t i = 0; i < size; ++i) {
    const char of_four[] = {letter, static_cast<char>('0' + i / 40 % 10),
                            static_cast<char>('0' + i / 4 % 10), '-'};
    bytes += of_four[i % 4];
  }
  return bytes;
}

/// The n-th letter after a letter; a follows z.
char LetterAfter(char letter, size_t n) {
  return static_cast<char>('a' + (static_cast<size_t>(letter - 'a') + n) % 26);
}

/// Makes the chunk take about this part of the space that it takes in a buffer.
void Scale(Parts& parts, double ratio) {
  const auto part = [ratio](size_t whole) {
    return static_cast<size_t>(static_cast<double>(whole) * ratio);
  };
  const size_t whole = parts.Payload().size() + kStoredHeaderSize;
  const size_t wanted = std::max<size_t>(kStoredHeaderSize, part(whole)) - kStoredHeaderSize;
  for (std::string& fragment : parts.fragments) fragment.resize(part(fragment.size()));
  parts.rest.resize(part(parts.rest.size()));
  if (parts.fragments.empty()) return;
  // Headers do not become smaller: the last fragment makes up for that.
  std::string& last = parts.fragments.back();
  const size_t now = parts.Payload().size();
  last.resize(
      now > wanted ? last.size() - std::min(last.size(), now - wanted) : last.size() + wanted - now,
      'x');
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
  if (const auto* commit = std::get_if<Commit>(&parts.op.body);
      commit != nullptr && (commit->uid.value_or(0) != 0 || commit->pid.value_or(0) != 0)) {
    changes.push_back([](Parts& to) {
      std::get<Commit>(to.op.body).uid.reset();
      std::get<Commit>(to.op.body).pid.reset();
    });
  }
  if (parts.header) {
    if (parts.chunk.incomplete) changes.push_back([](Parts& to) { to.chunk.incomplete = false; });
    for (uint8_t bit = 0x80; bit != 0; bit = static_cast<uint8_t>(bit >> 1)) {
      if ((parts.header->flags & bit) == 0) continue;
      changes.push_back(
          [bit](Parts& to) { to.header->flags = static_cast<uint8_t>(to.header->flags & ~bit); });
    }
    for (const size_t count : {parts.fragments.size(), size_t{parts.header->fragments} / 2}) {
      if (count >= parts.header->fragments) continue;
      changes.push_back(
          [count](Parts& to) { to.header->fragments = static_cast<uint16_t>(count); });
    }
    for (const size_t size : SmallerSizes(parts.rest.size()))
      changes.push_back([size](Parts& to) { to.rest.resize(size); });
    if (parts.rest.find_first_not_of('\0') != std::string::npos)
      changes.push_back([](Parts& to) { to.rest.assign(to.rest.size(), '\0'); });
  } else if (parts.patch) {
    if (parts.patch->more) changes.push_back([](Parts& to) { to.patch->more = false; });
    for (size_t i = 0; i < parts.patched.size(); ++i) {
      const auto at = static_cast<std::ptrdiff_t>(i);
      changes.push_back([at](Parts& to) {
        to.patch->patches.erase(to.patch->patches.begin() + at);
        to.patched.erase(to.patched.begin() + at);
      });
      if (parts.patched[i] != "abcd") changes.push_back([i](Parts& to) { to.patched[i] = "abcd"; });
      if (parts.patch->patches[i].offset > 1)
        changes.push_back([i](Parts& to) { to.patch->patches[i].offset = 1; });
    }
  } else if (const auto* read = std::get_if<ReadPass>(&parts.op.body)) {
    if (read->max_bytes)
      changes.push_back([](Parts& to) { std::get<ReadPass>(to.op.body).max_bytes.reset(); });
    if (read->max_packets) {
      changes.push_back([](Parts& to) { std::get<ReadPass>(to.op.body).max_packets.reset(); });
      for (const uint64_t limit : {uint64_t{1}, *read->max_packets - 1})
        if (limit < *read->max_packets)
          changes.push_back(
              [limit](Parts& to) { std::get<ReadPass>(to.op.body).max_packets = limit; });
    }
  }
  return changes;
}

class Minimizer {
 public:
  explicit Minimizer(MinimizeInput input) : input_(std::move(input)), ops_(input_.ops) {}

  Ops Run() {
    Try(SplitCommits(ops_));
    TakePart();
    ShrinkBuffers(/*chunks_too=*/false);  // it takes fewer operations to fill
    do {
      RemoveBlocks(
          ops_, [&](Ops rest) { return Try(std::move(rest)); }, [&] { return IsOver(); });
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

  /// Of a long log often a short end is enough, or a short start, in buffers that it fills, with
  /// all records that are neither commits nor reads.
  void TakePart() {
    const uint64_t largest = LargestBuffer();
    for (size_t count = 16; count < ops_.size(); count *= 4) {
      for (uint64_t size = kPageBytes; !IsOver(); size = std::min(size * 2, largest)) {
        if (Try(PartOf(ops_.size() - count, ops_.size(), size))) return;
        if (Try(PartOf(0, count, size))) return;
        if (size >= largest) break;
      }
    }
  }
  uint64_t LargestBuffer() const {
    uint64_t largest = kPageBytes;
    for (const StoredOp& op : ops_)
      if (const auto* setup = std::get_if<BufferSetUp>(&op.op().body))
        largest = std::max(largest, setup->size);
    return largest;
  }
  /// The commits and reads from `begin` to `end`, and buffers that are no larger than `most`.
  Ops PartOf(size_t begin, size_t end, uint64_t most) const {
    Ops part;
    for (size_t i = 0; i < ops_.size(); ++i) {
      const auto& body = ops_[i].op().body;
      const bool fills =
          std::holds_alternative<Commit>(body) || std::holds_alternative<ReadPass>(body);
      if (!fills || (begin <= i && i < end)) part.push_back(WithBuffer(ops_[i], most));
    }
    return part;
  }
  static StoredOp WithBuffer(const StoredOp& stored, uint64_t most) {
    const auto* setup = std::get_if<BufferSetUp>(&stored.op().body);
    if (setup == nullptr || setup->size <= most) return stored;
    Op smaller = stored.op();
    std::get<BufferSetUp>(smaller.body).size = most;
    return StoredOp(smaller);
  }

  /// Returns true if anything became smaller.
  bool Simplify() {
    bool changed = ShrinkBuffers(/*chunks_too=*/true);
    changed |= MergeChunks();
    changed |= DropTimes();
    changed |= ShrinkAllPayloads();
    changed |= NumberSequences();
    changed |= NumberChunks();
    char letter = 'a';
    for (size_t i = 0; i < ops_.size() && !IsOver(); ++i) {
      while (SimplifyOp(i)) changed = true;
      if (!TakeApart(ops_[i]).is_chunk()) continue;
      changed |= SimplifyFragments(i, letter);
      letter = LetterAfter(letter, TakeApart(ops_[i]).fragments.size());
    }
    return changed;
  }

  bool TryOp(size_t i, const Parts& parts) {
    Ops ops = ops_;
    ops[i] = PutTogether(parts);
    return Try(std::move(ops));
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

  /// Blocks of fragments, then their sizes and bytes, first all at once. Each fragment is visited
  /// once.
  bool SimplifyFragments(size_t i, char letter) {
    bool changed = false;
    Parts parts = TakeApart(ops_[i]);
    const auto take = [&](Parts other) {
      // The header counts as many fewer.
      other.header->fragments = static_cast<uint16_t>(
          parts.header->fragments + other.fragments.size() - parts.fragments.size());
      if (!TryOp(i, other)) return false;
      parts = std::move(other);
      return changed = true;
    };
    RemoveBlocks(
        parts.fragments,
        [&](std::vector<std::string> fewer) {
          Parts less = parts;
          less.fragments = std::move(fewer);
          return take(std::move(less));
        },
        [&] { return IsOver(); });
    const auto in_letters = [&](size_t k, size_t size) {
      return FragmentBytes(std::min(size, parts.fragments[k].size()), LetterAfter(letter, k));
    };
    for (const size_t size : {size_t{0}, size_t{1}, size_t{8}, SIZE_MAX}) {
      if (IsOver()) return changed;
      Parts all = parts;
      for (size_t k = 0; k < all.fragments.size(); ++k) all.fragments[k] = in_letters(k, size);
      if (all.fragments == parts.fragments || take(std::move(all))) break;
    }
    for (size_t k = 0; k < parts.fragments.size(); ++k) {
      const auto resize = [&](size_t size) {
        Parts one = parts;
        one.fragments[k] = in_letters(k, size);
        return one.fragments[k] != parts.fragments[k] && take(std::move(one));
      };
      const auto smaller = [&] {
        for (const size_t size : SmallerSizes(parts.fragments[k].size()))
          if (!IsOver() && resize(size)) return true;
        return false;
      };
      while (smaller()) {
      }
      if (!IsOver()) resize(SIZE_MAX);
    }
    return changed;
  }

  /// All records, changed. Calls `change` with the parts of each.
  template <typename F>
  Ops Changed(F change) const {
    Ops ops;
    ops.reserve(ops_.size());
    for (const StoredOp& stored : ops_) {
      Parts parts = TakeApart(stored);
      change(parts);
      ops.push_back(PutTogether(parts));
    }
    return ops;
  }

  /// Takes chunks away, and makes the next one as much larger, so that the buffer is as full.
  bool MergeChunks() {
    bool changed = false;
    for (size_t i = ops_.size(); i-- > 0 && !IsOver();) {
      const Parts gone = TakeApart(ops_[i]);
      if (!gone.is_chunk()) continue;
      for (size_t next = i + 1; next < ops_.size(); ++next) {
        Parts grown = TakeApart(ops_[next]);
        if (!grown.is_chunk()) continue;
        std::string& end = grown.fragments.empty() ? grown.rest : grown.fragments.back();
        end.resize(end.size() + gone.Payload().size() + kStoredHeaderSize);
        Ops ops = ops_;
        ops[next] = PutTogether(grown);
        ops.erase(ops.begin() + static_cast<std::ptrdiff_t>(i));
        changed |= grown.Payload().size() <= kMaxChunkPayload && Try(std::move(ops));
        break;
      }
    }
    return changed;
  }

  bool DropTimes() {
    if (std::ranges::none_of(ops_, [](const StoredOp& op) { return op.op().time_ns.has_value(); }))
      return false;
    return Try(Changed([](Parts& parts) { parts.op.time_ns.reset(); }));
  }

  /// All fragments of all commits at once, before each is tried alone.
  bool ShrinkAllPayloads() {
    for (const size_t size : {size_t{1}, size_t{8}, SIZE_MAX}) {
      if (IsOver()) return false;
      char letter = 'a';
      bool changes = false;
      Ops ops = Changed([&](Parts& parts) {
        if (!parts.is_chunk()) return;
        const std::string before = parts.Payload();
        for (std::string& fragment : parts.fragments) {
          fragment = FragmentBytes(std::min(size, fragment.size()), letter);
          letter = LetterAfter(letter, 1);
        }
        if (size != SIZE_MAX) parts.rest.clear();
        changes |= parts.Payload() != before;
      });
      if (!changes) return false;
      if (Try(std::move(ops))) return true;
    }
    return false;
  }

  bool ShrinkBuffers(bool chunks_too) {
    const uint64_t largest = LargestBuffer();
    for (uint64_t size = kPageBytes; size < largest && !IsOver(); size *= 2) {
      Ops smaller;
      for (const StoredOp& op : ops_) smaller.push_back(WithBuffer(op, size));
      if (Try(std::move(smaller))) return true;
      if (!chunks_too) continue;
      // All chunks smaller in proportion, so that the buffer is as full as it was.
      const double ratio = static_cast<double>(size) / static_cast<double>(largest);
      Ops scaled = Changed([&](Parts& parts) {
        if (parts.is_chunk()) Scale(parts, ratio);
        if (auto* setup = std::get_if<BufferSetUp>(&parts.op.body))
          setup->size = std::min(setup->size, size);
      });
      if (Try(std::move(scaled))) return true;
    }
    return false;
  }

  /// The chunks of all commits and patches, in order.
  std::vector<ChunkName> Names() const {
    std::vector<ChunkName> names;
    for (const StoredOp& op : ops_)
      if (const auto name = TakeApart(op).name()) names.push_back(*name);
    return names;
  }

  /// Gives producers and writers of all records new numbers.
  template <typename F>
  Ops Numbered(F number) const {
    return Changed([&](Parts& parts) {
      if (const auto name = parts.name())
        return parts.SetName({number(name->sequence), name->chunk});
      std::visit([&](auto& body) { NumberBody(body, number); }, parts.op.body);
    });
  }
  template <typename Body, typename F>
  static void NumberBody(Body& body, F number) {
    if constexpr (requires { ProducerId{body.producer}; }) {
      SequenceKey key{body.producer, {}};
      if constexpr (requires { WriterId{body.writer}; }) {
        key.writer = body.writer;
        key = number(key);
        body.writer = key.writer;
      } else {
        key = number(key);
      }
      body.producer = key.producer;
    }
  }

  /// 1:1, 1:2, and so on, in order of their first records, or else of their numbers; else producers
  /// from 1, and the writers of each.
  bool NumberSequences() {
    for (const int way : {0, 1, 2}) {
      std::vector<SequenceKey> order;
      for (const ChunkName& name : Names())
        if (std::find(order.begin(), order.end(), name.sequence) == order.end())
          order.push_back(name.sequence);
      if (way == 1) {
        std::sort(order.begin(), order.end(), [](const SequenceKey& x, const SequenceKey& y) {
          return std::pair(x.producer, x.writer) < std::pair(y.producer, y.writer);
        });
      }
      std::map<ProducerId, uint16_t> producers;
      std::map<SequenceKey, SequenceKey> numbers;
      std::map<ProducerId, uint16_t> writers;
      for (const SequenceKey& key : order) {
        const auto next = static_cast<uint16_t>(producers.size() + 1);
        const uint16_t producer =
            way < 2 ? uint16_t{1} : producers.try_emplace(key.producer, next).first->second;
        numbers[key] = {ProducerId{producer}, WriterId{++writers[ProducerId{producer}]}};
      }
      if (std::ranges::all_of(numbers, [](const auto& each) { return each.first == each.second; }))
        return false;
      const auto number = [&](SequenceKey key) {
        if (const auto at = numbers.find(key); at != numbers.end()) return at->second;
        if (way < 2) return SequenceKey{ProducerId{1}, key.writer};
        const auto at = producers.find(key.producer);
        return at == producers.end() ? key : SequenceKey{ProducerId{at->second}, key.writer};
      };
      if (!IsOver() && Try(Numbered(number))) return true;
    }
    return false;
  }

  /// From 0, without gaps; else with gaps of one; else as far apart as they were.
  bool NumberChunks() {
    std::map<SequenceKey, ChunkId> first;
    std::map<SequenceKey, std::set<int32_t>> ids;  // distances from the first
    for (const ChunkName& name : Names()) {
      const auto start = first.try_emplace(name.sequence, name.chunk).first->second;
      ids[name.sequence].insert(SignedDistance(start, name.chunk));
    }
    for (const uint32_t widest : {1u, 2u, UINT32_MAX}) {
      std::map<uint64_t, ChunkId> numbers;
      bool same = true;
      for (const auto& [sequence, distances] : ids) {
        uint32_t number = 0;
        int64_t previous = *distances.begin();
        for (const int32_t distance : distances) {
          number += static_cast<uint32_t>(std::min<int64_t>(distance - previous, widest));
          previous = distance;
          const ChunkId old{Raw(first[sequence]) + static_cast<uint32_t>(distance)};
          numbers[ChunkName{sequence, old}.Packed()] = ChunkId{number};
          same &= Raw(old) == number;
        }
      }
      if (same || IsOver()) return false;
      Ops ops = Changed([&](Parts& parts) {
        if (const auto name = parts.name())
          parts.SetName({name->sequence, numbers[name->Packed()]});
      });
      if (Try(std::move(ops))) return true;
    }
    return false;
  }

  const MinimizeInput input_;
  Ops ops_;
};

}  // namespace

std::vector<StoredOp> Minimize(MinimizeInput input) { return Minimizer(std::move(input)).Run(); }

}  // namespace ringscope
