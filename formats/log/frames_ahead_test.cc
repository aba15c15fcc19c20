#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "core/base/wire.h"
#include "formats/log/commit_log_reader.h"
#include "formats/testing/frames.h"

namespace ringscope::testing {
namespace {

constexpr ZstdFrameReader::Limits kLimits = {.content = size_t{16} << 20, .skippable = 1000};
constexpr size_t kMiB = size_t{1} << 20;

/// Content that does not compress, so that inputs are as large as what they hold.
std::string Noise(size_t size, uint32_t seed) {
  std::mt19937 random(seed);
  std::string noise(size, '\0');
  for (char& byte : noise) byte = static_cast<char>(random());
  return noise;
}

/// Frames of many sizes, one of them larger than what is read ahead.
std::string ManyFrames() {
  std::string input = SkippableFrame("start");
  for (uint32_t i = 0; i < 12; ++i) input += DataFrame(Noise(kMiB / 4 + 7919 * i, i));
  input += DataFrame(Noise(FramesAhead::kAheadBytes + kMiB, 100));
  input += SkippableFrame("middle");
  for (uint32_t i = 0; i < 12; ++i) input += DataFrame(Noise(kMiB - 7919 * i, i));
  return input + SkippableFrame("end");
}

/// A pipe: its size is not known.
class Pipe : public ByteSource {
 public:
  explicit Pipe(std::string bytes) : bytes_(MakeMemorySource(std::move(bytes))) {}
  Result<size_t> ReadNext(std::span<uint8_t> into) override { return bytes_->Read(into); }
  const std::string& path() const override { return bytes_->path(); }

 private:
  std::unique_ptr<ByteSource> bytes_;
};

/// A file that cannot be read to its end.
class Failing : public ByteSource {
 public:
  explicit Failing(std::string bytes)
      : size_(2 * bytes.size()), bytes_(MakeMemorySource(std::move(bytes))) {}
  Result<size_t> ReadNext(std::span<uint8_t> into) override {
    RS_ASSIGN_OR_RETURN(const size_t got, bytes_->Read(into));
    if (got == 0) return Fail(ErrorCode::kIo, "the disk is gone");
    return got;
  }
  const std::string& path() const override { return bytes_->path(); }
  std::optional<uint64_t> size() const override { return size_; }

 private:
  uint64_t size_;
  std::unique_ptr<ByteSource> bytes_;
};

std::unique_ptr<FramesAhead> Open(std::unique_ptr<ByteSource> source, bool keep_whole = true) {
  const auto is_own = [](const ZstdFrame&) { return true; };
  return std::make_unique<FramesAhead>(
      std::make_unique<ZstdFrameReader>(std::move(source), kLimits, is_own), keep_whole);
}

/// One line for each frame and bad range: where it is, what it holds, and the position after it.
std::vector<std::string> ReadAll(FramesAhead& frames) {
  std::vector<std::string> found;
  for (;;) {
    const auto item = frames.Next();
    if (!item) {
      found.push_back(item.error().message);
      break;
    }
    if (!*item) break;
    std::string line;
    if (const auto* frame = std::get_if<ZstdFrame>(&**item)) {
      const std::hash<std::string_view> hash;
      line = std::to_string(frame->offset) + " " +
             std::to_string(hash(wire::AsText(frame->content))) + " " +
             std::to_string(hash(wire::AsText(frame->whole)));
    } else {
      const auto& bad = std::get<BadRange>(**item);
      line = "bad " + std::to_string(bad.offset) + "+" + std::to_string(bad.bytes) + bad.what;
    }
    found.push_back(line + " " + std::to_string(frames.position()));
  }
  found.push_back("end " + std::to_string(frames.position()));
  return found;
}

TEST(FramesAhead, FileAndPipe_GiveTheSame) {
  const std::string input = ManyFrames();
  const auto ahead = ReadAll(*Open(MakeMemorySource(input)));
  EXPECT_EQ(ahead.size(), 29u);
  EXPECT_EQ(ahead, ReadAll(*Open(std::make_unique<Pipe>(input))));
}

TEST(FramesAhead, Damage_IsTheSame) {
  std::string input = ManyFrames();
  for (const size_t at : {size_t{3}, input.size() / 3, input.size() - 5}) input[at] ^= 0x55;
  input.resize(input.size() - 2);
  EXPECT_EQ(ReadAll(*Open(MakeMemorySource(input))), ReadAll(*Open(std::make_unique<Pipe>(input))));
}

TEST(FramesAhead, End_Stays) {
  const auto frames = Open(MakeMemorySource(ManyFrames()));
  ReadAll(*frames);
  EXPECT_FALSE(frames->Next().value().has_value());
  EXPECT_FALSE(frames->Next().value().has_value());
}

TEST(FramesAhead, Error_ComesBehindTheFramesBefore_AndStays) {
  const auto frames = Open(std::make_unique<Failing>(ManyFrames()));
  const std::vector<std::string> found = ReadAll(*frames);
  EXPECT_EQ(found.size(), 30u);
  EXPECT_EQ(found[28], "the disk is gone");
  EXPECT_EQ(frames->Next().error().message, "the disk is gone");
}

TEST(FramesAhead, Abandoned_StopsReading) {
  const auto frames = Open(MakeMemorySource(ManyFrames()));
  EXPECT_TRUE(frames->Next().value().has_value());
}

TEST(FramesAhead, WithoutWhole_KeepsTheContent) {
  const std::string content = Noise(kMiB, 1);
  const auto frames = Open(MakeMemorySource(DataFrame(content)), /*keep_whole=*/false);
  const auto item = frames->Next().value();
  const auto& frame = std::get<ZstdFrame>(*item);
  EXPECT_EQ(wire::AsText(frame.content), content);
  EXPECT_TRUE(frame.whole.empty());
}

}  // namespace
}  // namespace ringscope::testing
