#ifndef RINGSCOPE_CORE_PERFETTO_CHUNK_PACKER_H_
#define RINGSCOPE_CORE_PERFETTO_CHUNK_PACKER_H_

#include <algorithm>
#include <cstdint>
#include <string>

#include "core/perfetto/commit_request.h"

namespace ringscope {

/// Packs the packets of one sequence into chunks, one to a page of 4 KiB, as its trace writer would
/// have. A packet that is whole in a chunk and shorter than 128 bytes has a size of one byte, every
/// other fragment one of four. Source: the chunks of recorded sessions.
class ChunkPacker {
 public:
  static constexpr size_t kPayload = 4080;   // bytes of a chunk of a 4 KiB page, after its header
  static constexpr size_t kLeastSpace = 11;  // bytes

  explicit ChunkPacker(WriterId writer) : writer_(writer) {}

  /// From here on the open chunk's memory, kPayload bytes, is kept for the next one.
  void KeepMemory() {
    keeps_memory_ = true;
    payload_.reserve(kPayload);
  }

  /// Appends a packet that is not empty. `emit(const ChunkHeader&, Bytes payload)` is called for
  /// each chunk that this completes; payloads are kPayload bytes, zeros after the last fragment.
  template <typename Emit>
  void Add(Bytes packet, Emit emit) {
    if (fragments_ > 0 && (Space() < kLeastSpace || fragments_ == kMaxFragmentCount))
      EmitChunk(false, emit);
    while (AddFragment(packet)) EmitChunk(true, emit);
    if (Space() == 0) EmitChunk(false, emit);
  }

  /// Emits the chunk that is not full, if there is one.
  template <typename Emit>
  void Finish(Emit emit) {
    if (fragments_ > 0) EmitChunk(false, emit);
  }

  /// Bytes that wait for their chunk to be full.
  size_t pending() const { return payload_.size(); }

 private:
  size_t Space() const { return kPayload - payload_.size(); }

  /// Appends what fits of the packet, and takes it off its front. @return whether some is left
  bool AddFragment(Bytes& packet) {
    constexpr size_t kWideSize = 4;  // bytes of a fragment's size where it may be patched
    const bool continues = continues_ && fragments_ == 0;  // such a fragment has a wide size
    const size_t size = std::min(packet.size(), Space() - kWideSize);
    if (!continues && size == packet.size() && size < 0x80) {
      payload_.push_back(static_cast<char>(size));
    } else {
      for (size_t i = 0; i < kWideSize; ++i)
        payload_.push_back(
            static_cast<char>((size >> 7 * i & 0x7F) | (i + 1 < kWideSize ? 0x80 : 0)));
    }
    payload_ += wire::AsText(packet.first(size));
    packet = packet.subspan(size);
    ++fragments_;
    return !packet.empty();
  }

  template <typename Emit>
  void EmitChunk(bool is_continued, Emit& emit) {
    payload_.resize(kPayload);
    const ChunkHeader header{.chunk = next_,
                             .writer = writer_,
                             .fragments = fragments_,
                             .flags = static_cast<uint8_t>((continues_ ? kFirstContinues : 0) |
                                                           (is_continued ? kLastContinues : 0))};
    emit(header, wire::AsBytes(payload_));
    payload_.clear();
    // Thousands of sequences wait in a large trace: what is not needed is given back.
    if (!keeps_memory_) std::string().swap(payload_);
    next_ = Successor(next_);
    fragments_ = 0;
    continues_ = is_continued;
  }

  const WriterId writer_;
  ChunkId next_{};
  uint16_t fragments_ = 0;  // of the open chunk
  bool continues_ = false;  // its first fragment continues a packet
  bool keeps_memory_ = false;
  std::string payload_;  // of the open chunk
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_PERFETTO_CHUNK_PACKER_H_
