#include "commands/record/log_queue.h"

#include <time.h>

#include <cstring>

namespace ringscope::record {
namespace {

using Clock = std::chrono::steady_clock;

/// What a record counts for besides its request.
constexpr size_t kRecordCost = 256;
/// Room for the records that are not dropped with the commits.
constexpr size_t kReserve = size_t{16} << 20;
/// The writing thread lets so much, or for so long, come together before it begins.
constexpr size_t kBatchBytes = 512 * 1024;
constexpr std::chrono::milliseconds kBatchTime{20};
/// Blocks kept for the next burst; the rest of a burst's memory is given back.
constexpr size_t kSpareBlocks = 64;
constexpr auto kNever = Clock::time_point::max();

uint64_t BootTimeNs() {
  timespec now = {};
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

}  // namespace

LogQueue::Block::Block(size_t bytes)
    : data(std::make_unique_for_overwrite<uint8_t[]>(bytes)), capacity(bytes) {}

LogQueue::LogQueue(std::unique_ptr<LogFiles> files, Options options)
    : files_(std::move(files)), options_(std::move(options)), thread_([this] { Run(); }) {}

LogQueue::~LogQueue() { static_cast<void>(Close()); }

void LogQueue::Append(OpBody body) {
  Op op{.time_ns = BootTimeNs(), .body = std::move(body)};
  const auto* const commit = std::get_if<Commit>(&op.body);
  const size_t size = commit != nullptr ? commit->request.size() : 0;
  const size_t cost = size + kRecordCost;

  const std::lock_guard lock(mutex_);
  if (failure_ || closing_) return;
  if (queued_ + cost > options_.capacity) dropping_ = true;
  if (queued_ <= options_.capacity / 2) dropping_ = false;
  if (commit != nullptr ? dropping_ : queued_ + cost > options_.capacity + kReserve)
    return Drop(op, size);
  const size_t before = queued_;
  if (gap_) {
    ++totals_.gaps;
    AppendLocked({.time_ns = op.time_ns, .body = std::move(*gap_)}, kRecordCost);
    gap_.reset();
  }
  AppendLocked(std::move(op), cost);
  if (before == 0 || (before < kBatchBytes && queued_ >= kBatchBytes)) changed_.notify_one();
}

void LogQueue::Drop(const Op& op, size_t size) {
  if (!gap_) {
    gap_.emplace();
    gap_->reason = "the disk was too slow: the recorder's queue was full";
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

void LogQueue::AppendLocked(Op op, size_t cost) {
  auto* const commit = std::get_if<Commit>(&op.body);
  const Bytes request = commit != nullptr ? commit->request : Bytes();
  Block& block = BlockFor(request.size());
  const size_t offset = block.used;
  if (!request.empty()) std::memcpy(block.data.get() + offset, request.data(), request.size());
  block.used += request.size();
  block.queued += cost;
  queued_ += cost;
  block.items.push_back({std::move(op), offset, request.size()});
}

LogQueue::Block& LogQueue::BlockFor(size_t bytes) {
  // The number of items is bounded too, as small records take no room in the block.
  constexpr size_t kMaxItems = kBlockBytes / kRecordCost;
  if (blocks_.empty() || blocks_.back()->capacity - blocks_.back()->used < bytes ||
      blocks_.back()->items.size() >= kMaxItems) {
    if (bytes > kBlockBytes || spare_.empty()) {
      blocks_.push_back(std::make_unique<Block>(std::max(bytes, kBlockBytes)));
    } else {
      blocks_.push_back(std::move(spare_.back()));
      spare_.pop_back();
    }
  }
  return *blocks_.back();
}

void LogQueue::Recycle(BlockPtr block) {
  if (block->capacity != kBlockBytes || spare_.size() >= kSpareBlocks) return;
  block->used = block->queued = 0;
  block->items.clear();
  spare_.push_back(std::move(block));
}

Status LogQueue::WriteBlock(const Block& block) {
  for (const Item& item : block.items) {
    if (!std::holds_alternative<Commit>(item.op.body)) {
      RS_RETURN_IF_ERROR(files_->Append(item.op));
      continue;
    }
    Op op = item.op;
    std::get<Commit>(op.body).request = Bytes(block.data.get() + item.offset, item.size);
    RS_RETURN_IF_ERROR(files_->Append(op));
  }
  return {};
}

Status LogQueue::FlushIfDue(std::chrono::steady_clock::time_point& due) {
  if (Clock::now() < due) return {};
  due = kNever;
  return files_->Flush();
}

void LogQueue::Run() {
  Clock::time_point flush_due = kNever;  // of what is not safe yet
  Status status;
  std::unique_lock lock(mutex_);
  const auto has_work = [this] { return !blocks_.empty() || closing_; };
  while (status) {
    if (flush_due == kNever) {
      changed_.wait(lock, has_work);
    } else {
      changed_.wait_until(lock, flush_due, has_work);
    }
    if (!blocks_.empty()) {
      changed_.wait_for(lock, kBatchTime, [this] { return queued_ >= kBatchBytes || closing_; });
    }
    if (blocks_.empty() && closing_) break;
    std::vector<BlockPtr> taken = std::exchange(blocks_, {});
    lock.unlock();
    for (BlockPtr& block : taken) {
      if (status) status = WriteBlock(*block);
      if (flush_due == kNever) flush_due = Clock::now() + options_.flush_interval;
      if (status) status = FlushIfDue(flush_due);
      const std::lock_guard done(mutex_);
      queued_ -= block->queued;
      totals_.written = files_->bytes_written();
      Recycle(std::move(block));
    }
    if (status) status = FlushIfDue(flush_due);
    lock.lock();
  }
  if (status && gap_) {
    ++totals_.gaps;
    status = files_->Append({.time_ns = gap_->to_ns, .body = *gap_});
  }
  if (status) status = files_->Close();
  totals_.written = files_->bytes_written();
  result_ = status;
  if (!status) {
    failure_ = status.error();
    blocks_.clear();
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

Status LogQueue::Close() {
  if (thread_.joinable()) {
    {
      const std::lock_guard lock(mutex_);
      closing_ = true;
    }
    changed_.notify_one();
    thread_.join();
  }
  return result_;
}

}  // namespace ringscope::record
