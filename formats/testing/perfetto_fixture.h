#ifndef RINGSCOPE_FORMATS_TESTING_PERFETTO_FIXTURE_H_
#define RINGSCOPE_FORMATS_TESTING_PERFETTO_FIXTURE_H_

// The words in which Perfetto's tests of its trace buffers are written, with an engine of ringscope
// in the buffer's place: so that generated cases can be compiled and run without a checkout. The
// environment's RINGSCOPE_CASE_ENGINE names the engine.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/types.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "core/base/wire.h"
#include "core/engine/catalogue.h"

namespace perfetto {

using ProducerID = uint16_t;
using WriterID = uint16_t;
using ChunkID = uint32_t;
using ::testing::ContainerEq;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

namespace protos::pbzero {
enum TracePacket_DataLossReason : int32_t {
  DATA_LOSS_UNSPECIFIED = 0,
  DATA_LOSS_PRESENT = 1,
  DATA_LOSS_READ_GAP = 2,
  DATA_LOSS_CHUNK_CORRUPTED = 4,
  DATA_LOSS_ORPHAN_CONTINUATION = 8,
  DATA_LOSS_REASSEMBLY_GAP = 16,
  DATA_LOSS_REASSEMBLY_BROKEN_CHAIN = 32,
  DATA_LOSS_OVERWRITE = 64,
  DATA_LOSS_WRITER_ABORT = 128,
};
}  // namespace protos::pbzero
using DataLossReason = protos::pbzero::TracePacket_DataLossReason;

class ClientIdentity {
 public:
  ClientIdentity() = default;
  ClientIdentity(uid_t uid, pid_t pid) : uid_(uid), pid_(pid) {}
  uid_t uid() const { return uid_; }
  pid_t pid() const { return pid_; }

 private:
  uid_t uid_ = static_cast<uid_t>(-1);
  pid_t pid_ = -1;
};

class TracePacket {
 public:
  void AddSlice(const void* start, size_t size) {
    slices_.emplace_back(static_cast<const char*>(start), size);
  }
  void Clear() { slices_.clear(); }
  const std::vector<std::string>& slices() const { return slices_; }
  std::string GetRawBytesForTesting() const {
    std::string all;
    for (const std::string& slice : slices_) all += slice;
    return all;
  }

 private:
  std::vector<std::string> slices_;
};

/// The counters, as the generated class names them.
class BufferStatsView {
 public:
  explicit BufferStatsView(const ringscope::BufferStats& stats) : stats_(stats) {}
#define RS_COUNTER(name) \
  uint64_t name() const { return stats_.name; }
  RS_COUNTER(bytes_written)
  RS_COUNTER(bytes_overwritten)
  RS_COUNTER(bytes_read)
  RS_COUNTER(padding_bytes_written)
  RS_COUNTER(padding_bytes_cleared)
  RS_COUNTER(chunks_written)
  RS_COUNTER(chunks_rewritten)
  RS_COUNTER(chunks_relocated)
  RS_COUNTER(chunks_overwritten)
  RS_COUNTER(chunks_discarded)
  RS_COUNTER(chunks_read)
  RS_COUNTER(chunks_committed_out_of_order)
  RS_COUNTER(write_wrap_count)
  RS_COUNTER(patches_succeeded)
  RS_COUNTER(patches_failed)
  RS_COUNTER(readaheads_succeeded)
  RS_COUNTER(readaheads_failed)
  RS_COUNTER(abi_violations)
  RS_COUNTER(trace_writer_packet_loss)
#undef RS_COUNTER

 private:
  ringscope::BufferStats stats_;
};

class TraceBuffer {
 public:
  enum OverwritePolicy { kOverwrite, kDiscard };
  struct Patch {
    size_t offset_untrusted;
    std::array<uint8_t, 4> data;
  };
  struct PacketSequenceProperties {
    ProducerID producer_id_trusted = 0;
    ClientIdentity client_identity_trusted;
    WriterID writer_id = 0;
    uid_t producer_uid_trusted() const { return client_identity_trusted.uid(); }
    pid_t producer_pid_trusted() const { return client_identity_trusted.pid(); }
  };

  explicit TraceBuffer(std::unique_ptr<ringscope::Engine> engine) : engine_(std::move(engine)) {}

