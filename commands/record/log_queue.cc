#include "commands/record/log_queue.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

#include "commands/record/boot_time.h"
#include "core/base/wire.h"

namespace ringscope {
namespace {

/// Bytes that a record counts for, besides its request.
constexpr size_t kRecordCost = 256;
/// Bytes for the records that are not dropped with the commits.
constexpr size_t kReserve = size_t{16} << 20;
constexpr size_t kMaxFrameBytes = size_t{1} << 20;
/// Blocks kept for the next burst once the queue is empty; the rest is freed.
constexpr size_t kSpareBlocks = 64;

}  // namespace

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

LogQueue::~LogQueue() {
  static_cast<void>(Close());
  files_->SetOnFullDisk({});
}

void LogQueue::Append(OpBody body) {
  Op op{.time_ns = BootTimeNs(), .body = std::move(body)};
  const auto* const commit = std::get_if<Commit>(&op.body);
  const auto* const look = std::get_if<SharedMemoryLook>(&op.body);
  const size_t size = commit != nullptr ? commit->request.size()
                      : look != nullptr ? look->pages.size()
                                        : 0;
  const size_t cost = size + kRecordCost;

  const std::lock_guard lock(mutex_);
  if (failure_ || closing_) return;
  if (queued_ + cost > options_.capacity) dropping_ = true;
  if (queued_ <= options_.capacity / 2) dropping_ = false;
  if (look != nullptr && dropping_) return;  // looks are numbered: a reader sees that it is missing
  if (commit != nullptr ? dropping_ : queued_ + cost > options_.capacity + kReserve)
    return Drop(op, size);
  if (gap_) {
    ++totals_.gaps;
    AppendLocked({.time_ns = op.time_ns, .body = std::move(*gap_)}, kRecordCost);
    gap_.reset();
  }
  AppendLocked(op, cost);
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

void LogQueue::AppendLocked(const Op& op, size_t cost) {
  if (open_ == nullptr) OpenBlock();
  if (!open_->frame.Append(op)) {
    if (!open_->frame.empty()) {
      CloseBlock();
      OpenBlock();
    }
    if (!open_->frame.Append(op)) return AppendLarge(op, cost);
  }
  open_->queued += cost;
  queued_ += cost;
  open_->last_time_ns = op.time_ns;
  if (LogFiles::Notes(op.body)) open_->noted.push_back(op);
}

void LogQueue::AppendLarge(Op op, size_t cost) {
  if (auto* const commit = std::get_if<Commit>(&op.body)) {
    open_->large_request = wire::AsText(commit->request);
    commit->request = wire::AsBytes(open_->large_request);
  }
  open_->large = std::move(op);
  open_->queued += cost;
  queued_ += cost;
  CloseBlock();
}

void LogQueue::OpenBlock() {
  if (spare_.empty()) {
    // A small queue must not be full before the first block is.
    open_ = std::make_unique<Block>(std::min(kMaxFrameBytes, options_.capacity / 4));
  } else {
    open_ = std::move(spare_.back());
    spare_.pop_back();
  }
  open_until_ = Clock::now() + options_.flush_interval;
  changed_.notify_one();
}

void LogQueue::CloseBlock() {
  blocks_.push_back(std::move(open_));
  changed_.notify_one();
}

std::vector<LogQueue::BlockPtr> LogQueue::Recycle(BlockPtr block) {
  block->frame.Clear();
  block->queued = 0;
  block->noted.clear();
  block->last_time_ns.reset();
  block->large.reset();
  block->large_request = {};
  spare_.push_back(std::move(block));
  std::vector<BlockPtr> unused;
  while (blocks_.empty() && spare_.size() > kSpareBlocks) {
    unused.push_back(std::move(spare_.back()));
    spare_.pop_back();
  }
  return unused;
}

LogQueue::BlockPtr LogQueue::TakeBlock(std::unique_lock<std::mutex>& lock) {
  const auto ready = [this] { return !blocks_.empty() || closing_; };
  // A block that is not full waits for more, for a while.
  changed_.wait(lock, [&] { return ready() || open_ != nullptr; });
  if (!ready()) changed_.wait_until(lock, open_until_, ready);
  if (blocks_.empty() && open_ != nullptr) blocks_.push_back(std::move(open_));
  if (blocks_.empty()) return nullptr;
  BlockPtr block = std::move(blocks_.front());
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

void LogQueue::Run() {
  Status status;
  std::unique_lock lock(mutex_);
  while (BlockPtr block = TakeBlock(lock)) {
    const bool sees_more = block->large || !block->noted.empty();
    lock.unlock();
    status = block->large ? files_->Append(*block->large)
                          : files_->AppendFrame(block->frame, block->noted, block->last_time_ns);
    lock.lock();
    if (!status) break;
    totals_.waiting.reset();
    queued_ -= block->queued;
    totals_.written = files_->bytes_written();
    if (sees_more) totals_.seen = files_->Ended(RecordingEnding::kUnknown);
    std::vector<BlockPtr> unused = Recycle(std::move(block));
    if (unused.empty()) continue;
    lock.unlock();
    unused.clear();
    lock.lock();
  }
  if (status && gap_) {
    ++totals_.gaps;
    status = files_->Append({.time_ns = gap_->to_ns, .body = *gap_});
  }
  if (status) status = files_->Close(ending_, BootTimeNs());
  totals_.seen = files_->Ended(ending_.value_or(RecordingEnding::kUnknown));
  totals_.written = files_->bytes_written();
  result_ = status;
  if (!status) {
    failure_ = status.error();
    blocks_.clear();
    open_.reset();
    queued_ = 0;
    lock.unlock();
    if (options_.on_failure) options_.on_failure();
  }
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
