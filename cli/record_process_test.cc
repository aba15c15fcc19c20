// The recorder as a process of its own: signals, sudden death, a full disk, a program to record.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>

#include <chrono>
#include <thread>

#include "commands/record/event_loop.h"
#include "commands/testing/fake_producer.h"
#include "commands/testing/fake_service.h"
#include "commands/testing/memory_run.h"
#include "formats/inputs/open_log.h"
#include "formats/io/log_source.h"

namespace ringscope::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr BufferId kBuffer{1};

/// Tries again until it works, for half a minute at most.
bool Eventually(const std::function<bool()>& attempt) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!attempt()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return true;
}

/// The commits that a log has, and whether it is damaged. A log that cannot be read has none.
struct LogContent {
  size_t commits = 0;
  size_t ends = 0;
  uint64_t damage = 0;
  uint64_t gap_records = 0;
  std::vector<BufferSetUp> buffers;
};
LogContent ReadContent(const std::string& path) {
  LogContent content;
  auto log = OpenLog(path);
  if (!log) return content;
  while (true) {
    const auto op = (*log)->Next();
    if (!op || !*op) break;
    content.commits += std::holds_alternative<Commit>((*op)->body) ? 1 : 0;
    content.ends += std::holds_alternative<ProducerDisconnected>((*op)->body) ? 1 : 0;
    if (const auto* buffer = std::get_if<BufferSetUp>(&(*op)->body))
      content.buffers.push_back(*buffer);
    if (const auto* gap = std::get_if<RecorderGap>(&(*op)->body))
      content.gap_records += gap->records.value_or(0);
  }
  content.damage = (*log)->damage_count();
  return content;
}

class RecordProcess : public ::testing::Test {
 protected:
  /// Ends what a test that failed has left: ctest waits for all that have its output.
  ~RecordProcess() override {
    if (process_) process_->Terminate();
  }
  /// Starts `ringscope record` with a shell, which may print something before that.
  void Start(std::string options = "", const std::string& before = "") {
    options = buffers_ + " " + options;
    const std::string command = fmt::format(
        "{} exec {} record {} -o {} --listen {} --connect {} {} 2> {}", before, RS_BINARY, quiet_,
        log_, listen_, service_.producer_socket(), options, messages_);
    process_ = ChildProcess::Start({"sh", "-c", command}).value();
  }
  /// A producer that is connected through the recorder.
  FakeProducer& Producer() {
    EXPECT_TRUE(Eventually([this] { return Connect(listen_).has_value(); }));
    producer_.emplace(listen_, "p");
    EXPECT_TRUE(producer_->Connect());
    producer_->RegisterWriter(WriterId{1}, kBuffer);
    return *producer_;
  }
  /// Commits so many chunks that compress badly. @return false: the session has ended
  bool Commit(int chunks) {
    std::string payload(4000, '\0');
    for (int i = 0; i < chunks; ++i) {
      for (char& c : payload)
        c = static_cast<char>((random_ = random_ * 1664525 + 1013904223) >> 24);
      const auto page = producer_->FreePage();
      if (!page) return false;
      producer_->Write(
          {.page = *page, .writer = WriterId{1}, .id = ChunkId{next_chunk_++}, .payload = payload});
      std::string request;
      FakeProducer::AddChunk(request, *page, kBuffer);
      producer_->Commit(request);
    }
    return producer_->Sync();
  }
  /// Starts `ringscope record` and has so many chunks committed. @return as Commit
  bool StartAndCommit(int chunks, const std::string& options = "", const std::string& before = "") {
    Start(options, before);
    Producer();
    return Commit(chunks);
  }
  /// Ends it as a user would. @return how it ended
  std::string End() {
    process_->Terminate();
    return process_->TakeEnding();
  }
  std::string Messages() const { return ReadFile(messages_); }

  const TempFolder folder_;
  const std::string log_ = folder_.File("cap.tblog");
  std::string messages_ = folder_.File("messages");
  const std::string listen_ = folder_.File("producer.sock");
  std::string buffers_ = "--buffer 1=64k,discard";
  std::string quiet_ = "-q";
  FakeService service_{{.tracing = {.traces_all = true}}};
  std::unique_ptr<ChildProcess> process_;
  std::optional<FakeProducer> producer_;
  uint32_t random_ = 1;
  uint32_t next_chunk_ = 0;
};

