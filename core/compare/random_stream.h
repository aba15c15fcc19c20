#ifndef RINGSCOPE_CORE_COMPARE_RANDOM_STREAM_H_
#define RINGSCOPE_CORE_COMPARE_RANDOM_STREAM_H_

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/enum_names.h"
#include "core/compare/dice.h"
#include "core/compare/stream_step.h"
#include "core/perfetto/page.h"

namespace ringscope {

/// How well the writers of a random stream behave.
enum class Conduct : uint8_t { kCorrect, kHostile };

/// What a stream is about, beyond how well its writers behave.
enum class StreamMode : uint8_t {
  kMixed,       // a little of everything
  kClones,      // the buffer is cloned all the time
  kForgetting,  // so many sequences become empty that the buffer forgets some
  kWrapIds,     // chunk ids wrap around
  kReadLimits,  // read passes end early
};
template <>
inline constexpr std::array kEnumNames<StreamMode> = {"mixed", "clones", "forgetting", "wrap_ids",
                                                      "read_limits"};

/// What a stream is like as a whole; what it has none of, engines may have to agree on.
struct StreamTraits {
  uint64_t size = kPageBytes;  // of the buffer, bytes
  FillPolicy policy = FillPolicy::kRingBuffer;
  Conduct conduct = Conduct::kCorrect;
  StreamMode mode = StreamMode::kMixed;
  bool scrapes = false;  // chunks are committed while their writer has them, and re-committed later
  bool aborts = false;   // writers abort packets
  bool losses = false;   // chunks are never committed
  bool swaps = false;    // chunks are committed in another order
  bool patches = false;
  bool wraps_ids = false;  // chunk ids do not start near 0
  bool fits = false;       // the buffer is larger than all that is written
  uint32_t writers = 1;
  uint32_t chunk_size = 0;   // bytes that each chunk's payload is filled up to; 0: none is
  bool tiny_chunks = false;  // of a few bytes each: long lists, and packets over hundreds of chunks
  bool mixes_identities = false;  // commits of a sequence are of several (hostile streams only)
  bool jumps_ids = false;         // by 2^29 to 2^31 steps, and back (hostile streams only)
};

/// A packet that a writer of a correct stream wrote, as it must be returned.
struct WrittenPacket {
  ChunkId last_chunk{};
  std::string content;
};

/// All that the sequence's writer has handed over or will: whole packets by place.
struct WrittenSequence {
  Identity identity;
  ChunkId first_chunk{};
  /// By steps from `first_chunk` to the packet's first chunk, and the offset there: in the order of
  /// writing. Empty packets are not listed: no buffer returns them.
  std::map<std::pair<uint32_t, uint32_t>, WrittenPacket> packets;
};

/// A random stream of commits, patches and reads on one buffer: writers that fragment packets,
/// leave sizes to be patched, are scraped and commit again, abort; hostile ones also send what no
/// writer would. The same dice give the same stream.
class RandomStream {
 public:
  RandomStream(uint32_t seed, Conduct conduct, StreamMode mode = StreamMode::kMixed)
      : RandomStream(SeededDice(seed), conduct, mode) {}
  /// @param ample_size bytes of a buffer that is to be larger than all that is written
  /// @param keeps_written whether written() has what was written: that takes time
  RandomStream(Dice dice, Conduct conduct, StreamMode mode = StreamMode::kMixed,
               uint64_t ample_size = uint64_t{1} << 21, bool keeps_written = true);

  using Step = StreamStep;
  using Kind = Step::Kind;

  const StreamTraits& traits() const { return traits_; }
  /// The next step; valid until the next call.
  Step Next();
  /// The steps after which the writers have finished all that they began; nullopt: they have.
  std::optional<Step> NextToFinish();
  const std::map<SequenceKey, WrittenSequence>& written() const { return written_; }

 private:
  /// A chunk as its writer has it in the end, without patches.
  struct BuiltChunk {
    ChunkId id{};
    std::string payload;
    std::vector<uint32_t> ends;  // of its fragments, in the payload
    uint8_t flags = 0;
    uint32_t scraped = 0;  // fragments that the last scrape saw whole
  };
  struct DuePatch {
    ChunkId chunk{};
    std::vector<std::pair<uint64_t, std::string>> patches;  // offset, four bytes
  };
  struct Writer {
    SequenceKey key;
    Identity identity;
    ChunkId first_chunk{};
    ChunkId next_chunk{};
    // The packet that continues in the next chunk.
    bool in_packet = false;
    bool is_broken = false;  // a fragment of it is never committed
    std::pair<uint32_t, uint32_t> place;
    std::string content;
    size_t written = 0;  // bytes of it that are in chunks

    std::optional<BuiltChunk> open;  // scraped, not complete yet
    std::optional<BuiltChunk> held;  // is committed after the next one
    std::deque<DuePatch> due;
  };

  uint32_t Below(uint32_t n) { return n == 0 ? 0 : dice_() % n; }
  void SetMode(StreamMode mode);
  bool OneIn(uint32_t n) { return Below(n) == n - 1; }

  static constexpr std::string_view kAbortMarker = "\xFF\xFF\xFF\x7F";
  /// Payloads of which a whole number fills a buffer to its last byte.
  static constexpr uint32_t kEvenChunk = 1008;

  void AppendContent(std::string& to, uint32_t size);
  void NoteWritten(const Writer& writer, std::pair<uint32_t, uint32_t> place, ChunkId last_chunk,
                   std::string content);
  BuiltChunk Build(Writer& writer, bool may_begin);
  uint32_t AddWhole(Writer& writer, BuiltChunk& chunk, uint32_t size);
  bool AddPart(Writer& writer, BuiltChunk& chunk, uint32_t space);
  void AddPatches(Writer& writer, BuiltChunk& chunk, uint32_t part_size);
  void Lose(Writer& writer, const BuiltChunk& chunk);
  Step CommitStep(Writer& writer);
  Step Complete(Writer& writer, const BuiltChunk& chunk);
  Step Scrape(Writer& writer, BuiltChunk& chunk);
  static bool HasDuePatch(const Writer& writer);
  Step PatchStep(Writer& writer);
  void Spoil(Writer& writer, Step& step);
  ChunkId Jumped(ChunkId id);
  void SpoilSize(uint32_t count);

  Dice dice_;
  StreamTraits traits_;
  std::vector<Writer> writers_;
  bool keeps_written_ = true;
  uint32_t turn_ = 0;  // of the writers, where they take turns
  std::map<SequenceKey, WrittenSequence> written_;
  uint32_t packets_ = 0;
  size_t finishing_ = 0;  // writer
  // What the last step points to.
  std::string payload_;
  std::deque<std::string> patch_data_;
  std::vector<Patch> patches_;
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_COMPARE_RANDOM_STREAM_H_