  void CopyChunkUntrusted(ProducerID producer, const ClientIdentity& identity, WriterID writer,
                          ChunkID chunk, uint16_t num_fragments, uint8_t chunk_flags,
                          bool chunk_complete, const uint8_t* src, size_t size) {
    engine_->Commit({.sequence = {ringscope::ProducerId{producer}, ringscope::WriterId{writer}},
                     .identity = {identity.uid(), identity.pid()},
                     .chunk = ringscope::ChunkId{chunk},
                     .fragments = num_fragments,
                     .flags = chunk_flags,
                     .complete = chunk_complete,
                     .payload = {src, size}});
  }
  bool TryPatchChunkContents(ProducerID producer, WriterID writer, ChunkID chunk,
                             const Patch* patches, size_t patches_size, bool more) {
    std::vector<ringscope::Patch> list;
    for (size_t i = 0; i < patches_size; ++i)
      list.push_back({.offset = patches[i].offset_untrusted, .data = patches[i].data.data()});
    return engine_->ApplyPatches(
        {.sequence = {ringscope::ProducerId{producer}, ringscope::WriterId{writer}},
         .chunk = ringscope::ChunkId{chunk},
         .patches = list,
         .more = more});
  }
  void BeginRead() { engine_->BeginRead(); }
  template <typename Dropped>  // bool up to v56
  bool ReadNextTracePacket(TracePacket* packet, PacketSequenceProperties* props, Dropped* dropped) {
    const ringscope::Packet* const next = engine_->NextPacket();
    if (next == nullptr) return false;
    for (const ringscope::Bytes slice : next->slices) packet->AddSlice(slice.data(), slice.size());
    props->producer_id_trusted = ringscope::Raw(next->sequence.producer);
    props->writer_id = ringscope::Raw(next->sequence.writer);
    props->client_identity_trusted = ClientIdentity(next->identity.uid, next->identity.pid);
    *dropped = static_cast<Dropped>(next->dropped);
    return true;
  }
  std::unique_ptr<TraceBuffer> CloneReadOnly() const {
    return std::make_unique<TraceBuffer>(engine_->Clone().value());
  }
  BufferStatsView stats() const { return BufferStatsView(engine_->stats()); }

 private:
  std::unique_ptr<ringscope::Engine> engine_;
};

/// Payload bytes of a fake fragment: the prefix, two digits that count to 99, a dash.
inline std::string FakePayload(size_t size, char prefix) {
  std::string payload;
  for (size_t i = 0; i < size; ++i) {
    const size_t part = i % 4;
    payload += part == 0   ? prefix
               : part == 1 ? static_cast<char>('0' + (i / 4 / 10) % 10)
               : part == 2 ? static_cast<char>('0' + (i / 4) % 10)
                           : '-';
  }
  return payload;
}
/// Bytes of its size header.
inline size_t FakeHeader(size_t size) { return size <= 128 ? 1 : 2; }

class FakePacketFragment {
 public:
  FakePacketFragment(size_t size, char prefix)
      : payload_(FakePayload(size - FakeHeader(size), prefix)) {}
  FakePacketFragment(const void* payload, size_t size)
      : payload_(static_cast<const char*>(payload), size) {
    if (size > 4094) std::abort();
  }
  bool operator==(const FakePacketFragment& other) const { return payload_ == other.payload_; }
  friend void PrintTo(const FakePacketFragment& fragment, std::ostream* out) {
    *out << fragment.payload_;
  }

 private:
  std::string payload_;
};

class FakeChunk {
 public:
  FakeChunk(TraceBuffer* buffer, ProducerID producer, WriterID writer, ChunkID chunk)
      : buffer_(buffer), producer_(producer), writer_(writer), chunk_(chunk) {}

