#include "commands/record/log_queue.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "commands/record/event_loop.h"

namespace ringscope {
namespace {

/// Bytes that a record counts for, besides its request.
constexpr size_t kRecordCost = 256;
/// Bytes for the records that are not dropped with the commits.
constexpr size_t kReserve = size_t{16} << 20;
constexpr size_t kMaxBlockCost = size_t{1} << 20;

}  // namespace

LogQueue::LogQueue(std::unique_ptr<LogFiles> files, Options options)
    : files_(std::move(files)),
      options_(std::move(options)),
      // A small queue must not be full before the first block is.
      block_cost_(std::min(kMaxBlockCost, options_.capacity / 4)) {}

Result<std::unique_ptr<LogQueue>> LogQueue::Create(std::unique_ptr<LogFiles> files,
                                                   Options options) {
  std::unique_ptr<LogQueue> queue(new LogQueue(std::move(files), std::move(options)));
  queue->files_->SetOnFullDisk(
      [&queue = *queue](const Error& error) { return queue.WaitForDisk(error); });
  try {
    queue->thread_ = std::thread([&queue = *queue] { queue.Run(); });
  } catch (const std::system_error& error) {
    return Fail(ErrorCode::kIo,
                fmt::format("cannot start a thread that writes the log: {}", error.what()));
  }
  return queue;
}

void LogQueue::Append(OpBody body) {
  Record record{.op = {.time_ns = BootTimeNs(), .body = std::move(body)}, .request = {}};
  const auto* const commit = std::get_if<Commit>(&record.op.body);
  const auto* const look = std::get_if<SharedMemoryLook>(&record.op.body);
  if (commit != nullptr) record.request = wire::AsText(commit->request);
  const size_t size = look != nullptr ? look->pages.size() : record.request.size();
  const size_t cost = size + kRecordCost;

  const std::lock_guard lock(mutex_);
  if (failure_ || closing_) return;
  if (queued_ + cost > options_.capacity) dropping_ = true;
  if (queued_ <= options_.capacity / 2) dropping_ = false;
  if (look != nullptr && dropping_) return;  // looks are numbered: a reader sees that it is missing
  if (commit != nullptr ? dropping_ : queued_ + cost > options_.capacity + kReserve)
    return Drop(record.op, size);
  if (gap_) {
    ++totals_.gaps;
    AppendLocked({.op = {.time_ns = record.op.time_ns, .body = std::move(*gap_)}, .request = {}},
                 kRecordCost);
    gap_.reset();
  }
  AppendLocked(std::move(record), cost);
}

void LogQueue::Drop(const Op& op, size_t size) {
  if (!gap_) {
    gap_.emplace();
    gap_->reason =
        totals_.waiting
            ? fmt::format("the recorder's queue was full, as nothing could be written: {}",
                          totals_.waiting->message)
            : "the disk was too slow: the recorder's queue was full";
    gap_->records = 0;
    gap_->bytes = 0;
    gap_->from_ns = op.time_ns;
  }
  ++*gap_->records;
  *gap_->bytes += size;
  gap_->to_ns = op.time_ns;
  ++totals_.dropped_records;
  totals_.dropped_bytes += size;
}

void LogQueue::AppendLocked(Record record, size_t cost) {
  if (open_.records.empty()) {
    open_until_ = Clock::now() + options_.flush_interval;
    changed_.notify_one();
  }
  open_.records.push_back(std::move(record));
  open_.cost += cost;
  queued_ += cost;
  if (open_.cost < block_cost_) return;
  blocks_.push_back(std::exchange(open_, {}));
  changed_.notify_one();
}

std::optional<LogQueue::Block> LogQueue::TakeBlock(std::unique_lock<std::mutex>& lock) {
  const auto ready = [this] { return !blocks_.empty() || closing_; };
  // A block that is not full waits for more, for a while.
  changed_.wait(lock, [&] { return ready() || !open_.records.empty(); });
  if (!ready()) changed_.wait_until(lock, open_until_, ready);
  if (blocks_.empty() && !open_.records.empty()) blocks_.push_back(std::exchange(open_, {}));
  if (blocks_.empty()) return std::nullopt;
  Block block = std::move(blocks_.front());
  blocks_.pop_front();
  return block;
}

bool LogQueue::WaitForDisk(const Error& error) {
  std::unique_lock lock(mutex_);
  totals_.waiting = error;
  if (closing_) return false;
  changed_.wait_for(lock, options_.retry_interval, [this] { return closing_; });
  return true;  // once more, also at the end
}

Status LogQueue::Write(Block& block) {
  for (Record& record : block.records) {
    if (auto* const commit = std::get_if<Commit>(&record.op.body))
      commit->request = wire::AsBytes(record.request);
    RS_RETURN_IF_ERROR(files_->Append(record.op));
  }
  return files_->Flush();
}

void LogQueue::Run() {
  Status status;
  std::unique_lock lock(mutex_);
  while (std::optional<Block> block = TakeBlock(lock)) {
    lock.unlock();
    status = Write(*block);
    block->records = {};  // takes time
    lock.lock();
    if (!status) break;
    totals_.waiting.reset();
    queued_ -= block->cost;
    totals_.written = files_->bytes_written();
    totals_.seen = files_->Ended(RecordingEnding::kUnknown);
  }
  const std::optional<RecorderGap> gap = std::exchange(gap_, {});
  totals_.gaps += gap ? 1 : 0;
  const auto ending = ending_;
  lock.unlock();
  if (status && gap) status = files_->Append({.time_ns = gap->to_ns, .body = *gap});
  if (status) status = files_->Close(ending, BootTimeNs());
  lock.lock();
  totals_.seen = files_->Ended(ending.value_or(RecordingEnding::kUnknown));
  totals_.written = files_->bytes_written();
  result_ = status;
  if (status) return;
  failure_ = status.error();
  blocks_.clear();
  open_ = {};
  queued_ = 0;
  lock.unlock();
  if (options_.on_failure) options_.on_failure();
}

LogQueue::State LogQueue::state() const {
  const std::lock_guard lock(mutex_);
  State state = totals_;
  state.queued = queued_;
  state.gaps += gap_ ? 1 : 0;
  return state;
}

std::optional<Error> LogQueue::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

Status LogQueue::Close(std::optional<RecordingEnding> ending) {
  if (thread_.joinable()) {
    {
      const std::lock_guard lock(mutex_);
      ending_ = ending;
      closing_ = true;
    }
    changed_.notify_one();
    thread_.join();
  }
  return result_;
}

}  // namespace ringscope
