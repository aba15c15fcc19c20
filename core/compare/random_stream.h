#ifndef RINGSCOPE_CORE_COMPARE_RANDOM_STREAM_H_
#define RINGSCOPE_CORE_COMPARE_RANDOM_STREAM_H_

#include <deque>

#include "core/compare/stream_notation.h"

namespace ringscope {

/// A source of numbers that decide what a stream is like.
using RandomNumbers = std::function<uint32_t()>;
/// Returns numbers that depend on the seed alone, on all platforms: those of std::mt19937.
RandomNumbers NumbersOfSeed(uint32_t seed);

/// The behaviour of the writers of a random stream.
enum class Conduct : uint8_t { kCorrect, kHostile };

/// Sorts of random streams.
enum class StreamKind : uint8_t {
  kCorrect,     // writers that keep the rules
  kHostile,     // writers that do not
  kClones,      // the buffer is cloned all the time
  kForgetting,  // so many sequences become empty that the buffer forgets some
  kWrapIds,     // chunk ids wrap around
  kReadLimits,  // read passes end early
};
template <>
inline constexpr std::array kEnumNames<StreamKind> = {"correct",    "hostile",  "clones",
                                                      "forgetting", "wrap_ids", "read_limits"};

/// Properties of a stream as a whole. Where it lacks one, engines may have to agree.
struct StreamTraits {
  uint64_t size = kPageBytes;  // of the buffer, bytes
  FillPolicy policy = FillPolicy::kRingBuffer;
  Conduct conduct = Conduct::kCorrect;
  StreamKind kind = StreamKind::kCorrect;
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

/// A random stream of commits, patches and reads on one buffer: writers that fragment packets,
/// leave sizes to be patched, are scraped and commit again, abort; hostile ones also send what no
/// writer would. The same numbers give the same stream.
class RandomStream {
 public:
  RandomStream(uint32_t seed, Conduct conduct)
      : RandomStream(NumbersOfSeed(seed), conduct, StreamKind::kCorrect) {}
  /// @param ample_size bytes of a buffer that is to be larger than all that is written
  RandomStream(RandomNumbers numbers, Conduct conduct, StreamKind kind = StreamKind::kCorrect,
               uint64_t ample_size = uint64_t{1} << 21);
  virtual ~RandomStream() = default;

  using Step = StreamStep;
  using Kind = Step::Kind;

  const StreamTraits& traits() const { return traits_; }
  /// The next step; valid until the next call.
  Step Next();

 protected:
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
    ChunkId next_chunk{};
    // The packet that continues in the next chunk.
    bool in_packet = false;
    std::string content;
    size_t written = 0;  // bytes of it that are in chunks

    std::optional<BuiltChunk> open;  // scraped, not complete yet
    std::optional<BuiltChunk> held;  // is committed after the next one
    std::deque<DuePatch> due;
  };

  // Contents of the writers' chunks.
  BuiltChunk Build(Writer& writer, bool may_begin);
  virtual uint32_t AddWhole(Writer& writer, BuiltChunk& chunk, uint32_t size);
  virtual bool AddPart(Writer& writer, BuiltChunk& chunk, uint32_t space);
  /// The chunk is never committed.
  virtual void Lose(const Writer&, const BuiltChunk&) {}
  // Steps.
  Step Complete(Writer& writer, const BuiltChunk& chunk);
  Step PatchStep(Writer& writer);

  std::vector<Writer> writers_;

 private:
  uint32_t Below(uint32_t n) { return n == 0 ? 0 : numbers_() % n; }
  bool OneIn(uint32_t n) { return Below(n) == n - 1; }
  void ChooseTraits(uint64_t ample_size);
  void AppendContent(std::string& to, uint32_t size);
  void AddPatches(Writer& writer, BuiltChunk& chunk, uint32_t part_size);
  Step CommitStep(Writer& writer);
  Step Scrape(Writer& writer, BuiltChunk& chunk);
  static bool HasDuePatch(const Writer& writer);
  // Damage that no writer would send.
  void Spoil(Writer& writer, Step& step);
  std::string SpoiledSize(uint32_t size);

  RandomNumbers numbers_;
  StreamTraits traits_;
  uint32_t turn_ = 0;  // of the writers, where they take turns
  uint32_t packets_ = 0;
  // What the last step points to.
  std::string payload_;
  DuePatch sent_;
  std::vector<Patch> patches_;
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_COMPARE_RANDOM_STREAM_H_
