#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <fstream>
#include <memory>
#include <thread>
#include <vector>

#include "commands/record/service_watch.h"
#include "commands/testing/ipc_peer.h"
#include "commands/testing/memory_run.h"
#include "commands/testing/recorded_bodies.h"
#include "core/base/wire.h"

namespace ringscope {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class FileWatchTest : public ::testing::Test {
 protected:
  /// As the service writes: through a descriptor of its own.
  void Grow(const std::string& path, size_t bytes) {
    std::ofstream(path, std::ios::app | std::ios::binary) << std::string(bytes, 'x');
  }
  static std::string PathOf(const UniqueFd& file) {
    return fmt::format("/proc/self/fd/{}", file.get());
  }
  /// The next growth is of another read.
  void LookLater() {
    std::this_thread::sleep_for(FileWatch::kOneRead);
    watch_.Look();
  }
  void Start(const std::string& path, bool is_there, bool shows_ends = false) {
    watch_.Start(7, path, is_there, shows_ends);
  }

  /// file_bytes of the reads logged.
  std::vector<uint64_t> Sizes() const {
    std::vector<uint64_t> sizes;
    for (const OpBody& body : log_.bodies) {
      const auto* const read = std::get_if<ReadPass>(&body);
      if (read == nullptr) continue;
      EXPECT_EQ(read->reason, ReadReason::kFile);
      EXPECT_EQ(read->session, 7u);
      EXPECT_FALSE(read->buffer);
      sizes.push_back(read->file_bytes.value_or(0));
    }
    return sizes;
  }
  uint64_t Marks() const {
    uint64_t marks = 0;
    for (const OpBody& body : log_.bodies) {
      const auto* const mark = std::get_if<Inexact>(&body);
      if (mark == nullptr) continue;
      EXPECT_EQ(mark->reason, InexactReason::kReads);
      EXPECT_EQ(mark->session, 7u);
      ++marks;
    }
    return marks;
  }

