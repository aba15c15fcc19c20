#include "core/compare/renumber.h"

#include <algorithm>
#include <map>
#include <utility>

#include "core/base/wire.h"
#include "core/perfetto/commit_request.h"

namespace ringscope {
namespace {

/// New numbers by the old ones, given out in order.
template <typename Id>
class NumberTable {
 public:
  explicit NumberTable(Id first) : next_(first) {}
  Id operator()(Id old) {
    const auto [at, is_new] = numbers_.try_emplace(old, next_);
    if (is_new) next_ = static_cast<Id>(static_cast<int64_t>(next_) + 1);
    return at->second;
  }

 private:
  std::map<Id, Id> numbers_;
  Id next_;
};

/// New ids of a sequence's chunks.
class ChunkNumbers {
 public:
  void Add(ChunkId id) {
    if (steps_.empty()) first_ = id;
    steps_.push_back(SignedDistance(first_, id));
  }
  /// After the last Add. @param widest steps that two neighbours may be apart
  void Number(uint32_t widest) {
    std::sort(steps_.begin(), steps_.end());
    steps_.erase(std::unique(steps_.begin(), steps_.end()), steps_.end());
    uint32_t number = 0;
    for (size_t i = 0; i < steps_.size(); ++i) {
      if (i > 0)
        number +=
            static_cast<uint32_t>(std::min<int64_t>(int64_t{steps_[i]} - steps_[i - 1], widest));
      numbers_[steps_[i]] = ChunkId{number};
    }
  }
  ChunkId operator()(ChunkId old) const {
    const auto at = numbers_.find(SignedDistance(first_, old));
    return at == numbers_.end() ? old : at->second;
  }

 private:
  ChunkId first_{};
  std::vector<int32_t> steps_;
  std::map<int32_t, ChunkId> numbers_;
};

class Renumberer {
 public:
  explicit Renumberer(Numbering what) : what_(what) {}

  std::optional<Renumbered> Run(const std::vector<StoredOp>& ops) {
    if (IsOfChunks() && !NumberChunks(ops)) return std::nullopt;
    Renumbered result;
    for (const StoredOp& stored : ops) {
      const auto changed = Changed(stored);
      if (!changed) return std::nullopt;
      result.ops.push_back(*changed);
    }
    if (!changed_) return std::nullopt;
    result.name = [*this](ChunkName name) mutable { return NewName(name); };
    return result;
  }

 private:
  bool IsOfChunks() const {
    return what_ == Numbering::kChunks || what_ == Numbering::kChunksWithGaps ||
           what_ == Numbering::kChunksFromStart;
  }

  bool NumberChunks(const std::vector<StoredOp>& ops) {
    for (const StoredOp& stored : ops) {
      const auto* commit = std::get_if<Commit>(&stored.op().body);
      if (commit == nullptr) continue;
      CommitRequestParser parser;
      if (!commit->last || commit->part > 0 || !parser.Parse(commit->request)) return false;
      for (const ChunkToMove& chunk : parser.chunks()) {
        const auto header = chunk.header();
        if (header) chunks_[{commit->producer, header->writer}].Add(header->chunk);
      }
      for (const ChunkToPatch& patch : parser.patches()) {
        const ChunkName name = patch.NameFor(commit->producer);
        chunks_[name.sequence].Add(name.chunk);
      }
    }
    const uint32_t widest = what_ == Numbering::kChunks           ? 1
                            : what_ == Numbering::kChunksWithGaps ? 2
                                                                  : UINT32_MAX;
    for (auto& [sequence, numbers] : chunks_) numbers.Number(widest);
    return true;
  }

  /// Takes a new value, and notes whether it is another one.
  template <typename Value>
  void Set(Value& value, Value with) {
    changed_ |= value != with;
    value = with;
  }

  ChunkName NewName(ChunkName name) {
    const SequenceKey old = name.sequence;
    if (what_ == Numbering::kProducers) name.sequence.producer = producers_(old.producer);
    if (what_ == Numbering::kWriters) name.sequence.writer = NewWriter(old.producer, old.writer);
    if (IsOfChunks()) {
      if (const auto numbers = chunks_.find(old); numbers != chunks_.end())
        name.chunk = numbers->second(name.chunk);
    }
    return name;
  }
  WriterId NewWriter(ProducerId producer, WriterId writer) {
    return writers_.try_emplace(producer, WriterId{1}).first->second(writer);
  }