TEST_F(RecordProcess, Signal_ClosesTheLog) {
  ASSERT_TRUE(StartAndCommit(50));
  EXPECT_EQ(End(), "");
  EXPECT_FALSE(producer_->Sync());
  const LogContent content = ReadContent(log_);
  EXPECT_EQ(content.commits, 50u);
  EXPECT_EQ(content.ends, 1u);
  EXPECT_EQ(content.damage, 0u);
  EXPECT_THAT(Messages(), IsEmpty());
  EXPECT_FALSE(std::filesystem::exists(listen_));
}

TEST_F(RecordProcess, Socket_IsTheUsersOwn) {
  Start();
  Producer();
  EXPECT_EQ(std::filesystem::status(listen_).permissions(), std::filesystem::perms(0600));
  EXPECT_EQ(End(), "");
  Start("--force --mode 0666", "umask 077;");
  Producer();
  EXPECT_EQ(std::filesystem::status(listen_).permissions(), std::filesystem::perms(0666));
  EXPECT_EQ(End(), "");
}

TEST_F(RecordProcess, SuddenDeath_LosesTheOpenBlockOnly) {
  ASSERT_TRUE(StartAndCommit(50));
  // What is older than the open block is in the file.
  ASSERT_TRUE(Eventually([this] { return ReadContent(log_).commits == 50; }));
  ASSERT_TRUE(Commit(5));
  ::kill(process_->pid(), SIGKILL);
  EXPECT_EQ(process_->TakeEnding(), "was ended by signal 9 (Killed)");
  EXPECT_FALSE(producer_->Sync());  // the producer sees its service go,
  service_.WaitForEnds(1);          // and the service its producer
  const LogContent content = ReadContent(log_);
  EXPECT_GE(content.commits, 50u);
  EXPECT_EQ(content.damage, 0u);
  // The files that it left are no obstacle.
  Start("--duration 10ms");
  EXPECT_EQ(process_->TakeEnding(), "ended with status 2");
  EXPECT_THAT(Messages(), HasSubstr("the file exists already"));
  EXPECT_GE(ReadContent(log_).commits, 50u);
  Start("--duration 10ms --force");
  EXPECT_EQ(process_->TakeEnding(), "");
}

TEST_F(RecordProcess, FullDisk_EndsTheLogAndNotTheSession) {
  ASSERT_TRUE(
      StartAndCommit(200, "--level -7", "ulimit -f 64;"));  // blocks of 512 bytes, or of 1024
  ASSERT_TRUE(Eventually([this] { return !Messages().empty(); }));
  EXPECT_THAT(Messages(), HasSubstr("error: recording has stopped: "));
  EXPECT_THAT(Messages(), HasSubstr("File too large (free some space, or write to another file "
                                    "system); the session continues"));
  EXPECT_TRUE(Commit(50));
  EXPECT_EQ(End(), "ended with status 1");
  EXPECT_EQ(ReadContent(log_).damage, 0u);
  EXPECT_EQ(std::ranges::count(Messages(), '\n'), 1);
}

