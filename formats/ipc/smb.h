#ifndef RINGSCOPE_FORMATS_IPC_SMB_H_
#define RINGSCOPE_FORMATS_IPC_SMB_H_

#include "core/base/ids.h"
#include "core/perfetto/commit_request.h"
#include "core/perfetto/memory_picture.h"

namespace ringscope::smb {

// A producer's shared memory buffer (SMB), read while its producer and the service keep using it.
// Nothing here writes to it or waits; what changed meanwhile, or makes no sense, is left out.

/// Memory that others write to and may take away.
class Memory {
 public:
  virtual ~Memory() = default;
  virtual size_t size() const = 0;
  /// Copies; false, with any content, if not all of it is there.
  virtual bool Read(size_t offset, std::span<uint8_t> into) const = 0;
};

/// Place of a chunk.
struct ChunkPlace {
  uint64_t page = 0;
  uint64_t chunk = 0;  // in its page
  friend bool operator==(const ChunkPlace&, const ChunkPlace&) = default;
};

/// A chunk as a scan finds it.
struct FoundChunk {
  ChunkPlace place;
  bool complete = false;  // else it is being written
  ChunkHeader header;
  // The copy in the text that the scan appends to, header included.
  size_t offset = 0;
  size_t bytes = 0;
};

/// The pages of a shared memory buffer.
class Pages {
 public:
  /// @param page_bytes IsPageSize
  Pages(const Memory& memory, size_t page_bytes) : memory_(memory), page_bytes_(page_bytes) {}

  uint64_t count() const { return memory_.size() / page_bytes_; }

  /// Appends a complete chunk, header and payload. @return false, with `out` as it was: there is no
  /// such chunk, or it is not complete
  bool AppendComplete(ChunkPlace place, std::string& out) const;

  using Take = std::function<bool(const FoundChunk&)>;
  /// Calls `take` for each chunk, in order of pages, that is complete or being written; if it
  /// returns true, adds it to `found`, and the chunk, header and payload, to `out`. The header is
  /// the one that `take` saw, read before the payload: all fragments that it counts are whole.
  /// @return false: the memory has shrunk, the scan ended there
  bool Scan(const Take& take, std::vector<FoundChunk>& found, std::string& out) const;

  /// Looks at all page headers, and at the headers of the chunks that writers have or returned.
  /// Pages and chunks may change meanwhile: the picture is of no single moment.
  /// @param picture of count() pages
  /// @return false: the memory has shrunk
  bool Look(MemoryPicture& picture) const;

  /// Returns the number of chunks if none is free, else 0.
  uint64_t ChunksIfFull() const;

 private:
  size_t ChunkOffset(ChunkPlace place, size_t chunk_bytes) const {
    return static_cast<size_t>(place.page) * page_bytes_ + kPageHeaderBytes +
           static_cast<size_t>(place.chunk) * chunk_bytes;
  }
  std::optional<PageBitmap> BitmapOf(uint64_t page) const;

  const Memory& memory_;
  const size_t page_bytes_;
};

}  // namespace ringscope::smb

#endif  // RINGSCOPE_FORMATS_IPC_SMB_H_
