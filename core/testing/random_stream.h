#ifndef RINGSCOPE_CORE_TESTING_RANDOM_STREAM_H_
#define RINGSCOPE_CORE_TESTING_RANDOM_STREAM_H_

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "core/engine.h"

namespace ringscope::testing {

/// How well the writers of a random stream behave.
enum class Conduct : uint8_t { kCorrect, kHostile };

/// A seeded stream of commits, patches and reads on one small buffer: writers that fragment
/// packets, leave sizes to be patched, are scraped and committed again, abort; hostile ones also
/// send what no writer would. The same seed gives the same stream everywhere.
class RandomStream {
 public:
  RandomStream(uint32_t seed, Conduct conduct) : random_(seed), conduct_(conduct) {
    writers_.resize(1 + Below(5));
  }

  enum class Kind : uint8_t { kCommit, kPatch, kRead, kClone };
  struct Step {
    Kind kind = Kind::kCommit;
    ChunkCommit commit;                 // payload points into this stream
    ChunkPatches patches;               // likewise
    uint64_t max_packets = UINT64_MAX;  // of a read
  };

  /// The next step; valid until the next call.
  Step Next() {
    Step step;
    const uint32_t dice = Below(100);
    if (dice < 4) {
      step.kind = Kind::kRead;
      if (Below(3) == 0) step.max_packets = Below(20);
    } else if (dice < 5) {
      step.kind = Kind::kClone;
    } else if (dice < 20) {
      step.kind = Kind::kPatch;
      MakePatch(step);
    } else {
      MakeCommit(step);
    }
    return step;
  }

 private:
  struct Writer {
    uint32_t next_chunk = 0;
    bool in_packet = false;
    std::string scraped;  // payload of the chunk that was scraped last and is still open
    uint16_t scraped_fragments = 0;
    uint8_t scraped_flags = 0;
  };

  uint32_t Below(uint32_t n) { return static_cast<uint32_t>(random_() % n); }

  SequenceKey KeyOf(size_t writer) const {
    return {ProducerId{static_cast<uint16_t>(1 + writer / 2)},
            WriterId{static_cast<uint16_t>(1 + writer % 2)}};
  }

  void AddFragment(uint32_t size) {
    wire::AppendVarint(payload_, size);
    payload_.append(size, static_cast<char>('a' + Below(26)));
  }

  void MakeCommit(Step& step) {
    const size_t which = Below(static_cast<uint32_t>(writers_.size()));
    Writer& writer = writers_[which];
    step.commit.sequence = KeyOf(which);
    step.commit.identity = {static_cast<uint32_t>(1000 + which), static_cast<int32_t>(which)};
    step.commit.chunk = ChunkId{writer.next_chunk};
    uint16_t fragments = 0;
    uint8_t flags = 0;
    if (!writer.scraped.empty()) {  // goes on with a chunk that was scraped
      payload_ = writer.scraped;
      fragments = writer.scraped_fragments;
      flags = writer.scraped_flags;
      writer.scraped.clear();
    } else {
      payload_.clear();
      if (writer.in_packet) flags |= kFirstContinues;
    }
    for (uint32_t n = Below(6); n > 0; --n, ++fragments)
      AddFragment(Below(8) == 0 ? 0 : Below(150));
    const bool scrape = Below(8) == 0 && fragments > 0;
    writer.in_packet = !scrape && fragments > 0 && Below(4) == 0;
    if (writer.in_packet) {
      flags |= kLastContinues;
      if (Below(2) == 0) flags |= kNeedsPatching;
    }
    if (!scrape && Below(40) == 0) {
      payload_ += "\xFF\xFF\xFF\x7F";
      ++fragments;
    }
    step.commit.complete = !scrape;
    if (scrape) {
      writer.scraped = payload_;
      writer.scraped_fragments = fragments;
      writer.scraped_flags = flags;
      payload_.append(Below(100), '\0');
    } else {
      ++writer.next_chunk;
      if (Below(30) == 0) ++writer.next_chunk;  // a chunk that never comes
    }
    if (conduct_ == Conduct::kHostile) Spoil(step, fragments, flags);
    step.commit.fragments = fragments;
    step.commit.flags = flags;
    step.commit.payload = wire::AsBytes(payload_);
  }

  void Spoil(Step& step, uint16_t& fragments, uint8_t& flags) {
    switch (Below(12)) {
      case 0:
        step.commit.chunk = ChunkId{static_cast<uint32_t>(random_())};
        break;
      case 1:
        step.commit.chunk = ChunkId{Raw(step.commit.chunk) - Below(20)};
        break;
      case 2:
        flags = static_cast<uint8_t>(Below(64));
        break;
      case 3:
        fragments = static_cast<uint16_t>(Below(1024));
        break;
      case 4:
        for (char& byte : payload_)
          if (Below(20) == 0) byte = static_cast<char>(random_());
        break;
      case 5:
        payload_.append(Below(9000), static_cast<char>(Below(256)));
        break;
      default:
        break;
    }
  }

  void MakePatch(Step& step) {
    const size_t which = Below(static_cast<uint32_t>(writers_.size()));
    step.patches.sequence = KeyOf(which);
    step.patches.chunk = ChunkId{writers_[which].next_chunk - Below(4)};
    patch_data_.clear();
    patches_.clear();
    for (uint32_t n = Below(3); n > 0; --n) patch_data_.push_back(static_cast<uint32_t>(random_()));
    for (const uint32_t& data : patch_data_) {
      const uint64_t offset = conduct_ == Conduct::kHostile ? Below(600) : 2 + Below(40);
      patches_.push_back({.offset = offset, .data = reinterpret_cast<const uint8_t*>(&data)});
    }
    step.patches.patches = patches_;
    step.patches.more = Below(4) == 0;
  }

  std::mt19937 random_;
  Conduct conduct_;
  std::vector<Writer> writers_;
  std::string payload_;
  std::vector<uint32_t> patch_data_;
  std::vector<Patch> patches_;
};

}  // namespace ringscope::testing

#endif  // RINGSCOPE_CORE_TESTING_RANDOM_STREAM_H_
