// Compressed operations, decompressed by a thread of its own and by the one that reads.

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "formats/inputs/open_log.h"
#include "formats/io/made_ahead.h"
#include "formats/ops/ops_jsonl.h"
#include "formats/testing/testdata.h"

namespace ringscope {
namespace {

/// Bytes whose number is not known in advance, as those of a pipe: they are not read ahead.
class PipeSource : public ByteSource {
 public:
  explicit PipeSource(std::string bytes) : bytes_(MakeMemorySource(std::move(bytes), "a.zst")) {}
  Result<size_t> ReadNext(std::span<uint8_t> into) override { return bytes_->Read(into); }
  const std::string& path() const override { return bytes_->path(); }
  std::optional<uint64_t> size() const override { return std::nullopt; }

 private:
  std::unique_ptr<ByteSource> bytes_;
};

/// The results of reading: the operations, the damage, and the error that ends it.
std::vector<std::string> ReadAll(std::unique_ptr<ByteSource> source) {
  std::vector<std::string> all;
  const auto log = OpenLog(std::move(source)).value();
  while (true) {
    const auto op = log->Next();
    if (!op) all.push_back(op.error().ToString());
    if (!op || !*op) break;
    all.push_back(FormatOp(**op));
  }
  for (const Damage& damage : log->damage()) all.push_back(damage.ToString());
  return all;
}

void ExpectTheSame(const std::string& bytes) {
  ASSERT_TRUE(PaysToReadAhead(bytes.size()));
  const auto ahead = ReadAll(MakeMemorySource(bytes, "a.zst"));
  const auto alone = ReadAll(std::make_unique<PipeSource>(bytes));
  ASSERT_EQ(ahead.size(), alone.size());
  for (size_t i = 0; i < ahead.size(); ++i) ASSERT_TRUE(ahead[i] == alone[i]) << ahead[i];
}

std::string Capture() { return testing::ReadTestdata("captures/ring-v2/session.ops.jsonl.zst"); }

TEST(OpsReader_Ahead, ReadsTheSame) { ExpectTheSame(Capture()); }

TEST(OpsReader_Ahead, CutOff_HasTheSameDamage) {
  const std::string bytes = Capture();
  const std::string cut = bytes.substr(0, bytes.size() - 1000);
  ExpectTheSame(cut);
  const auto log = OpenLog(MakeMemorySource(cut, "a.zst")).value();
  while (*log->Next()) {
  }
  EXPECT_EQ(log->damage_count(), 1u);
}

TEST(OpsReader_Ahead, DamageInTheMiddle_IsTheSame) {
  std::string bytes = Capture();
  for (size_t i = 0; i < 64; ++i) bytes[bytes.size() / 2 + i] ^= 0x55;
  ExpectTheSame(bytes);
}

TEST(OpsReader_Ahead, NotReadToTheEnd_Stops) {
  const auto log = OpenLog(MakeMemorySource(Capture(), "a.zst")).value();
  EXPECT_TRUE(*log->Next());
}

}  // namespace
}  // namespace ringscope
