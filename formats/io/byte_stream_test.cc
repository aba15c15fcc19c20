#include "formats/io/byte_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <thread>

#include "formats/io/compressed_source.h"
#include "formats/io/output_file.h"
#include "formats/testing/files.h"
#include "formats/testing/frames.h"
#include "formats/testing/testdata.h"

namespace ringscope {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr OutputKind kText = {"a text", true};

class ByteStreamTest : public ::testing::Test {
 protected:
  std::string Path(const std::string& name) const { return folder_.File(name); }
  std::string Content(const std::string& name) const { return ReadFile(Path(name)); }
  std::vector<std::string> Names() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path())) {
      names.push_back(entry.path().filename().string());
    }
    return names;
  }

 private:
  const TempFolder folder_;
};

TEST_F(ByteStreamTest, OutputFile_AppearsAtCommit) {
  {
    auto file = OutputFile::Create(Path("x"), kText, Replace::kAny);
    ASSERT_TRUE(file) << file.error().ToString();
    ASSERT_TRUE((*file)->Write("hello"));
    EXPECT_FALSE(std::filesystem::exists(Path("x")));
    ASSERT_TRUE((*file)->Commit());
  }
  EXPECT_EQ(Content("x"), "hello");
  EXPECT_THAT(Names(), ::testing::ElementsAre("x"));
}

TEST_F(ByteStreamTest, OutputFile_DroppedLeavesTheOldOne) {
  std::ofstream(Path("x")) << "old";
  {
    auto file = OutputFile::Create(Path("x"), kText, Replace::kAny);
    ASSERT_TRUE((*file)->Write("new"));
  }
  EXPECT_EQ(Content("x"), "old");
  EXPECT_THAT(Names(), ::testing::ElementsAre("x"));
}

TEST_F(ByteStreamTest, OutputFile_KeepsPermissionsAndLinks) {
  std::ofstream(Path("x")) << "old";
  ASSERT_EQ(::chmod(Path("x").c_str(), 0640), 0);
  std::filesystem::create_symlink("x", Path("link"));
  auto file = OutputFile::Create(Path("link"), kText, Replace::kAny);
  ASSERT_TRUE((*file)->Write("new"));
  ASSERT_TRUE((*file)->Commit());
  EXPECT_TRUE(std::filesystem::is_symlink(Path("link")));
  EXPECT_EQ(Content("x"), "new");
  struct stat info {};
  ASSERT_EQ(::stat(Path("x").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0640u);
}

TEST_F(ByteStreamTest, OutputFile_WritesDevicesAndPipesInPlace) {
  auto null = OutputFile::Create("/dev/null", kText, Replace::kAny);
  ASSERT_TRUE(null) << null.error().ToString();
  ASSERT_TRUE((*null)->Write("x"));
  ASSERT_TRUE((*null)->Commit());
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));

  ASSERT_EQ(::mkfifo(Path("pipe").c_str(), 0600), 0);
  std::string got;
  std::thread reader([&] { got = Content("pipe"); });
  auto pipe = OutputFile::Create(Path("pipe"), kText, Replace::kAny);
  ASSERT_TRUE((*pipe)->Write("through"));
  ASSERT_TRUE((*pipe)->Commit());
  reader.join();
  EXPECT_EQ(got, "through");
}

TEST_F(ByteStreamTest, OutputFile_ErrorsNameTheFile) {
  const auto missing = OutputFile::Create(Path("no/such/x"), kText, Replace::kAny);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::kIo);
  EXPECT_EQ(missing.error().where.path, Path("no/such/x"));
  EXPECT_FALSE(OutputFile::Create(Path(""), kText, Replace::kAny));
  auto full = OutputFile::Create("/dev/full", kText, Replace::kAny);
  const Status status = (*full)->Write("x");
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().ToString(), HasSubstr("/dev/full: cannot write: No space left"));
}

TEST_F(ByteStreamTest, FileSource_ReadsInOrderAndAtOffsets) {
  std::ofstream(Path("x")) << "0123456789";
  auto source = OpenByteSource(Path("x"));
  ASSERT_TRUE(source);
  EXPECT_EQ((*source)->size(), 10u);
  std::array<uint8_t, 4> part{};
  EXPECT_EQ(*(*source)->ReadAt(8, part), 2u);
  EXPECT_EQ(part[0], '8');
  EXPECT_EQ(testing::ReadAll(**source), "0123456789");
  EXPECT_FALSE(OpenByteSource(Path("missing")));
  EXPECT_THAT(OpenByteSource(Path("")).error().ToString(), HasSubstr("folder"));
}

