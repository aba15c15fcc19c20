#include "commands/record/log_queue.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>

#include <atomic>
#include <csignal>
#include <deque>
#include <filesystem>
#include <functional>
#include <thread>

#include "commands/record/socket.h"
#include "commands/testing/memory_run.h"
#include "core/perfetto/commit_request.h"
#include "formats/inputs/open_log.h"
#include "formats/io/log_source.h"
#include "formats/testing/no_threads.h"

namespace ringscope {
namespace {

using ::testing::HasSubstr;

LogFilesOptions FilesAt(const std::string& path) {
  LogFilesOptions options;
  options.path = path;
  options.header.tool = "test";
  options.header.uuid = RandomUuid();
  return options;
}

std::unique_ptr<LogQueue> QueueAt(const std::string& path, LogQueue::Options options = {}) {
  return LogQueue::Create(LogFiles::Create(FilesAt(path)).value(), std::move(options)).value();
}

std::string SomeRequest(size_t bytes, char content) {
  std::string request;
  CommitRequestBuilder(request).AddChunk(BufferId{1}, {ChunkId{0}, WriterId{1}, 1, 0},
                                         wire::AsBytes(std::string(bytes, content)), true);
  return request;
}

void AppendCommit(LogQueue& queue, const std::string& request) {
  Commit commit;
  commit.request = wire::AsBytes(request);
  queue.Append(commit);
}

/// A log's records, with the requests' bytes kept.
struct ReadLog {
  std::vector<Op> ops;
  std::deque<std::string> requests;
  uint64_t damage = 0;
};
ReadLog Read(const std::string& path) {
  ReadLog log;
  auto source = OpenLog(path).value();
  while (true) {
    std::optional<Op> op = source->Next().value();
    if (!op) break;
    if (auto* const commit = std::get_if<Commit>(&op->body)) {
      log.requests.emplace_back(wire::AsText(commit->request));
      commit->request = wire::AsBytes(log.requests.back());
    }
    log.ops.push_back(*op);
  }
  log.damage = source->damage_count();
  return log;
}

TEST(LogQueue, Records_ComeOutInOrderWithTheirTimes) {
  const TempFolder folder;
  const auto queue = QueueAt(folder.File("a.tblog"));
  for (int i = 0; i < 3000; ++i) {
    if (i % 100 == 0) queue->Append(Note{std::to_string(i)});
    AppendCommit(*queue, SomeRequest(static_cast<size_t>(i), static_cast<char>('a' + i % 26)));
  }
  AppendCommit(*queue, SomeRequest(60'000, 'z'));
  ASSERT_TRUE(queue->Close());
  const ReadLog log = Read(folder.File("a.tblog"));
  EXPECT_EQ(log.damage, 0u);
  ASSERT_EQ(log.ops.size(), 1 + 30 + 3000 + 1u);
  ASSERT_EQ(log.requests.size(), 3001u);
  for (int i = 0; i < 3000; ++i)
    ASSERT_TRUE(log.requests[static_cast<size_t>(i)] ==
                SomeRequest(static_cast<size_t>(i), static_cast<char>('a' + i % 26)));
  for (size_t i = 2; i < log.ops.size(); ++i) EXPECT_GE(log.ops[i].time_ns, log.ops[i - 1].time_ns);
  EXPECT_EQ(queue->state().queued, 0u);
  EXPECT_EQ(queue->state().gaps, 0u);
}

TEST(LogQueue, RequestLargerThanABlock_IsTaken) {
  const TempFolder folder;
  const auto queue = QueueAt(folder.File("a.tblog"));
  std::string request;
  for (int i = 0; i < 50; ++i) request += SomeRequest(60'000, static_cast<char>('a' + i % 26));
  AppendCommit(*queue, request);
  ASSERT_TRUE(queue->Close());
  std::string joined;
  for (const std::string& part : Read(folder.File("a.tblog")).requests) joined += part;
  EXPECT_TRUE(joined == request);
}

TEST(LogQueue, Idle_MakesSafeWhatItHas) {
  const TempFolder folder;
  const std::string path = folder.File("a.tblog");
  const auto queue = QueueAt(path, {.flush_interval = std::chrono::milliseconds(1)});
  queue->Append(Note{"hello"});
  // It is there without Close: wait for it.
  size_t records = 0;
  for (int i = 0; i < 3000 && records < 2; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    auto source = OpenLog(path);
    records = 0;
    if (source)
      while (true) {
        const auto op = (*source)->Next();
        if (!op || !*op) break;
        ++records;
      }
  }
  EXPECT_EQ(records, 2u);
}

// A pipe that is not read is like a disk that accepts nothing.
TEST(LogQueue, Full_DropsCommitsAndSaysSo) {
  const TempFolder folder;
  const std::string pipe = folder.File("pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  UniqueFd reader(::open(pipe.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  LogFilesOptions files = FilesAt(pipe);
  files.level = -7;
  const auto owned =
      LogQueue::Create(LogFiles::Create(std::move(files)).value(), {.capacity = 4 << 20}).value();
  LogQueue& queue = *owned;
  constexpr int kCommits = 4000;
  std::string random(4000, '\0');
  uint32_t state = 1;
  for (int i = 0; i < kCommits; ++i) {
    for (char& c : random) c = static_cast<char>((state = state * 1664525 + 1013904223) >> 24);
    AppendCommit(queue, random);
    if (i % 1000 == 0) queue.Append(WriterRegistered{});
  }
  const LogQueue::State full = queue.state();
  EXPECT_GT(full.dropped_records, 0u);
  EXPECT_LE(full.queued, size_t{5} << 20);

  std::string written;
  std::thread drain([&] {
    ::fcntl(reader.get(), F_SETFL, 0);
    std::vector<char> buffer(1 << 16);
    for (ssize_t got; (got = ::read(reader.get(), buffer.data(), buffer.size())) > 0;)
      written.append(buffer.data(), static_cast<size_t>(got));
  });
  EXPECT_TRUE(queue.Close());
  drain.join();
  const ReadLog log = Read(folder.Write("copy.tblog", written));
  EXPECT_EQ(log.damage, 0u);
  size_t commits = 0, writers = 0;
  uint64_t lost = 0, lost_bytes = 0;
  for (const Op& op : log.ops) {
    commits += std::holds_alternative<Commit>(op.body) ? 1 : 0;
    writers += std::holds_alternative<WriterRegistered>(op.body) ? 1 : 0;
    if (const auto* gap = std::get_if<RecorderGap>(&op.body)) {
      EXPECT_THAT(gap->reason, HasSubstr("queue was full"));
      EXPECT_LE(gap->from_ns, gap->to_ns);
      lost += *gap->records;
      lost_bytes += *gap->bytes;
    }
  }
  EXPECT_EQ(writers, 4u);  // who is who is kept
  EXPECT_EQ(commits + lost, size_t{kCommits});
  EXPECT_EQ(lost, queue.state().dropped_records);
  EXPECT_EQ(lost_bytes, queue.state().dropped_bytes);
}

/// Takes the disk away from a file that is open, and gives it back.
class FullDisk {
 public:
  explicit FullDisk(const std::string& path) {
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
      std::error_code ignored;
      if (std::filesystem::read_symlink(entry.path(), ignored) == path)
        fd_ = std::stoi(entry.path().filename().string());
    }
    file_ = UniqueFd(::dup(fd_));
    const UniqueFd full(::open("/dev/full", O_WRONLY | O_CLOEXEC));
    EXPECT_GE(::dup2(full.get(), fd_), 0);
  }
  void Free() { EXPECT_GE(::dup2(file_.get(), fd_), 0); }

 private:
  int fd_ = -1;
  UniqueFd file_;
};

void WaitUntil(const std::function<bool()>& condition) {
  while (!condition()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

constexpr std::chrono::milliseconds kSoon{1};

TEST(LogQueue, FullDisk_IsWaitedFor_AndNothingIsLostThatFitsInMemory) {
  const TempFolder folder;
  const std::string path = folder.File("a.tblog");
  const auto queue = QueueAt(path, {.flush_interval = kSoon, .retry_interval = kSoon});
  AppendCommit(*queue, SomeRequest(1000, 'a'));
  WaitUntil([&] { return queue->state().queued == 0; });
  FullDisk disk(path);
  AppendCommit(*queue, SomeRequest(1000, 'b'));
  WaitUntil([&] { return queue->state().waiting.has_value(); });
  EXPECT_THAT(queue->state().waiting->ToString(), HasSubstr("No space left"));
  AppendCommit(*queue, SomeRequest(1000, 'c'));
  EXPECT_FALSE(queue->state().failure);
  disk.Free();
  WaitUntil([&] { return !queue->state().waiting; });
  ASSERT_TRUE(queue->Close());
  const ReadLog log = Read(path);
  EXPECT_EQ(log.damage, 0u);
  EXPECT_EQ(log.requests.size(), 3u);
  EXPECT_EQ(queue->state().gaps, 0u);
}

TEST(LogQueue, FullDiskForLong_LeavesAGapThatSaysWhy) {
  const TempFolder folder;
  const std::string path = folder.File("a.tblog");
  const auto queue =
      QueueAt(path, {.capacity = 1 << 20, .flush_interval = kSoon, .retry_interval = kSoon});
  FullDisk disk(path);
  AppendCommit(*queue, SomeRequest(60'000, 'x'));
  WaitUntil([&] { return queue->state().waiting.has_value(); });
  constexpr size_t kCommits = 100;
  for (size_t i = 1; i < kCommits; ++i) AppendCommit(*queue, SomeRequest(60'000, 'x'));
  EXPECT_GT(queue->state().dropped_records, 0u);
  disk.Free();
  WaitUntil([&] { return queue->state().queued == 0; });
  AppendCommit(*queue, SomeRequest(10, 'y'));
  ASSERT_TRUE(queue->Close(RecordingEnding::kSignal));
  const ReadLog log = Read(path);
  EXPECT_EQ(log.damage, 0u);
  uint64_t lost = 0;
  for (const Op& op : log.ops) {
    const auto* gap = std::get_if<RecorderGap>(&op.body);
    if (gap == nullptr) continue;
    EXPECT_THAT(gap->reason, HasSubstr("No space left"));
    lost += *gap->records;
  }
  EXPECT_GT(lost, 0u);
  EXPECT_EQ(log.requests.size() + lost, kCommits + 1);
  const auto& end = std::get<RecordingEnded>(log.ops.back().body);
  EXPECT_EQ(end.ending, RecordingEnding::kSignal);
  EXPECT_EQ(end.gaps, 1u);
}

TEST(LogQueue, DiskThatStaysFull_EndsWithAnErrorAndAWholeFrame) {
  const TempFolder folder;
  const std::string path = folder.File("a.tblog");
  const auto queue = QueueAt(path, {.flush_interval = kSoon, .retry_interval = kSoon});
  AppendCommit(*queue, SomeRequest(1000, 'a'));
  WaitUntil([&] { return queue->state().queued == 0; });
  const FullDisk disk(path);
  AppendCommit(*queue, SomeRequest(1000, 'b'));
  const Status closed = queue->Close();
  ASSERT_FALSE(closed);
  EXPECT_THAT(closed.error().ToString(), HasSubstr("No space left"));
  const ReadLog log = Read(path);
  EXPECT_EQ(log.damage, 0u);
  EXPECT_EQ(log.requests.size(), 1u);
}

TEST(LogQueue, PipeThatBreaks_FailsAndGoesOnWithoutALog) {
  const TempFolder folder;
  const std::string pipe = folder.File("pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  UniqueFd reader(::open(pipe.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  const auto queue = QueueAt(pipe, {});
  reader.Reset();
  const auto before = std::signal(SIGPIPE, SIG_IGN);
  AppendCommit(*queue, SomeRequest(1000, 'x'));
  const Status closed = queue->Close();
  std::signal(SIGPIPE, before);
  ASSERT_FALSE(closed);
  EXPECT_THAT(closed.error().ToString(), HasSubstr("cannot write"));
  EXPECT_TRUE(queue->state().failure);
  queue->Append(Note{"forgotten"});
  EXPECT_EQ(queue->state().queued, 0u);
}

TEST(LogFiles, FullDisk_IsToldAtTheStart) {
  const auto files = LogFiles::Create(FilesAt("/dev/full"));
  ASSERT_FALSE(files);
  EXPECT_THAT(files.error().ToString(), HasSubstr("No space left"));
}

TEST(LogFiles, Parts_AreOneLogTogether) {
  const TempFolder folder;
  LogFilesOptions options = FilesAt(folder.File("cap.tblog"));
  options.max_size = 20'000;
  const auto files = LogFiles::Create(options).value();
  std::string random(1000, '\0');
  uint32_t state = 1;
  constexpr int kRecords = 200;
  for (int i = 0; i < kRecords; ++i) {
    for (char& c : random) c = static_cast<char>((state = state * 1664525 + 1013904223) >> 24);
    Commit commit;
    commit.request = wire::AsBytes(random);
    ASSERT_TRUE(files->Append({.time_ns = 1, .body = commit}));
    if (i % 5 == 0) {
      ASSERT_TRUE(files->Flush());
    }
  }
  ASSERT_TRUE(files->Close());
  ASSERT_GT(files->parts(), 5u);
  std::string joined;
  for (uint32_t part = 0; part < files->parts(); ++part) {
    const std::string path = PartPath(options.path, part);
    const ReadLog log = Read(path);
    ASSERT_FALSE(log.ops.empty());
    const auto& header = std::get<LogHeader>(log.ops[0].body);
    EXPECT_EQ(header.part, part);
    EXPECT_EQ(header.uuid, options.header.uuid);
    EXPECT_LT(ReadFile(path).size(), 2 * *options.max_size);
    joined += ReadFile(path);
  }
  EXPECT_EQ(files->bytes_written(), joined.size());
  const ReadLog all = Read(folder.Write("joined.tblog", joined));
  EXPECT_EQ(all.requests.size(), size_t{kRecords});
}

TEST(LogQueue, WithoutAThread_IsAnError) {
  const TempFolder folder;
  auto files = LogFiles::Create(FilesAt(folder.File("x.tblog"))).value();
  const testing::NoThreads no_threads;
  const auto queue = LogQueue::Create(std::move(files), {});
  ASSERT_FALSE(queue);
  EXPECT_THAT(queue.error().ToString(), HasSubstr("cannot start a thread"));
}

}  // namespace
}  // namespace ringscope