  template <typename Body>
  void ChangeBody(Body& body) {
    if constexpr (requires { body.writer; }) ChangeWriter(body);
    if constexpr (requires { body.producer; }) {
      if (what_ == Numbering::kProducers) {
        if constexpr (requires { body.producer.has_value(); }) {
          if (body.producer) Set(*body.producer, producers_(*body.producer));
        } else {
          Set(body.producer, producers_(body.producer));
        }
      }
    }
    if constexpr (requires { body.uid; }) {
      if (what_ == Numbering::kIdentities) ChangeIdentity(body);
    }
  }
  template <typename Body>
  void ChangeWriter(Body& body) {
    if (what_ != Numbering::kWriters) return;
    if constexpr (requires { body.writer.has_value(); }) {
      if (body.writer && body.producer) Set(*body.writer, NewWriter(*body.producer, *body.writer));
    } else {
      Set(body.writer, NewWriter(body.producer, body.writer));
    }
  }
  template <typename Body>
  void ChangeIdentity(Body& body) {
    if constexpr (requires { body.uid.has_value(); }) {
      if (body.uid) Set(*body.uid, uids_(*body.uid));
      if (body.pid) Set(*body.pid, pids_(*body.pid));
    } else {
      Set(body.uid, uids_(body.uid));
      if (body.pid >= 0) Set(body.pid, pids_(body.pid));
      if (body.seen_uid) Set(*body.seen_uid, uids_(*body.seen_uid));
      if (body.seen_pid) Set(*body.seen_pid, pids_(*body.seen_pid));
    }
  }

  std::optional<StoredOp> Changed(const StoredOp& stored) {
    Op op = stored.op();
    auto* const commit = std::get_if<Commit>(&op.body);
    const ProducerId producer = commit == nullptr ? ProducerId{} : commit->producer;
    std::visit([&](auto& body) { ChangeBody(body); }, op.body);
    if (commit == nullptr) return StoredOp(op);
    // Writers and chunks are in the request itself.
    if (what_ != Numbering::kWriters && !IsOfChunks())
      return StoredOp(op, std::string(wire::AsText(commit->request)));
    CommitRequestParser parser;
    if (!commit->last || commit->part > 0 || !parser.Parse(commit->request)) return std::nullopt;
    std::string request;
    CommitRequestBuilder builder(request);
    for (const ChunkToMove& chunk : parser.chunks()) AddChunk(producer, chunk, builder);
    for (const ChunkToPatch& patch : parser.patches()) AddPatch(producer, patch, builder);
    if (const auto flush = parser.flush_request_id()) builder.SetFlushRequestId(*flush);
    return StoredOp(op, std::move(request));
  }

  void AddChunk(ProducerId producer, const ChunkToMove& chunk, CommitRequestBuilder& builder) {
    auto header = chunk.header();
    if (!header) return builder.AddChunk(chunk);
    const ChunkName name = NewName({{producer, header->writer}, header->chunk});
    Set(header->writer, name.sequence.writer);
    Set(header->chunk, name.chunk);
    std::string data;
    AppendChunkHeader(data, *header);
    data += wire::AsText(chunk.data->subspan(kChunkHeaderSize));
    ChunkToMove moved = chunk;
    moved.data = wire::AsBytes(data);
    builder.AddChunk(moved);
  }
  void AddPatch(ProducerId producer, const ChunkToPatch& patch, CommitRequestBuilder& builder) {
    const ChunkName name = NewName(patch.NameFor(producer));
    ChunkToPatch moved = patch;
    if (moved.writer) Set(*moved.writer, uint64_t{Raw(name.sequence.writer)});
    if (moved.chunk) Set(*moved.chunk, uint64_t{Raw(name.chunk)});
    builder.AddPatch(moved);
  }

  const Numbering what_;
  bool changed_ = false;
  NumberTable<ProducerId> producers_{ProducerId{1}};
  std::map<ProducerId, NumberTable<WriterId>> writers_;
  std::map<SequenceKey, ChunkNumbers> chunks_;
  NumberTable<uint32_t> uids_{0};
  NumberTable<int32_t> pids_{0};
};

}  // namespace

std::optional<Renumbered> Renumber(const std::vector<StoredOp>& ops, Numbering what) {
  return Renumberer(what).Run(ops);
}

}  // namespace ringscope
