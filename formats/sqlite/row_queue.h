#ifndef RINGSCOPE_FORMATS_SQLITE_ROW_QUEUE_H_
#define RINGSCOPE_FORMATS_SQLITE_ROW_QUEUE_H_

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <queue>
#include <string_view>
#include <thread>
#include <vector>

#include "core/graph/chunk_lifetimes.h"
#include "core/ledger/ledger.h"
#include "core/session/buffer_event.h"

namespace ringscope {

/// Rows of the tables that grow with the log.
struct RowBatch {
  struct PatchRow {
    BufferId buffer{};
    ChunkName chunk;
    LogMoment at;
    uint64_t patches = 0;
    const char* why = "";  // it was not applied; empty: it was
  };
  struct LossRow {
    BufferId buffer{};
    ChunkName chunk;
    LogMoment at;
    bool is_flag = false;  // else a packet
    uint32_t loss_bits = 0;
  };

  uint64_t session = 0;
  uint64_t chunks_before = 0;  // of other sessions
  std::vector<PacketAccount> packets;
  std::vector<std::string_view> kinds;  // of these packets; empty: not known
  std::vector<PacketAccount> duplicates;
  std::vector<ChunkLife> chunks;
  std::vector<PatchRow> patches;
  std::vector<LossRow> losses;

  size_t rows() const {
    return packets.size() + duplicates.size() + chunks.size() + patches.size() + losses.size();
  }
};

/// A thread that writes batches, while others are made.
class RowQueue {
 public:
  using Write = std::function<void(const RowBatch&)>;

  /// @param write called for one batch after the other, on the thread; without one, on the caller's
  explicit RowQueue(Write write);
  ~RowQueue();
  RowQueue(const RowQueue&) = delete;
  RowQueue& operator=(const RowQueue&) = delete;

  /// Waits while many batches are to be written.
  void Put(std::unique_ptr<RowBatch> batch);
  /// Returns when all batches are written.
  void Finish();

 private:
  void Run();

  const Write write_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::queue<std::unique_ptr<RowBatch>> batches_;
  bool busy_ = false;
  bool stops_ = false;
  std::thread thread_;  // the last member: it uses all others
};

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_SQLITE_ROW_QUEUE_H_