// A pipe that is not read is like a disk that accepts nothing.
TEST_F(RecordProcess, SlowDisk_LeavesAGapAndSaysSo) {
  ASSERT_EQ(::mkfifo(log_.c_str(), 0600), 0);
  UniqueFd reader(::open(log_.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  ASSERT_TRUE(StartAndCommit(1500, "--queue 1MiB --level -7"));  // the session does not wait
  ASSERT_TRUE(Eventually([this] { return !Messages().empty(); }));
  EXPECT_THAT(Messages(), HasSubstr("the log cannot be written fast enough: "));
  std::string written;
  std::thread drain([&] {
    ::fcntl(reader.get(), F_SETFL, 0);
    std::vector<char> buffer(1 << 16);
    for (ssize_t got; (got = ::read(reader.get(), buffer.data(), buffer.size())) > 0;)
      written.append(buffer.data(), static_cast<size_t>(got));
  });
  EXPECT_EQ(End(), "ended with status 3");
  drain.join();
  EXPECT_THAT(Messages(), HasSubstr("the log is incomplete: "));
  const LogContent content = ReadContent(folder_.Write("copy.tblog", written));
  EXPECT_EQ(content.damage, 0u);
  EXPECT_GT(content.gap_records, 0u);
  EXPECT_EQ(content.commits + content.gap_records, 1500u);
}

TEST_F(RecordProcess, MaxSize_GoesOnInAnotherFile) {
  ASSERT_TRUE(StartAndCommit(900, "--max-size 500k"));
  EXPECT_EQ(End(), "");
  std::string joined = ReadFile(log_);
  size_t parts = 1;
  for (; parts < 10; ++parts) {
    const std::string part = ReadFile(folder_.File(fmt::format("cap.{:04}.tblog", parts)));
    if (part.empty()) break;
    EXPECT_EQ(ReadContent(folder_.File(fmt::format("cap.{:04}.tblog", parts))).damage, 0u);
    joined += part;
  }
  EXPECT_GT(parts, 2u);
  const LogContent content = ReadContent(folder_.Write("joined.tblog", joined));
  EXPECT_EQ(content.commits, 900u);
  EXPECT_EQ(content.damage, 0u);
}

TEST_F(RecordProcess, Duration_EndsIt) {
  Start("--duration 300ms");
  EXPECT_EQ(process_->TakeEnding(), "");
  EXPECT_FALSE(std::filesystem::exists(listen_));
  EXPECT_EQ(ReadContent(log_).damage, 0u);
}

TEST_F(RecordProcess, Buffer_IsInTheLogAsGiven) {
  buffers_ = "--buffer 1=3MiB,ring_buffer --buffer 7=64k,discard";
  ASSERT_TRUE(StartAndCommit(1));
  EXPECT_EQ(End(), "");
  EXPECT_THAT(ReadContent(log_).buffers,
              ElementsAre(BufferSetUp{BufferId{1}, {}, 3 << 20, FillPolicy::kRingBuffer, ""},
                          BufferSetUp{BufferId{7}, {}, 65536, FillPolicy::kDiscard, ""}));
}

TEST_F(RecordProcess, Program_FindsTheSocketsInItsEnvironment) {
  Start(
      fmt::format("--consumer-listen {0} -- sh -c 'echo $PERFETTO_PRODUCER_SOCK_NAME "
                  "$PERFETTO_CONSUMER_SOCK_NAME > {1}; exit 4'",
                  folder_.File("consumer.sock"), folder_.File("said")));
  EXPECT_EQ(process_->TakeEnding(), "ended with status 3");
  EXPECT_EQ(ReadFile(folder_.File("said")), listen_ + " " + folder_.File("consumer.sock") + "\n");
  EXPECT_THAT(Messages(), HasSubstr("sh ended with status 4"));
}

TEST_F(RecordProcess, ProgramThatIsNotThere_IsAnError) {
  Start("-- /no/such/program");
  EXPECT_EQ(process_->TakeEnding(), "ended with status 1");
  EXPECT_THAT(Messages(), HasSubstr("cannot start /no/such/program"));
}

TEST_F(RecordProcess, SocketForTwo_IsAnError) {
  Start("--consumer-listen " + listen_);
  EXPECT_EQ(process_->TakeEnding(), "ended with status 1");
  EXPECT_THAT(Messages(), HasSubstr("this name is in use; choose another with --listen or "
                                    "--consumer-listen"));
}

TEST_F(RecordProcess, SocketInUse_IsAnError) {
  Start();
  Producer();
  auto first = std::move(process_);
  Start();
  EXPECT_EQ(process_->TakeEnding(), "ended with status 1");
  EXPECT_THAT(Messages(), HasSubstr("this name is in use"));
  EXPECT_TRUE(Commit(5));
  first->Terminate();
  EXPECT_EQ(first->TakeEnding(), "");
  EXPECT_EQ(ReadContent(log_).commits, 5u);  // it was to be the second's log too
}

}  // namespace
}  // namespace ringscope::testing
