#include "formats/io/made_ahead.h"

#include <gtest/gtest.h>

#include <string>

namespace ringscope {
namespace {

/// Gives `size` bytes, a few at a time, and then an error or the end.
class CountedSource : public ByteSource {
 public:
  CountedSource(size_t size, bool fails) : left_(size), fails_(fails) {}
  Result<size_t> ReadNext(std::span<uint8_t> into) override {
    if (left_ == 0 && fails_) return Fail(ErrorCode::kCorrupt, "damaged", {path_, {}, {}});
    const size_t count = std::min({left_, into.size(), size_t{70'001}});
    for (size_t i = 0; i < count; ++i) into[i] = static_cast<uint8_t>(left_-- % 251);
    return count;
  }
  const std::string& path() const override { return path_; }

 private:
  const std::string path_ = "counted";
  size_t left_;
  const bool fails_;
};

TEST(ReadAhead, GivesTheSameBytes) {
  constexpr size_t kBytes = 5'000'000;
  CountedSource plain(kBytes, false);
  const auto ahead = MakeReadAheadSource(std::make_unique<CountedSource>(kBytes, false));
  EXPECT_EQ(ReadAll(*ahead, 2 * kBytes).value(), ReadAll(plain, 2 * kBytes).value());
  std::vector<uint8_t> more(10);
  EXPECT_EQ(ahead->Read(more).value(), 0u);  // the end stays
}

TEST(ReadAhead, ErrorFollowsTheBytesBeforeIt) {
  const auto ahead = MakeReadAheadSource(std::make_unique<CountedSource>(100'000, true));
  EXPECT_EQ(ahead->Peek(200'000).value().size(), 100'000u);
  EXPECT_EQ(ReadAll(*ahead, 200'000).error().message, "damaged");
  EXPECT_FALSE(ahead->Peek(1));  // the error stays
}

TEST(ReadAhead, EndsBeforeAllIsRead) {
  const auto ahead = MakeReadAheadSource(std::make_unique<CountedSource>(50'000'000, false));
  std::vector<uint8_t> bytes(1000);
  EXPECT_EQ(ahead->Read(bytes).value(), 1000u);
}

}  // namespace
}  // namespace ringscope
