// The recorder as a process of its own: signals, sudden death, a full disk, a program to record.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <thread>

#include "commands/record/child_process.h"
#include "commands/testing/fake_producer.h"
#include "commands/testing/fake_service.h"
#include "commands/testing/memory_run.h"
#include "formats/log_source.h"

namespace ringscope::testing {
namespace {

using record::ChildProcess;
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
  }
  content.damage = (*log)->damage_count();
  return content;
}

class RecordProcess : public ::testing::Test {
 protected:
  /// Starts `ringscope record` with a shell, which may say something before that.
  void Start(const std::string& options, const std::string& before = "") {
    const std::string command = fmt::format(
        "{} exec {} record -q -o {} --listen {} --connect {} --buffer 1=64k,discard {} "
        "2> {}",
        before, RS_BINARY, log_, listen_, service_.socket(), options, messages_);
    process_ = ChildProcess::Start({"sh", "-c", command}, {}).value();
  }
  /// A producer that is connected through the recorder.
  FakeProducer& Producer() {
    EXPECT_TRUE(Eventually([this] { return record::Connect(listen_).has_value(); }));
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
  std::string Messages() const { return ReadFile(messages_); }

  const TempFolder folder_;
  const std::string log_ = folder_.File("cap.tblog");
  const std::string messages_ = folder_.File("messages");
  const std::string listen_ = folder_.File("producer.sock");
  FakeService service_{{}};
  std::unique_ptr<ChildProcess> process_;
  std::optional<FakeProducer> producer_;
  uint32_t random_ = 1;
  uint32_t next_chunk_ = 0;
};

TEST_F(RecordProcess, Signal_ClosesTheLog) {
  Start("");
  Producer();
  ASSERT_TRUE(Commit(50));
  ::kill(process_->pid(), SIGTERM);
  EXPECT_EQ(process_->TakeEnding(), "");
  EXPECT_FALSE(producer_->Sync());
  const LogContent content = ReadContent(log_);
  EXPECT_EQ(content.commits, 50u);
  EXPECT_EQ(content.ends, 1u);
  EXPECT_EQ(content.damage, 0u);
  EXPECT_THAT(Messages(), IsEmpty());
  EXPECT_FALSE(std::filesystem::exists(listen_));
}

TEST_F(RecordProcess, Socket_IsTheUsersOwn) {
  Start("");
  Producer();
  EXPECT_EQ(std::filesystem::status(listen_).permissions(), std::filesystem::perms(0600));
  process_->Terminate();
  process_->TakeEnding();
  Start("--mode 0666", "umask 077;");
  Producer();
  EXPECT_EQ(std::filesystem::status(listen_).permissions(), std::filesystem::perms(0666));
  process_->Terminate();
  process_->TakeEnding();
}

TEST_F(RecordProcess, SuddenDeath_LosesTheOpenBlockOnly) {
  Start("");
  Producer();
  ASSERT_TRUE(Commit(50));
  // What is older than the open block is in the file.
  ASSERT_TRUE(Eventually([this] { return ReadContent(log_).commits == 50; }));
  ASSERT_TRUE(Commit(5));
  ::kill(process_->pid(), SIGKILL);
  EXPECT_EQ(process_->TakeEnding(), "was ended by signal 9");
  EXPECT_FALSE(producer_->Sync());  // the producer sees its service go,
  service_.WaitForEnds(1);          // and the service its producer
  const LogContent content = ReadContent(log_);
  EXPECT_GE(content.commits, 50u);
  EXPECT_EQ(content.damage, 0u);
  // What it left behind is no obstacle.
  Start("--duration 10ms");
  EXPECT_EQ(process_->TakeEnding(), "");
}

TEST_F(RecordProcess, FullDisk_EndsTheLogAndNotTheSession) {
  Start("--level -7", "ulimit -f 64;");  // blocks of 512 bytes, or of 1024
  Producer();
  ASSERT_TRUE(Commit(200));
  ASSERT_TRUE(Eventually([this] { return !Messages().empty(); }));
  EXPECT_THAT(Messages(), HasSubstr("error: recording has stopped: "));
  EXPECT_THAT(Messages(), HasSubstr("File too large (free some space, or write to another file "
                                    "system); the session goes on"));
  EXPECT_TRUE(Commit(50));
  ::kill(process_->pid(), SIGTERM);
  EXPECT_EQ(process_->TakeEnding(), "ended with status 1");
  EXPECT_EQ(ReadContent(log_).damage, 0u);
  EXPECT_EQ(std::ranges::count(Messages(), '\n'), 1);
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

TEST_F(RecordProcess, SocketInUse_IsAnError) {
  Start("");
  Producer();
  auto first = std::move(process_);
  Start("");
  EXPECT_EQ(process_->TakeEnding(), "ended with status 1");
  EXPECT_THAT(Messages(), HasSubstr("another program uses this name"));
  EXPECT_TRUE(Commit(5));
  first->Terminate();
  EXPECT_EQ(first->TakeEnding(), "");
  EXPECT_EQ(ReadContent(log_).commits, 5u);  // it was to be the second's log too
}

}  // namespace
}  // namespace ringscope::testing