TEST_F(ByteStreamTest, MemorySource_ReadsInOrderAndAtOffsets) {
  auto source = MakeMemorySource("0123");
  std::array<uint8_t, 3> part{};
  EXPECT_EQ(*source->ReadAt(2, part), 2u);
  EXPECT_EQ(*source->ReadAt(9, part), 0u);
  EXPECT_EQ(testing::ReadAll(*source), "0123");
}

std::string Compressed(const std::string& text) {
  return testing::DataFrame(text, /*checksum=*/false);
}

TEST(ZstdSource, Frames_OneBehindTheOther) {
  const std::string large(300000, 'x');
  auto source = MakeZstdSource(MakeMemorySource(Compressed("one") + Compressed(large)));
  EXPECT_EQ(testing::ReadAll(*source), "one" + large);
  EXPECT_EQ(source->compressed_position(), source->compressed_size());
}

TEST(ZstdSource, TornInput_IsAnErrorWithItsPlace) {
  std::string torn = Compressed("some text");
  torn.pop_back();
  auto source = MakeZstdSource(MakeMemorySource(torn, "x.zst"));
  std::array<uint8_t, 100> part{};
  Result<size_t> got = source->Read(part);
  while (got && *got > 0) got = source->Read(part);
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().where.path, "x.zst");
  EXPECT_EQ(got.error().where.offset, torn.size());
}

TEST(ZstdSource, Garbage_IsAnError) {
  auto source = MakeZstdSource(MakeMemorySource(Compressed("x") + "garbage"));
  std::array<uint8_t, 100> part{};
  ASSERT_TRUE(source->Read(part));
  EXPECT_EQ(source->Read(part).error().code, ErrorCode::kCorrupt);
}

TEST(ByteSource, Peek_LeavesTheBytes) {
  const auto source = MakeMemorySource("0123456789");
  EXPECT_EQ(*source->Peek(4), "0123");
  EXPECT_EQ(*source->Peek(6), "012345");
  std::array<uint8_t, 2> part{};
  EXPECT_EQ(source->Read(part).value(), 2u);
  EXPECT_EQ(*source->Peek(3), "234");
  EXPECT_EQ(testing::ReadAll(*source), "23456789");
  EXPECT_THAT(*source->Peek(4), IsEmpty());
}

/// Has more than its size says, as a file that grows or one of /proc.
class LargerThanItsSize : public ByteSource {
 public:
  explicit LargerThanItsSize(std::string bytes) : bytes_(MakeMemorySource(std::move(bytes))) {}
  Result<size_t> ReadNext(std::span<uint8_t> into) override { return bytes_->Read(into); }
  const std::string& path() const override { return bytes_->path(); }
  std::optional<uint64_t> size() const override { return 0; }

 private:
  std::unique_ptr<ByteSource> bytes_;
};

TEST(ReadBytesFor, SmallSources_NeedLess) {
  EXPECT_EQ(ReadBytesFor(*MakeMemorySource("")), 4096u);
  EXPECT_EQ(ReadBytesFor(*MakeMemorySource(std::string(5000, 'a'))), 5001u);
  EXPECT_EQ(ReadBytesFor(*MakeMemorySource(std::string(kReadBytes, 'a'))), kReadBytes);
}

/// Counts how often it is read.
class CountingSource : public ByteSource {
 public:
  CountingSource(size_t size, size_t& reads) : left_(size), reads_(reads) {}

  Result<size_t> ReadNext(std::span<uint8_t> into) override {
    ++reads_;
    const size_t count = std::min(left_, into.size());
    left_ -= count;
    std::fill_n(into.begin(), count, uint8_t{' '});
    return count;
  }
  const std::string& path() const override { return path_; }

 private:
  const std::string path_ = "counted";
  size_t left_;
  size_t& reads_;
};

// Who looks for the end of a long line asks for one more byte again and again.
TEST(ByteWindow, FillByByte_ReadsManyAtOnce) {
  constexpr size_t kBytes = size_t{8} << 20;
  size_t reads = 0;
  ByteWindow window(std::make_unique<CountingSource>(kBytes, reads));
  while (window.Fill(window.size() + 1).value()) {
  }
  EXPECT_EQ(window.size(), kBytes);
  EXPECT_LT(reads, 100u);
}

TEST(ByteWindow, Fill_ReadsMoreThanTheSizeSays) {
  std::string bytes;
  for (int i = 0; bytes.size() < 3 * kReadBytes; ++i) bytes += std::to_string(i);
  ByteWindow window(std::make_unique<LargerThanItsSize>(bytes));
  std::string seen;
  while (*window.Fill(1000)) {
    seen += wire::AsText(window.bytes().first(1000));
    window.Drop(1000);
  }
  seen += wire::AsText(window.bytes());
  EXPECT_EQ(seen, bytes);
}

}  // namespace
}  // namespace ringscope