  FakeChunk& AddPacket(size_t size, char seed, uint8_t packet_flag = 0) {
    const size_t header = FakeHeader(size);
    if (size > 4096 || size < header || (flags_ & 2) != 0) std::abort();
    if ((packet_flag & 1) != 0 && num_packets_ > 0) std::abort();
    const size_t payload = size - header;
    if (header == 1) {
      data_ += static_cast<char>(payload);
    } else {
      data_ += static_cast<char>((payload & 0x7f) | 0x80);
      data_ += static_cast<char>(payload >> 7);
    }
    data_ += FakePayload(payload, seed);
    flags_ |= packet_flag;
    ++num_packets_;
    return *this;
  }
  FakeChunk& AddPacket(std::initializer_list<uint8_t> raw) {
    data_.append(raw.begin(), raw.end());
    ++num_packets_;
    return *this;
  }
  FakeChunk& IncrementNumPackets() {
    ++num_packets_;
    return *this;
  }
  FakeChunk& SetFlags(uint8_t flags) {
    flags_ |= flags;
    return *this;
  }
  FakeChunk& SetUID(uid_t uid) {
    uid_ = uid;
    return *this;
  }
  FakeChunk& PadTo(size_t size) {
    if (size < data_.size() + 16) std::abort();
    data_.resize(size - 16);
    return *this;
  }
  size_t CopyIntoTraceBuffer(bool chunk_complete = true) {
    buffer_->CopyChunkUntrusted(producer_, ClientIdentity(uid_, -1), writer_, chunk_, num_packets_,
                                flags_, chunk_complete,
                                reinterpret_cast<const uint8_t*>(data_.data()), data_.size());
    return data_.size() + 16;
  }

 private:
  TraceBuffer* buffer_;
  const ProducerID producer_;
  const WriterID writer_;
  const ChunkID chunk_;
  uid_t uid_ = static_cast<uid_t>(-1);
  uint8_t flags_ = 0;
  uint16_t num_packets_ = 0;
  std::string data_;
};

/// What both fixtures have.
class TraceBufferFixture : public testing::Test {
 protected:
  static constexpr uint8_t kContFromPrevChunk = 1;
  static constexpr uint8_t kContOnNextChunk = 2;
  static constexpr uint8_t kChunkNeedsPatching = 4;

  void ResetBuffer(size_t size, TraceBuffer::OverwritePolicy policy = TraceBuffer::kOverwrite) {
    const char* const name = std::getenv("RINGSCOPE_CASE_ENGINE");
    ASSERT_NE(name, nullptr) << "RINGSCOPE_CASE_ENGINE is not set";
    trace_buffer_ = std::make_unique<TraceBuffer>(
        ringscope::FindEngine(name)
            .value()
            ->create({.size = size,
                      .policy = policy == TraceBuffer::kDiscard
                                    ? ringscope::FillPolicy::kDiscard
                                    : ringscope::FillPolicy::kRingBuffer})
            .value());
  }
  FakeChunk CreateChunk(ProducerID producer, WriterID writer, ChunkID chunk) {
    return FakeChunk(trace_buffer_.get(), producer, writer, chunk);
  }
  bool TryPatchChunkContents(ProducerID producer, WriterID writer, ChunkID chunk,
                             std::vector<TraceBuffer::Patch> patches,
                             bool other_patches_pending = false) {
    return trace_buffer_->TryPatchChunkContents(producer, writer, chunk, patches.data(),
                                                patches.size(), other_patches_pending);
  }
  std::vector<FakePacketFragment> ReadPacket(TraceBuffer::PacketSequenceProperties* props = nullptr,
                                             uint32_t* dropped = nullptr) {
    return ReadPacket(trace_buffer_, props, dropped);
  }
  std::vector<FakePacketFragment> ReadPacket(TraceBuffer::PacketSequenceProperties* props,
                                             bool* dropped) {
    return ReadPacket(trace_buffer_, props, dropped);
  }
  template <typename Dropped = uint32_t>
  static std::vector<FakePacketFragment> ReadPacket(
      const std::unique_ptr<TraceBuffer>& buffer,
      TraceBuffer::PacketSequenceProperties* props = nullptr, Dropped* dropped = nullptr) {
    TraceBuffer::PacketSequenceProperties ignored_props;
    Dropped ignored{};
    TracePacket packet;
    std::vector<FakePacketFragment> fragments;
    if (!buffer->ReadNextTracePacket(&packet, props != nullptr ? props : &ignored_props,
                                     dropped != nullptr ? dropped : &ignored))
      return fragments;
    for (const std::string& slice : packet.slices())
      fragments.emplace_back(slice.data(), slice.size());
    return fragments;
  }
  void SuppressClientDchecksForTesting() {}
  TraceBuffer* trace_buffer() { return trace_buffer_.get(); }

  std::unique_ptr<TraceBuffer> trace_buffer_;
};

class TraceBufferV2Test : public TraceBufferFixture {};
class TraceBufferTest : public TraceBufferFixture {};

}  // namespace perfetto

#endif  // RINGSCOPE_FORMATS_TESTING_PERFETTO_FIXTURE_H_
