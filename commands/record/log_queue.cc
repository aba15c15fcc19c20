#include "commands/record/log_queue.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/utsname.h>

#include <algorithm>
#include <filesystem>
#include <new>
#include <random>
#include <system_error>

#include "commands/record/event_loop.h"
#include "commands/shell/command.h"
#include "formats/inputs/open_log.h"
#include "formats/log/commit_log_format.h"

namespace ringscope {
namespace {

/// Bytes that a record counts for, besides its request.
constexpr size_t kRecordCost = 256;
/// What a commit of one chunk counts for.
constexpr size_t kUsualCost = size_t{4} * 1024;
/// Bytes for the records that are not dropped with the commits.
constexpr size_t kReserve = size_t{16} << 20;
/// Large blocks have memory in huge pages; a small queue has small ones.
constexpr size_t kMaxBlockCost = RequestRoom::kHugePage;
/// Blocks whose memory is mapped from the start.
constexpr size_t kFirstBlocks = 8;
/// Records that are encoded without a pause.
constexpr size_t kRecordsAtOnce = 16;
/// The writer does not pause while more than 1/8 of the queue's capacity is in use.
constexpr size_t kBehindDivisor = 8;

namespace fs = std::filesystem;

/// Finds the further parts of an older recording of this name: by their names, and by their headers
/// or because they are empty. Files of others stay.
Result<std::vector<std::string>> FindOlderParts(const LogFilesOptions& options) {
  std::vector<std::string> older;
  for (const std::string& path : FilesNamedAsParts(options.path)) {
    if (const auto by = RecordedBy(path))
      return Fail(ErrorCode::kIo,
                  fmt::format("a part of a recording of this name, {}, is {}", path, *by),
                  {options.path, {}, {}}, "choose another name, or stop that recorder first");
    std::error_code ignored;
    const std::optional<LogHeader> header = ReadHeaderOf(path);
    if ((header && header->part > 0) || fs::file_size(path, ignored) == 0) older.push_back(path);
  }
  if (older.empty() || options.replace) return older;
  return Fail(ErrorCode::kUsage,
              fmt::format("there is a part of an older recording of this name: {}", older.front()),
              {options.path, {}, {}}, "choose another name, or replace it with --force");
}

}  // namespace

LogHeader LiveHeader() {
  LogHeader header;
  header.format_version = commit_log::kFormatVersion;
  header.tool = ToolVersion();
  header.uuid = RandomUuid();
  header.source = Origin::kShm;
  if (utsname names = {}; ::uname(&names) == 0)
    header.host = fmt::format("{} {} {}", names.sysname, names.release, names.machine);
  header.clock = "boottime";
  header.description = "recorded live";
  return header;
}

std::string RandomUuid() {
  std::random_device random;
  std::string uuid;
  for (int i = 0; i < 4; ++i) uuid += fmt::format("{:08x}", random());
  return uuid;
}

Result<std::unique_ptr<LogFiles>> LogFiles::Create(LogFilesOptions options) {
  auto files = std::unique_ptr<LogFiles>(new LogFiles(std::move(options)));
  RS_ASSIGN_OR_RETURN(const std::vector<std::string> older, FindOlderParts(files->options_));
  RS_RETURN_IF_ERROR(files->OpenPart(files->options_.replace ? GrowingFile::Existing::kReplace
                                                             : GrowingFile::Existing::kRefuse));
  for (const std::string& path : older) {
    std::error_code error;
    if (!fs::remove(path, error) && error)
      return Fail(ErrorCode::kIo,
                  fmt::format("cannot remove a part of the older recording: {}", error.message()),
                  {path, {}, {}});
  }
  return files;
}

Status LogFiles::OpenPart(GrowingFile::Existing existing) {
  std::string path = PartPath(options_.path, part_);
  if (std::error_code ignored; part_ > 0 && fs::exists(path, ignored)) {
    // Somebody else's. Readers that are given all parts know them by their headers.
    const fs::path whole(options_.path);
    const std::string name =
        fmt::format("{}-{}{}", whole.stem().string(), options_.header.uuid.substr(0, 8),
                    whole.extension().string());
    path = PartPath((whole.parent_path() / name).string(), part_);
  }
  auto file = GrowingFile::Create(path, existing);
  while (!file && part_ > 0 && on_full_ && on_full_(file.error()))
    file = GrowingFile::Create(path, existing);
  if (!file) return tl::unexpected<Error>(std::move(file).error());
  // Only now the part before is unlocked.
  if (file_) RS_RETURN_IF_ERROR(file_->Close());
  file_ = *std::move(file);
  file_->SetPause([this] { pause_(); });
  CommitLogWriterOptions options;
  options.level = options_.level;
  options.pause = [this] { pause_(); };
  options.map_memory = part_ == 0;  // later ones have the memory of those before
  RS_ASSIGN_OR_RETURN(writer_, CommitLogWriter::Create(*this, options));
  const std::vector<OpBody> repeated = state_.Records();
  LogHeader header =
      options_.without_payload ? PayloadMask::HeaderOf(options_.header) : options_.header;
  header.part = part_;
  header.first_part = first_part_;
  header.repeated_records = repeated.size();
  RS_RETURN_IF_ERROR(writer_->Append({.time_ns = {}, .body = std::move(header)}));
  for (const OpBody& body : repeated)
    RS_RETURN_IF_ERROR(writer_->Append({.time_ns = last_time_ns_, .body = body}));
  return {};
}

Status LogFiles::Write(Bytes bytes) {
  Status status = file_->Write(bytes);
  while (!status && file_->disk_was_full() && on_full_ && on_full_(status.error()))
    status = file_->Write(bytes);
  return status;
}

RecordingEnded LogFiles::Ended(RecordingEnding ending) const {
  VerdictBuilder verdicts = verdicts_;
  if (first_part_ > 0) verdicts.AddRemovedParts(first_part_);
  return verdicts.Ended(ending);
}

Status LogFiles::BeginNextPart() {
  RS_RETURN_IF_ERROR(
      writer_->Append({.time_ns = last_time_ns_, .body = Ended(RecordingEnding::kNextPart)}));
  RS_RETURN_IF_ERROR(writer_->Close());
  bytes_before_ += writer_->bytes_written();
  done_.emplace_back(file_->path(), writer_->bytes_written());
  uint64_t kept = *options_.max_size;  // the new part
  for (const auto& [path, bytes] : done_) kept += bytes;
  while (options_.keep && kept > *options_.keep && !done_.empty()) {
    kept -= done_.front().second;
    std::error_code ignored;  // a file that stays is one more than was asked for
    fs::remove(done_.front().first, ignored);
    done_.pop_front();
    ++first_part_;
  }
  ++part_;
  return OpenPart(GrowingFile::Existing::kRefuse);
}

Status LogFiles::Append(const Op& record) {
  const Op& op = options_.without_payload ? mask_.Apply(record) : record;
  if (options_.max_size && writer_->bytes_written() >= *options_.max_size)
    RS_RETURN_IF_ERROR(BeginNextPart());
  RS_RETURN_IF_ERROR(writer_->Append(op));
  if (op.time_ns) last_time_ns_ = op.time_ns;
  if (std::holds_alternative<Commit>(op.body)) return {};
  state_.Add(op.body);
  verdicts_.Add(op.body);
  return {};
}

Status LogFiles::Close(std::optional<RecordingEnding> ending, std::optional<uint64_t> time_ns) {
  if (ending) RS_RETURN_IF_ERROR(writer_->Append({.time_ns = time_ns, .body = Ended(*ending)}));
  RS_RETURN_IF_ERROR(writer_->Close());
  return file_->Close();
}

void RequestRoom::Clear(size_t capacity) {
  size_ = 0;
  if (capacity <= capacity_) return;
  const size_t page = capacity < kHugePage ? kPage : kHugePage;
  capacity_ = (capacity + page - 1) / page * page;
  memory_.reset(static_cast<uint8_t*>(std::aligned_alloc(page, capacity_)));
  if (memory_ == nullptr) throw std::bad_alloc();
  static_cast<void>(::madvise(memory_.get(), capacity_, MADV_HUGEPAGE));  // it works without
}

Bytes RequestRoom::Append(Bytes request) {
  uint8_t* const begin = memory_.get() + size_;
  std::copy_n(request.data(), request.size(), begin);  // at once: of a span it copies byte by byte
  size_ += request.size();
  return {begin, request.size()};
}

LogQueue::LogQueue(std::unique_ptr<LogFiles> files, Options options)
    : files_(std::move(files)),
      options_(std::move(options)),
      // A small queue must not be full before the first block is.
      block_cost_(std::min(kMaxBlockCost, options_.capacity / 4)),
      spare_(kFirstBlocks) {
  for (Block& block : spare_) {
    block.requests.Clear(block_cost_);
    block.requests.Touch();
    block.records.resize(block_cost_ / kUsualCost);
    block.records.clear();
  }
  open_.requests.Clear(block_cost_);
}

Result<std::unique_ptr<LogQueue>> LogQueue::Create(std::unique_ptr<LogFiles> files,
                                                   Options options) {
  std::unique_ptr<LogQueue> queue(new LogQueue(std::move(files), std::move(options)));
  queue->files_->SetOnFullDisk(
      [&queue = *queue](const Error& error) { return queue.WaitForDisk(error); });
  queue->files_->SetPause([&queue = *queue] { queue.Pause(); });
  try {
    queue->thread_ = std::thread([&queue = *queue] { queue.Run(); });
  } catch (const std::system_error& error) {
    return Fail(ErrorCode::kIo,
                fmt::format("cannot start a thread that writes the log: {}", error.what()));
  }
  return queue;
}

void LogQueue::Append(OpBody body) {
  Op record{.time_ns = BootTimeNs(), .body = std::move(body)};
  const auto* const commit = std::get_if<Commit>(&record.body);
  const auto* const look = std::get_if<SharedMemoryLook>(&record.body);
  const size_t size = look != nullptr     ? look->pages.size()
                      : commit != nullptr ? commit->request.size()
                                          : 0;
  const size_t cost = size + kRecordCost;

  const std::lock_guard lock(mutex_);
  if (!result_ || closing_) return;
  if (queued_ + cost > options_.capacity) dropping_ = true;
  if (queued_ <= options_.capacity / 2) dropping_ = false;
  if (look != nullptr && dropping_) return;  // looks are numbered: a reader sees that it is missing
  if (commit != nullptr ? dropping_ : queued_ + cost > options_.capacity + kReserve)
    return Drop(record, size);
  if (gap_) {
    ++totals_.gaps;
    AppendLocked({.time_ns = record.time_ns, .body = std::move(*gap_)}, kRecordCost);
    gap_.reset();
  }
  AppendLocked(std::move(record), cost);
}

void LogQueue::Drop(const Op& op, size_t size) {
  if (!gap_) {
    gap_ = RecorderGap{
        .reason =
            totals_.waiting
                ? fmt::format("the recorder's queue was full, as nothing could be written: {}",
                              totals_.waiting->message)
                : "the disk was too slow: the recorder's queue was full",
        .records = 0,
        .bytes = 0,
        .from_ns = op.time_ns};
  }
  ++*gap_->records;
  *gap_->bytes += size;
  gap_->to_ns = op.time_ns;
  ++totals_.dropped_records;
  totals_.dropped_bytes += size;
}

void LogQueue::AppendLocked(Op record, size_t cost) {
  if (auto* const commit = std::get_if<Commit>(&record.body)) {
    if (!open_.requests.Fits(commit->request.size())) {
      CloseBlock();
      if (!open_.requests.Fits(commit->request.size()))
        open_.requests.Clear(commit->request.size());
    }
    commit->request = open_.requests.Append(commit->request);
  }
  if (open_.records.empty()) {
    open_until_ = Clock::now() + options_.flush_interval;
    changed_.notify_one();
  }
  open_.records.push_back(std::move(record));
  open_.cost += cost;
  queued_ += cost;
  if (open_.cost >= block_cost_) CloseBlock();
}

void LogQueue::CloseBlock() {
  if (open_.records.empty()) return;
  blocks_.push_back(std::exchange(open_, {}));
  changed_.notify_one();
  if (!spare_.empty()) {
    open_ = std::move(spare_.back());
    spare_.pop_back();
  }
  open_.requests.Clear(block_cost_);
}

std::optional<LogQueue::Block> LogQueue::TakeBlock(std::unique_lock<std::mutex>& lock) {
  const auto ready = [this] { return !blocks_.empty() || closing_; };
  // A block that is not full waits for more, for a while.
  changed_.wait(lock, [&] { return ready() || !open_.records.empty(); });
  if (!ready()) changed_.wait_until(lock, open_until_, ready);
  if (blocks_.empty()) CloseBlock();
  if (blocks_.empty()) return std::nullopt;
  Block block = std::move(blocks_.front());
  blocks_.pop_front();
  return block;
}

void LogQueue::Pause() const {
  // The mutex is not taken: whoever appends would wait for a thread that has it and does not run.
  if (queued_ <= options_.capacity / kBehindDivisor) std::this_thread::yield();
}

bool LogQueue::WaitForDisk(const Error& error) {
  std::unique_lock lock(mutex_);
  totals_.waiting = error;
  if (closing_) return false;
  changed_.wait_for(lock, options_.retry_interval, [this] { return closing_; });
  return true;  // once more, also at the end
}

Status LogQueue::Write(const Block& block) {
  for (size_t i = 0; i < block.records.size(); ++i) {
    RS_RETURN_IF_ERROR(files_->Append(block.records[i]));
    if (i % kRecordsAtOnce == 0) Pause();
  }
  return files_->Flush();
}

void LogQueue::Run() {
  Status status;
  std::unique_lock lock(mutex_);
  while (std::optional<Block> block = TakeBlock(lock)) {
    lock.unlock();
    status = Write(*block);
    block->records.clear();  // takes time
    lock.lock();
    if (!status) break;
    totals_.waiting.reset();
    queued_ -= std::exchange(block->cost, 0);
    if (spare_.size() < kFirstBlocks) spare_.push_back(*std::move(block));
  }
  const std::optional<RecorderGap> gap = std::exchange(gap_, {});
  totals_.gaps += gap ? 1 : 0;
  const auto ending = ending_;
  lock.unlock();
  if (status && gap) status = files_->Append({.time_ns = gap->to_ns, .body = *gap});
  if (status) status = files_->Close(ending, BootTimeNs());
  lock.lock();
  result_ = status;
  if (status) return;
  blocks_.clear();
  open_ = {};
  queued_ = 0;
}

LogQueue::State LogQueue::state() const {
  const std::lock_guard lock(mutex_);
  State state = totals_;
  state.queued = queued_;
  state.gaps += gap_ ? 1 : 0;
  if (!result_) state.failure = result_.error();
  return state;
}

Status LogQueue::Close(std::optional<RecordingEnding> ending) {
  if (!thread_.joinable()) return result_;
  {
    const std::lock_guard lock(mutex_);
    ending_ = ending;
    closing_ = true;
  }
  changed_.notify_one();
  thread_.join();
  return result_;
}

}  // namespace ringscope
