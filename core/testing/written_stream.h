#ifndef RINGSCOPE_CORE_TESTING_WRITTEN_STREAM_H_
#define RINGSCOPE_CORE_TESTING_WRITTEN_STREAM_H_

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "core/compare/random_stream.h"

namespace ringscope::testing {

/// A random stream that knows what its writers write, and whose writers can finish.
class WrittenStream : public RandomStream {
 public:
  /// By steps from a sequence's first chunk to the packet's first chunk, and the offset there.
  using Place = std::pair<uint32_t, uint32_t>;
  /// A packet that a writer of a correct stream wrote, as it must be returned.
  struct WrittenPacket {
    ChunkId last_chunk{};
    std::string content;
  };
  /// All that the sequence's writer has handed over or will: whole packets by place.
  struct Sequence {
    Identity identity;
    ChunkId first_chunk{};
    /// In the order of writing. Empty packets are not listed: no buffer returns them.
    std::map<Place, WrittenPacket> packets;
  };
  using Sequences = std::map<SequenceKey, Sequence>;

  WrittenStream(uint32_t seed, Conduct conduct) : WrittenStream(NumbersOfSeed(seed), conduct) {}
  WrittenStream(RandomNumbers numbers, Conduct conduct)
      : RandomStream(std::move(numbers), conduct) {
    for (const Writer& writer : writers_)
      written_[writer.key] = {
          .identity = writer.identity, .first_chunk = writer.next_chunk, .packets = {}};
  }

  /// The steps after which the writers have finished all that they began; nullopt if they have.
  std::optional<Step> NextToFinish() {
    for (; finishing_ < writers_.size(); ++finishing_) {
      Writer& writer = writers_[finishing_];
      // Finishes scraped chunks, held chunks, open packets and patches, in this order.
      if (writer.open) return Complete(writer, *std::exchange(writer.open, std::nullopt));
      if (writer.held) return Complete(writer, *std::exchange(writer.held, std::nullopt));
      if (writer.in_packet) return Complete(writer, Build(writer, false));
      if (!writer.due.empty()) return PatchStep(writer);
    }
    return std::nullopt;
  }
  const Sequences& written() const { return written_; }

 private:
  /// The packet that a writer continues in its next chunk.
  struct OpenPacket {
    Place place;
    bool is_broken = false;  // a fragment of it is never committed
  };

  /// The place of what is added to the chunk next.
  Place NextPlace(const Writer& writer, const BuiltChunk& chunk) const {
    return {Distance(written_.at(writer.key).first_chunk, chunk.id),
            static_cast<uint32_t>(chunk.payload.size())};
  }

  uint32_t AddWhole(Writer& writer, BuiltChunk& chunk, uint32_t size) override {
    const Place place = NextPlace(writer, chunk);
    const uint32_t bytes = RandomStream::AddWhole(writer, chunk, size);
    if (size > 0)
      written_[writer.key].packets[place] = {chunk.id,
                                             chunk.payload.substr(chunk.payload.size() - size)};
    return bytes;
  }
  bool AddPart(Writer& writer, BuiltChunk& chunk, uint32_t space) override {
    OpenPacket& open = open_[writer.key];
    const bool is_continued = (chunk.flags & kFirstContinues) != 0 && chunk.ends.empty();
    if (!is_continued) open = {NextPlace(writer, chunk), false};
    if (RandomStream::AddPart(writer, chunk, space)) return true;
    if (!open.is_broken) written_[writer.key].packets[open.place] = {chunk.id, writer.content};
    return false;
  }
  /// No packet with a fragment in the chunk is complete.
  void Lose(const Writer& writer, const BuiltChunk& chunk) override {
    Sequence& sequence = written_[writer.key];
    const uint32_t steps = Distance(sequence.first_chunk, chunk.id);
    std::erase_if(sequence.packets, [&](const auto& entry) {
      return entry.first.first <= steps &&
             steps <= Distance(sequence.first_chunk, entry.second.last_chunk);
    });
    if (writer.in_packet) open_[writer.key].is_broken = true;
  }

  Sequences written_;
  std::map<SequenceKey, OpenPacket> open_;
  size_t finishing_ = 0;  // writer
};

}  // namespace ringscope::testing

#endif  // RINGSCOPE_CORE_TESTING_WRITTEN_STREAM_H_
