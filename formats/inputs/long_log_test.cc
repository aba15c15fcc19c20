// Logs so long that nobody would read them for their summary.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <memory>
#include <string>

#include "formats/inputs/open_log.h"
#include "formats/log/commit_log_format.h"
#include "formats/testing/sample_log.h"
#include "formats/testing/sparse_log.h"

namespace ringscope {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

/// A file that is mostly a hole; it counts what is read of it.
class SparseFile {
 public:
  Status Write(uint64_t offset, Bytes bytes) {
    size_ = offset + bytes.size();
    pieces_[offset] = wire::AsText(bytes);
    return {};
  }
  size_t Read(uint64_t offset, std::span<uint8_t> into) {
    const auto size =
        static_cast<size_t>(std::min<uint64_t>(into.size(), size_ - std::min(size_, offset)));
    std::memset(into.data(), 0, size);
    auto piece = pieces_.upper_bound(offset);
    if (piece != pieces_.begin()) --piece;
    for (; piece != pieces_.end() && piece->first < offset + size; ++piece) {
      const uint64_t begin = std::max(offset, piece->first);
      const uint64_t end = std::min(offset + size, piece->first + piece->second.size());
      if (begin >= end) continue;
      std::memcpy(into.data() + (begin - offset), piece->second.data() + (begin - piece->first),
                  static_cast<size_t>(end - begin));
    }
    bytes_read += size;
    return size;
  }
  uint64_t size() const { return size_; }

  std::atomic<uint64_t> bytes_read = 0;  // by whichever thread

 private:
  uint64_t size_ = 0;
  std::map<uint64_t, std::string> pieces_;  // by offset
};

class SparseSource : public ByteSource {
 public:
  explicit SparseSource(SparseFile& file) : file_(file) {}
  Result<size_t> ReadNext(std::span<uint8_t>) override {
    return Fail(ErrorCode::kIo, "the log is read from its start");
  }
  const std::string& path() const override { return path_; }
  std::optional<uint64_t> size() const override { return file_.size(); }
  bool CanReadAt() const override { return true; }
  Result<size_t> ReadAt(uint64_t offset, std::span<uint8_t> into) override {
    return file_.Read(offset, into);
  }

 private:
  SparseFile& file_;
  const std::string path_ = "sparse";
};

/// A log of 64 GB, of which 25 MB exist.
class SparseLogTest : public ::testing::Test {
 protected:
  SparseLogTest() {
    log_.file_bytes = 64'000'000'000;
    const Status made = testing::GenerateSparseLog(
        log_, [&](uint64_t offset, Bytes bytes) { return file_.Write(offset, bytes); });
    EXPECT_TRUE(made);
    EXPECT_GT(file_.size(), log_.file_bytes);
  }
  std::unique_ptr<ByteSource> Open() { return std::make_unique<SparseSource>(file_); }
  /// Bytes that were read since the last call.
  uint64_t TakeRead() { return file_.bytes_read.exchange(0); }

  testing::SparseLog log_;
  SparseFile file_;
};

TEST_F(SparseLogTest, OpeningReadsTheIndex) {
  const LogInfo info = ReadLogInfo(Open()).value();
  EXPECT_TRUE(info.from_index);
  EXPECT_GT(info.data_frames, 150'000u);
  EXPECT_GT(info.raw_bytes, 2 * info.file_bytes);
  EXPECT_THAT(info.damage, IsEmpty());
  ASSERT_THAT(info.sessions, SizeIs(1));
  EXPECT_LT(TakeRead(), 50 * info.data_frames);
}

/// A log of many frames.
std::string LongLog() {
  testing::OpList ops;
  ops.Add(1000, testing::HeaderOf("long"));
  for (uint64_t i = 0; i < 2100; ++i) ops.Add(2000 + i, Note{std::to_string(i)});
  return testing::WriteLog(ops, /*frame_bytes=*/1);
}

TEST(LongLog, IsVerified) {
  const std::string log = LongLog();
  const LogInfo intact = VerifyLog(MakeMemorySource(log)).value();
  EXPECT_THAT(intact.damage, IsEmpty());
  EXPECT_TRUE(intact.cleanly_closed);
  const LogInfo indexed = ReadLogInfo(MakeMemorySource(log)).value();
  EXPECT_TRUE(indexed.from_index);
  EXPECT_EQ(indexed.sessions, intact.sessions);
  EXPECT_EQ(indexed.data_frames, intact.data_frames);
  EXPECT_EQ(indexed.raw_bytes, intact.raw_bytes);
}

TEST(LongLog, DamageOfTheIndexIsNotUsed) {
  const std::string log = LongLog();
  const LogInfo intact = ReadLogInfo(MakeMemorySource(log)).value();
  const size_t table = (intact.data_frames + 2) * commit_log::kSeekTableEntrySize +
                       commit_log::kSeekTableFooterSize + commit_log::kSkippableHeaderSize;
  for (size_t at = log.size() - table - 1; at > log.size() - table - 1500; at -= 7) {
    std::string flipped = log;
    flipped[at] = static_cast<char>(flipped[at] ^ 0x04);
    EXPECT_EQ(ReadLogInfo(MakeMemorySource(flipped)).value().sessions, intact.sessions) << at;
  }
}

TEST(LongLog, ConcatenatedLogsAreReadWhole) {
  const std::string log = LongLog();
  EXPECT_FALSE(ReadLogInfo(MakeMemorySource(log + log)).value().from_index);
}

}  // namespace
}  // namespace ringscope
