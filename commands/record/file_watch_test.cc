#include "commands/record/file_watch.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <fstream>
#include <vector>

#include "commands/testing/memory_run.h"
#include "commands/testing/op_list.h"
#include "core/base/wire.h"

namespace ringscope {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class FileWatchTest : public ::testing::Test {
 protected:
  /// As the service writes: through a descriptor of its own.
  void Grow(const std::string& path, size_t bytes) {
    std::ofstream(path, std::ios::app | std::ios::binary) << std::string(bytes, 'x');
  }
  void LookAt(milliseconds time) { watch_.Look(start_ + time); }

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

  testing::OpList log_;
  FileWatch watch_{log_};
  const FileWatch::Clock::time_point start_ = FileWatch::Clock::now();
  const TempFolder folder_;
  const std::string path_ = folder_.File("out.pftrace");
};

TEST_F(FileWatchTest, EachGrowth_IsARead) {
  Grow(path_, 10);
  const UniqueFd file(::open(path_.c_str(), O_WRONLY));
  watch_.Start(7, {.fd = file.Duplicate()});
  LookAt(milliseconds(0));
  EXPECT_THAT(Sizes(), IsEmpty());  // what is there before the session is nobody's read
  Grow(path_, 90);
  LookAt(milliseconds(500));
  LookAt(milliseconds(501));
  Grow(path_, 100);
  LookAt(milliseconds(1000));
  EXPECT_THAT(Sizes(), ElementsAre(100, 200));
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
  watch_.Start(7, {.fd = file.Duplicate()});
  write(own_framed + own_framed + other_framed + own_framed);
  LookAt(milliseconds(500));
  write(other_framed + own_framed);
  LookAt(milliseconds(1000));
  write(own_framed + other_framed);
  LookAt(milliseconds(1500));
  std::vector<std::optional<uint64_t>> counted;
  for (const OpBody& body : log_.bodies) counted.push_back(std::get<ReadPass>(body).own_bytes);
  EXPECT_THAT(counted, ElementsAre(2 * own, 0u, own));
}

TEST_F(FileWatchTest, WritesOfOneRead_AreOne) {
  watch_.Start(7, {.path = path_});  // not there yet
  LookAt(milliseconds(0));
  Grow(path_, 100);
  LookAt(milliseconds(400));
  watch_.OnConfirmed(watch_.reads(), start_ + milliseconds(450));  // the end is not marked
  LookAt(milliseconds(500));
  Grow(path_, 100);
  LookAt(milliseconds(560));
  Grow(path_, 100);
  LookAt(milliseconds(630));
  Grow(path_, 100);
  LookAt(milliseconds(720));
  EXPECT_THAT(Sizes(), ElementsAre(100, 200, 400));
}

// The service marks the end of each read, and may be interrupted before.
TEST_F(FileWatchTest, WritesUntilTheEndOfARead_AreOne) {
  const std::string data = "\x0A\x04\x42\x02xx", end = "\x0A\x07\xAA\x04\x02\x20\x01\x50\x01";
  const auto write = [&](const std::string& bytes) {
    std::ofstream(path_, std::ios::app | std::ios::binary) << bytes;
  };
  watch_.Start(7, {.path = path_});
  for (const int begin : {0, 1000}) {
    write(data);
    LookAt(milliseconds(begin + 100));
    write(data + end);
    LookAt(milliseconds(begin + 480));  // still of that read, though much later
  }
  write(data + end);
  LookAt(milliseconds(1510));  // another, though soon
  const uint64_t one = data.size(), whole = 2 * one + end.size();
  EXPECT_THAT(Sizes(), ElementsAre(one, whole + one, 2 * whole + one + end.size()));
}

// The recorder may have had no processor meanwhile. Nothing has passed between them.
TEST_F(FileWatchTest, ReadsSinceTheLastLook_AreAllLogged) {
  const std::string end = "\x0A\x07\xAA\x04\x02\x20\x01\x50\x01";
  watch_.Start(7, {.path = path_});
  for (const auto& [times, at] : {std::pair(1, 500), std::pair(3, 1000)}) {
    for (int i = 0; i < times; ++i) std::ofstream(path_, std::ios::app | std::ios::binary) << end;
    LookAt(milliseconds(at));
  }
  EXPECT_THAT(Sizes(), ElementsAre(9, 36, 36, 36));
  EXPECT_EQ(watch_.reads(), 4u);
}

TEST_F(FileWatchTest, End_LooksOnceMore) {
  watch_.Start(7, {.path = path_});
  Grow(path_, 100);
  watch_.End(7, /*is_freed=*/false, start_);
  Grow(path_, 100);
  LookAt(milliseconds(500));
  EXPECT_THAT(Sizes(), ElementsAre(100));
  EXPECT_FALSE(watch_.any());
}

TEST_F(FileWatchTest, WhatIsConfirmedBetween_MakesTwoReads) {
  watch_.Start(7, {.path = path_});
  Grow(path_, 100);
  LookAt(milliseconds(500));
  watch_.OnConfirmed(watch_.reads() - 1, start_ + milliseconds(501));  // was asked for before
  Grow(path_, 100);
  LookAt(milliseconds(502));
  EXPECT_THAT(Sizes(), ElementsAre(100));
  watch_.OnConfirmed(watch_.reads(), start_ + milliseconds(503));
  Grow(path_, 100);
  LookAt(milliseconds(504));
  EXPECT_THAT(Sizes(), ElementsAre(100, 300));
  EXPECT_EQ(Marks(), 0u);
}

TEST_F(FileWatchTest, RequestsUnderWay_MarkTheLog) {
  watch_.Start(7, {.path = path_});
  watch_.OnPassing(start_);
  Grow(path_, 100);
  LookAt(milliseconds(1));
  EXPECT_EQ(Marks(), 1u);
  watch_.OnConfirmed(watch_.reads(), start_ + milliseconds(2));
  Grow(path_, 100);
  LookAt(milliseconds(500));  // nothing is under way
  watch_.OnPassing(start_ + milliseconds(600));
  watch_.OnCause();
  Grow(path_, 100);
  LookAt(milliseconds(601));  // of what passed last
  EXPECT_EQ(Marks(), 1u);
  EXPECT_THAT(Sizes(), ElementsAre(100, 200, 300));
}

TEST_F(FileWatchTest, ReadByTheClock_IsWaitedFor) {
  const milliseconds period(100);
  const auto begin = start_ + (period - start_.time_since_epoch() % period);  // a multiple
  watch_.Start(7, {.path = path_, .period = period}, begin + milliseconds(10));
  EXPECT_FALSE(watch_.IsDue(begin + milliseconds(98)));
  EXPECT_TRUE(watch_.IsDue(begin + milliseconds(99)));
  EXPECT_TRUE(watch_.IsDue(begin + milliseconds(104)));
  Grow(path_, 100);
  watch_.Look(begin + milliseconds(105));
  EXPECT_FALSE(watch_.IsDue(begin + milliseconds(106)));
  // One that is not made, as nothing is to be written, is not waited for any longer.
  EXPECT_TRUE(watch_.IsDue(begin + milliseconds(204)));
  EXPECT_FALSE(watch_.IsDue(begin + milliseconds(205)));
  watch_.Look(begin + milliseconds(205));
  EXPECT_TRUE(watch_.IsDue(begin + milliseconds(300)));
}

TEST_F(FileWatchTest, Free_IsTheLastRead) {
  watch_.Start(7, {.path = path_});
  Grow(path_, 100);
  watch_.End(7, /*is_freed=*/true);
  EXPECT_THAT(Sizes(), ElementsAre(0));
  EXPECT_FALSE(watch_.any());
}

TEST_F(FileWatchTest, NameThatMeansNothingHere_MarksTheLog) {
  watch_.Start(7, {.path = path_});
  watch_.End(7, /*is_freed=*/false, start_);
  EXPECT_EQ(Marks(), 1u);
}

TEST_F(FileWatchTest, Pipe_CannotBeWatched) {
  int ends[2] = {};
  ASSERT_EQ(::pipe(ends), 0);
  const UniqueFd in(ends[0]), out(ends[1]);
  watch_.Start(7, {.fd = out.Duplicate()});
  watch_.Start(7, {});
  EXPECT_FALSE(watch_.any());
  EXPECT_EQ(Marks(), 2u);
}

}  // namespace
}  // namespace ringscope
