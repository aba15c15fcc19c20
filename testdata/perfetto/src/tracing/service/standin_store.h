#ifndef STANDIN_STORE_H_
#define STANDIN_STORE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "protos/perfetto/common/trace_stats.gen.h"

/// What is behind the stand-in's buffers.
namespace standin {

struct Commit {
  uint16_t producer, writer;
  uint32_t uid;
  int32_t pid;
  uint32_t chunk;
  uint16_t fragments;
  uint8_t flags;
  bool complete;
  const uint8_t* bytes;
  size_t size;
};

struct Patches {
  uint16_t producer, writer;
  uint32_t chunk;
  std::vector<std::pair<size_t, const uint8_t*>> patches;
  bool more;
};

struct Packet {
  uint16_t producer = 0, writer = 0;
  uint32_t uid = 0;
  int32_t pid = 0;
  uint32_t dropped = 0;
  std::vector<std::pair<const uint8_t*, size_t>> slices;
};

struct Chunk {
  uint32_t sequence;  // 0: padding
  uint32_t chunk;
  size_t offset;
  uint32_t outer;
  uint32_t payload;
  uint32_t unread;
  uint8_t flags;  // 0x80: incomplete
};

struct Writer {
  uint32_t sequence;
  const uint64_t* sums;
  const uint64_t* counts;
};

class Store {
 public:
  virtual ~Store() = default;
  virtual void Add(const Commit& commit) = 0;
  virtual bool Patch(const Patches& patches) = 0;
  virtual void BeginRead() = 0;
  virtual bool Next(Packet* packet) = 0;
  virtual std::unique_ptr<Store> Clone() = 0;
  virtual void Count(perfetto::protos::gen::TraceStats_BufferStats* stats) = 0;
  virtual void VisitWriters(const std::function<void(const Writer&)>& visit) = 0;
  /// Returns the write cursor.
  virtual size_t VisitChunks(const std::function<void(const Chunk&)>& visit) = 0;
  /// A chunk's 16 bytes of header are before its payload.
  virtual uint8_t* memory() = 0;
};

/// @param release of the buffer; 0: V1
std::unique_ptr<Store> MakeStore(int release, size_t size, bool discards);

}  // namespace standin

#endif  // STANDIN_STORE_H_
