#ifndef STANDIN_TRACE_BUFFER_H_
#define STANDIN_TRACE_BUFFER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "perfetto/ext/tracing/core/basic_types.h"
#include "perfetto/ext/tracing/core/client_identity.h"
#include "perfetto/ext/tracing/core/trace_packet.h"
#include "protos/perfetto/common/trace_stats.gen.h"
#include "src/tracing/service/histogram.h"
#include "src/tracing/service/standin_store.h"

namespace perfetto {

class TraceBuffer_WriterStats {
 public:
  using Entries = std::vector<std::pair<ProducerAndWriterID, Histogram>>;
  class Iterator {
   public:
    explicit Iterator(const Entries& entries) : at_(entries.begin()), end_(entries.end()) {}
    explicit operator bool() const { return at_ != end_; }
    Iterator& operator++() {
      ++at_;
      return *this;
    }
    ProducerAndWriterID key() const { return at_->first; }
    const Histogram& value() const { return at_->second; }

   private:
    Entries::const_iterator at_, end_;
  };
  void Insert(ProducerAndWriterID key, const Histogram& value) {
    entries_.emplace_back(key, value);
  }
  Iterator GetIterator() const { return Iterator(entries_); }

 private:
  Entries entries_;
};

class TraceBuffer {
 public:
  enum OverwritePolicy { kOverwrite, kDiscard };
#if STANDIN_RELEASE >= 58
  enum BufType { kV1, kV2 };
#elif STANDIN_RELEASE >= 54
  enum BufType { kV1, kV2, kV1WithV2Shadow };
#endif
  struct Patch {
    static constexpr size_t kSize = 4;
    size_t offset_untrusted;
    std::array<uint8_t, kSize> data;
  };
  struct PacketSequenceProperties {
    ProducerID producer_id_trusted;
    ClientIdentity client_identity_trusted;
    WriterID writer_id;

    uid_t producer_uid_trusted() const { return client_identity_trusted.uid(); }
    pid_t producer_pid_trusted() const { return client_identity_trusted.pid(); }
  };
  using WriterStats = TraceBuffer_WriterStats;
  static constexpr size_t InlineChunkHeaderSize = 16;
#if STANDIN_RELEASE >= 57
  using Dropped = uint32_t;
#else
  using Dropped = bool;
#endif

  virtual ~TraceBuffer();
  virtual void CopyChunkUntrusted(ProducerID, const ClientIdentity&, WriterID, ChunkID,
                                  uint16_t num_fragments, uint8_t chunk_flags, bool chunk_complete,
                                  const uint8_t* src, size_t size) = 0;
  virtual bool TryPatchChunkContents(ProducerID, WriterID, ChunkID, const Patch*,
                                     size_t patches_size, bool other_patches_pending) = 0;
  virtual void BeginRead() = 0;
  virtual bool ReadNextTracePacket(TracePacket*, PacketSequenceProperties*,
                                   Dropped* previous_packet_on_sequence_dropped) = 0;
  virtual std::unique_ptr<TraceBuffer> CloneReadOnly() const = 0;
  virtual void set_read_only() = 0;
  virtual const WriterStats& writer_stats() const = 0;
  virtual const TraceStats::BufferStats& stats() const = 0;
  virtual size_t size() const = 0;
  virtual size_t used_size() const = 0;
  virtual OverwritePolicy overwrite_policy() const = 0;
  virtual bool has_data() const = 0;
#if STANDIN_RELEASE >= 54
  virtual size_t GetMemoryUsageBytes() const = 0;
  virtual BufType buf_type() const = 0;
#endif

 protected:
  // What both stand-ins do with their stores.
  static void AddTo(standin::Store&, ProducerID, const ClientIdentity&, WriterID, ChunkID, uint16_t,
                    uint8_t, bool, const uint8_t*, size_t);
  static bool PatchIn(standin::Store&, ProducerID, WriterID, ChunkID, const Patch*, size_t, bool);
  static bool ReadFrom(standin::Store&, TracePacket*, PacketSequenceProperties*, Dropped*);
  static WriterStats WritersOf(standin::Store&);
};

}  // namespace perfetto

#endif  // STANDIN_TRACE_BUFFER_H_