  testing::RecordedBodies log_;
  const std::unique_ptr<EventLoop> loop_ = EventLoop::Create().value();
  SessionBuffers buffers_{log_, [](const std::string&, int32_t) {}};
  Instances instances_;
  FlushWatch flushes_{log_, buffers_, instances_};
  FileWatch watch_{*loop_, log_, buffers_, flushes_};
  const TempFolder folder_;
  const std::string path_ = folder_.File("out.pftrace");
};

TEST_F(FileWatchTest, EachGrowth_IsARead) {
  Grow(path_, 10);
  const UniqueFd file(::open(path_.c_str(), O_WRONLY));
  Start(PathOf(file), /*is_there=*/true);
  watch_.Look();
  EXPECT_THAT(Sizes(), IsEmpty());  // what is there before the session is nobody's read
  Grow(path_, 90);
  watch_.Look();
  watch_.Look();
  Grow(path_, 100);
  LookLater();
  EXPECT_THAT(Sizes(), ElementsAre(100, 200));
  EXPECT_EQ(Marks(), 0u);
}

// The order in which a growth and the replies to requests are reported is the order of both.
TEST_F(FileWatchTest, Growth_IsReportedInOrderWithReplies) {
  const UniqueFd file(::open(path_.c_str(), O_CREAT | O_RDWR, 0600));
  Start(PathOf(file), /*is_there=*/true);
  auto before = testing::MakeSocketPair(), after = testing::MakeSocketPair();
  std::vector<size_t> reads;  // at each reply
  std::vector<EventLoop::WatchHandle> watches;
  for (const UniqueFd* const socket : {&after.first, &before.first})
    watches.push_back(loop_
                          ->Watch(socket->get(), EPOLLIN | EPOLLET,
                                  [&](uint32_t) { reads.push_back(Sizes().size()); })
                          .value());
  const std::string reply = "x";
  Send(before.second.get(), wire::AsBytes(reply), {});
  Grow(path_, 100);
  Send(after.second.get(), wire::AsBytes(reply), {});
  loop_->RunUntil([&] { return reads.size() == 2; });
  EXPECT_THAT(reads, ElementsAre(0, 1));
}

// The service's own packets are in front of each read, and count in its first pass.
TEST_F(FileWatchTest, OwnPackets_AreCounted) {
  const auto packet = [](uint64_t sequence, size_t bytes) {
    std::string content, framed;
    wire::AppendBytes(content, 900, wire::AsBytes(std::string(bytes, 'x')));
    wire::AppendUint(content, 10, sequence);
    wire::AppendBytes(framed, 1, wire::AsBytes(content));
    return std::pair(content.size(), framed);
  };
  const auto [own, own_framed] = packet(1, 40);
  const auto [other, other_framed] = packet(2, 300);
  const auto write = [&](const std::string& bytes) {
    std::ofstream(path_, std::ios::app | std::ios::binary) << bytes;
  };
  const UniqueFd file(::open(path_.c_str(), O_CREAT | O_RDWR, 0600));
  Start(PathOf(file), /*is_there=*/true);
  write(own_framed + own_framed + other_framed + own_framed);
  LookLater();
  write(other_framed + own_framed);
  LookLater();
  write(own_framed + other_framed);
  LookLater();
  std::vector<std::optional<uint64_t>> counted;
  for (const OpBody& body : log_.bodies) counted.push_back(std::get<ReadPass>(body).own_bytes);
  EXPECT_THAT(counted, ElementsAre(2 * own, 0u, own));
}

// The file does not show where reads end.
TEST_F(FileWatchTest, WritesOfOneMoment_AreOneRead) {
  Start(path_, /*is_there=*/false);  // not there yet
  watch_.Look();
  Grow(path_, 100);
  watch_.Look();
  Grow(path_, 100);
  watch_.Look();
  Grow(path_, 100);
  LookLater();
  EXPECT_THAT(Sizes(), ElementsAre(100, 300));
}

// The service marks the end of each read, and may be interrupted before; it may add statistics.
TEST_F(FileWatchTest, WritesUntilTheEndOfARead_AreOne) {
  const std::string data = "\x0A\x04\x42\x02xx", end = "\x0A\x07\x50\x01\xAA\x04\x02\x20\x01";
  const std::string statistics("\x0A\x03\x9A\x02\x00", 5);
  const auto write = [&](const std::string& bytes) {
    std::ofstream(path_, std::ios::app | std::ios::binary) << bytes;
    watch_.Look();
  };
  Start(path_, /*is_there=*/false, /*shows_ends=*/true);
  for (int i = 0; i < 2; ++i) {
    write(data);
    write(data + end);  // still of that read
    write(statistics);  // and this
  }
  write(data + end);  // another
  const uint64_t one = data.size(), whole = 2 * one + end.size() + statistics.size();
  EXPECT_THAT(Sizes(), ElementsAre(one, whole + one, 2 * whole + one + end.size()));
  EXPECT_EQ(Marks(), 0u);
}

// The recorder may have had no processor meanwhile.
TEST_F(FileWatchTest, ReadsSinceTheLastLook_AreAllLogged_AndMarked) {
  const std::string end = "\x0A\x07\x50\x01\xAA\x04\x02\x20\x01";
  Start(path_, /*is_there=*/false, /*shows_ends=*/true);
  for (const int times : {1, 3}) {
    for (int i = 0; i < times; ++i) std::ofstream(path_, std::ios::app | std::ios::binary) << end;
    watch_.Look();
  }
  EXPECT_THAT(Sizes(), ElementsAre(9, 36, 36, 36));
  EXPECT_EQ(Marks(), 1u);
}

TEST_F(FileWatchTest, EndOfAReadSeenWithTheNext_IsMarked) {
  const std::string data = "\x0A\x04\x42\x02xx", end = "\x0A\x07\x50\x01\xAA\x04\x02\x20\x01";
  Start(path_, /*is_there=*/false, /*shows_ends=*/true);
  for (const std::string& bytes : {data, end + data}) {
    std::ofstream(path_, std::ios::app | std::ios::binary) << bytes;
    watch_.Look();
  }
  EXPECT_EQ(Sizes().size(), 2u);
  EXPECT_EQ(Marks(), 1u);
}

TEST_F(FileWatchTest, End_LooksOnceMore) {
  Grow(path_, 10);
  Start(path_, /*is_there=*/false);
  Grow(path_, 90);
  watch_.End(7);
  Grow(path_, 100);
  watch_.Look();
  EXPECT_THAT(Sizes(), ElementsAre(100));
  EXPECT_FALSE(watch_.any());
}

TEST_F(FileWatchTest, ReplyOfUnknownPlace_MarksTheLog) {
  buffers_.SetUp({.id = BufferId{1}, .size = 4096, .session = 7});
  Grow(path_, 10);
  Start(path_, /*is_there=*/false);
  watch_.NoteUnordered({BufferId{1}});  // nothing has grown
  Grow(path_, 90);
  watch_.Look();
  EXPECT_EQ(Marks(), 0u);
  Grow(path_, 100);
  watch_.NoteUnordered({BufferId{1}});
  LookLater();
  EXPECT_EQ(Marks(), 1u);
  EXPECT_THAT(Sizes(), ElementsAre(100, 200));
  Grow(path_, 100);
  watch_.NoteUnordered({BufferId{2}});  // of another session
  LookLater();
  EXPECT_EQ(Marks(), 1u);
}

TEST_F(FileWatchTest, Free_IsTheLastRead) {
  Grow(path_, 10);
  Start(path_, /*is_there=*/false);
  Grow(path_, 100);
  watch_.End(7, /*is_freed=*/true);
  EXPECT_THAT(Sizes(), ElementsAre(0));
  EXPECT_FALSE(watch_.any());
}

TEST_F(FileWatchTest, NameThatMeansNothingHere_MarksTheLog) {
  Start(path_, /*is_there=*/false);
  watch_.End(7);
  EXPECT_EQ(Marks(), 1u);
}

TEST_F(FileWatchTest, Pipe_CannotBeWatched) {
  int ends[2] = {};
  ASSERT_EQ(::pipe(ends), 0);
  const UniqueFd in(ends[0]), out(ends[1]);
  Start(PathOf(out), /*is_there=*/true);
  Start("", /*is_there=*/false);
  EXPECT_FALSE(watch_.any());
  EXPECT_EQ(Marks(), 2u);
}

}  // namespace
}  // namespace ringscope
