#ifndef RINGSCOPE_COMMANDS_RECORD_PRODUCER_MEMORY_H_
#define RINGSCOPE_COMMANDS_RECORD_PRODUCER_MEMORY_H_

#include "commands/record/event_loop.h"
#include "commands/record/socket.h"
#include "core/base/ids.h"
#include "core/base/result.h"
#include "core/log/op.h"
#include "formats/ipc/smb.h"

namespace ringscope {

/// A file in memory that other processes share, for reading. A read of a mapped page that is gone
/// would end this process (SIGBUS): a file that may shrink is read by system calls instead.
class SharedMemory : public smb::Memory {
 public:
  /// More than this is no shared memory buffer: Perfetto's have at most 32 MiB.
  static constexpr size_t kMaxBytes = size_t{256} << 20;

  /// @param fd stays the caller's
  static Result<std::unique_ptr<SharedMemory>> Open(const UniqueFd& fd);
  ~SharedMemory() override;
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  size_t size() const override { return size_; }
  bool Read(size_t offset, std::span<uint8_t> into) const override;
  bool is_mapped() const { return mapped_ != nullptr; }

 private:
  SharedMemory(UniqueFd fd, size_t size, const uint8_t* mapped)
      : fd_(std::move(fd)), size_(size), mapped_(mapped) {}

  UniqueFd fd_;
  size_t size_;
  const uint8_t* mapped_;  // nullptr if it is read by system calls
};

/// A producer's shared memory, and which of its chunks the service has got already.
class ProducerMemory {
 public:
  /// @param page_bytes smb::IsPageSize
  ProducerMemory(std::unique_ptr<smb::Memory> memory, size_t page_bytes);

  size_t size() const { return memory_->size(); }
  uint64_t page_count() const { return pages_.count(); }
  bool Look(smb::MemoryPicture& picture) const { return pages_.Look(picture); }
  /// Returns its chunks if none is free, else 0.
  uint64_t ChunksIfFull() const { return pages_.ChunksIfFull(); }
  /// Returns true while the service may free chunks whose commit is not in the log yet.
  bool is_unlogged() const { return is_unlogged_; }
  void SetUnlogged(bool unlogged) { is_unlogged_ = unlogged; }

  /// Appends a chunk that the producer commits to `out`, and marks it as committed. @return false,
  /// with `out` as it was, for one that is not complete or was committed before: the service skips
  /// it, too
  bool TakeCommitted(smb::ChunkPlace place, std::string& out);

  /// The id belongs to a new writer from here on, whose chunk ids start again.
  void OnNewWriter(WriterId writer);

  enum class Scrape : uint8_t {
    kAll,      // as the service does
    kChanged,  // only what the last scrape did not have
  };
  /// Copies, as the service would, the chunks of registered writers that are being written or
  /// complete, and not committed yet; those being written need at least two fragments.
  /// @param data gets the chunks' bytes
  std::vector<smb::FoundChunk> ScrapeChunks(const std::map<WriterId, BufferId>& writers,
                                            Scrape which, std::string& data);

 private:
  struct Slot {
    std::optional<ChunkHeader> committed;                 // last
    std::optional<std::pair<ChunkHeader, bool>> scraped;  // last, and whether it was complete
  };
  Slot& SlotAt(smb::ChunkPlace place);

  std::unique_ptr<smb::Memory> memory_;
  smb::Pages pages_;
  std::vector<Slot> slots_;  // kMaxChunksPerPage to a page
  bool is_unlogged_ = false;
};

/// Makes of a CommitDataRequest what a log holds: every byte of it but the flush id, and the chunks
/// that it names in shared memory. Reuse one reader: it keeps its memory.
class CommitReader {
 public:
  /// @param memory nullptr if the producer has no shared memory
  /// kCorrupt: not well-formed, or chunk data that the service cannot take. The entries for the
  /// log are as well-formed as they were.
  Status Read(Bytes request, ProducerMemory* memory);

  /// The request for the log, without its flush id; empty if there was nothing else.
  Bytes for_log() const { return wire::AsBytes(for_log_); }
  const std::string& without_flush() const { return without_flush_; }  // as it was sent
  Origin origin() const { return from_memory_ ? Origin::kShm : Origin::kInline; }

 private:
  Status ReadChunk(const wire::Field& field, ProducerMemory* memory);

  std::string for_log_;
  std::string without_flush_;
  std::string chunk_;  // scratch
  bool from_memory_ = false;
};

/// Looks at the page headers of a producer's shared memory, and logs what has changed. It only
/// reads: before commits, and by a timer while chunks are in use, the less changes, the later.
/// After a look there is none at any memory for twenty times as long as it took.
class MemoryWatch {
 public:
  using Clock = EventLoop::Clock;
  /// After so many logged looks one is whole: a reader of a part of the log need not wait longer.
  static constexpr uint64_t kWholeEvery = 256;

  /// @param memory, log, loop must live longer
  /// @param from the next look of any watch, at the earliest: shared by all watches
  MemoryWatch(const ProducerMemory& memory, ProducerId producer, RecordSink& log, EventLoop& loop,
              Clock::time_point& from);

  /// Looks, if it is time for it. Call it before a commit is passed on: not earlier, as a look has
  /// the system provide all pages of a new memory.
  void LookIfDue();
  /// @param always log the look even if it sees nothing new: for the last one
  void LookNow(bool always = false);
  /// When to look again although nothing passes. nullopt if no chunk is in use.
  std::optional<Clock::time_point> next() const { return next_; }

 private:
  void LookAt(Clock::time_point time);

  const ProducerMemory& memory_;
  const ProducerId producer_;
  RecordSink& log_;
  EventLoop& loop_;
  Clock::time_point& from_;
  smb::MemoryPicture last_;  // as the log has it
  smb::MemoryPicture now_;
  std::string changes_;
  uint64_t looks_ = 0;  // logged
  std::optional<uint64_t> same_until_ns_;
  std::optional<Clock::time_point> next_;
  EventLoop::Timer timer_;  // of next_
  Clock::duration pause_{};
  bool lost_ = false;  // the memory has shrunk, or is too large
};

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_RECORD_PRODUCER_MEMORY_H_
