#include "commands/shell/values.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringscope {
namespace {

using ::testing::HasSubstr;

template <typename T>
std::string ErrorOf(const Result<T>& result) {
  return result ? "no error" : result.error().ToString();
}

TEST(ParseSize, Units_ArePowersOf1024) {
  EXPECT_EQ(ParseSize("0"), 0u);
  EXPECT_EQ(ParseSize("65536"), 65536u);
  EXPECT_EQ(ParseSize("64k"), 65536u);
  EXPECT_EQ(ParseSize("64K"), 65536u);
  EXPECT_EQ(ParseSize("64KiB"), 65536u);
  EXPECT_EQ(ParseSize("64kb"), 65536u);
  EXPECT_EQ(ParseSize("16MiB"), 16u << 20);
  EXPECT_EQ(ParseSize("1.5G"), (uint64_t{3} << 30) / 2);
  EXPECT_EQ(ParseSize("0.5k"), 512u);
  EXPECT_EQ(ParseSize("1T"), uint64_t{1} << 40);
}

TEST(ParseSize, Nonsense_IsRefused) {
  for (const char* text : {"", "k", "-1", "+1", "1 k", "12q", "1..5k", "1.k", ".5k", "0x10", "1e9",
                           "99999999999999999999", "9999999999T"}) {
    EXPECT_THAT(ErrorOf(ParseSize(text)), HasSubstr("is not a size; write it like")) << text;
  }
}

TEST(ParseDuration, Units) {
  EXPECT_EQ(ParseDuration("1ns"), 1u);
  EXPECT_EQ(ParseDuration("2us"), 2'000u);
  EXPECT_EQ(ParseDuration("500ms"), 500'000'000u);
  EXPECT_EQ(ParseDuration("1.5s"), 1'500'000'000u);
  EXPECT_EQ(ParseDuration("2m"), 120'000'000'000u);
  EXPECT_EQ(ParseDuration("1h"), 3'600'000'000'000u);
  EXPECT_THAT(ErrorOf(ParseDuration("5")), HasSubstr("write it like 500ms"));
}

TEST(ParseSequence, ProducerAndWriter) {
  EXPECT_EQ(ParseSequence("2:17"), (SequenceKey{ProducerId{2}, WriterId{17}}));
  for (const char* text : {"2", "2:", ":17", "2:17:1", "2:65536", "a:b"})
    EXPECT_THAT(ErrorOf(ParseSequence(text)), HasSubstr("PRODUCER:WRITER")) << text;
}

TEST(ParsePolicy, Mistyped_IsSuggested) {
  EXPECT_EQ(ParsePolicy("discard"), FillPolicy::kDiscard);
  EXPECT_EQ(ParsePolicy("DISCARD"), FillPolicy::kDiscard);
  EXPECT_EQ(ParsePolicy("RING_BUFFER"), FillPolicy::kRingBuffer);
  EXPECT_THAT(ErrorOf(ParsePolicy("ring-buffer")), HasSubstr("did you mean 'ring_buffer'?"));
}

TEST(ParseTimePoint, OffsetOrAbsolute) {
  EXPECT_EQ(ParseTimePoint("1.5s")->Absolute(1'000), 1'500'001'000u);
  EXPECT_EQ(ParseTimePoint("2768013150246")->Absolute(1'000), 2768013150246u);
  EXPECT_EQ(ParseTimePoint("1h")->Absolute(UINT64_MAX - 1), UINT64_MAX);
  EXPECT_FALSE(ParseTimePoint("soon"));
}

TEST(ParseRecordRange, EitherEndMayBeLeftOut) {
  EXPECT_EQ(ParseRecordRange("10..20")->first, 10u);
  EXPECT_EQ(ParseRecordRange("10..20")->last, 20u);
  EXPECT_EQ(ParseRecordRange("..20")->first, 0u);
  EXPECT_EQ(ParseRecordRange("10..")->last, UINT64_MAX);
  EXPECT_EQ(ParseRecordRange("7")->first, 7u);
  EXPECT_EQ(ParseRecordRange("7")->last, 7u);
  for (const char* text : {"", "..", "20..10", "a..b", "1..2..3"})
    EXPECT_FALSE(ParseRecordRange(text)) << text;
}

TEST(ParseReads, Modes) {
  EXPECT_EQ(ParseReads("recorded")->mode, ReadsMode::kRecorded);
  EXPECT_EQ(ParseReads("end")->mode, ReadsMode::kEnd);
  EXPECT_EQ(ParseReads("none")->mode, ReadsMode::kNone);
  EXPECT_EQ(ParseReads("every=5s")->mode, ReadsMode::kEvery);
  EXPECT_EQ(ParseReads("streamed")->mode, ReadsMode::kStreamed);
  EXPECT_EQ(ParseReads("streamed")->every_ns, 0u);
  EXPECT_EQ(ParseReads("streamed=200ms")->mode, ReadsMode::kStreamed);
  EXPECT_EQ(ParseReads("streamed=200ms")->every_ns, 200'000'000u);
  EXPECT_EQ(ParseReads("like=a=b.pftrace")->like, "a=b.pftrace");
  EXPECT_FALSE(ParseReads("like="));
  EXPECT_FALSE(ParseReads("streamed=0s"));
  EXPECT_EQ(ParseReads("every=5s")->every_ns, 5'000'000'000u);
  for (const char* text : {"", "every", "every=", "every=5", "every=0s", "never"})
    EXPECT_FALSE(ParseReads(text)) << text;
}

TEST(SplitBufferValue, DigitsOrAnIndexInFrontAreABuffer) {
  EXPECT_EQ(SplitBufferValue("1=64k")->buffer, BufferId{1});
  EXPECT_EQ(SplitBufferValue("1=64k")->value, "64k");
  EXPECT_EQ(SplitBufferValue("64k")->buffer, std::nullopt);
  EXPECT_EQ(SplitBufferValue("./a=b.so")->value, "./a=b.so");
  EXPECT_EQ(SplitBufferValue("3=./a=b.so")->value, "./a=b.so");
  EXPECT_FALSE(SplitBufferValue("65536=64k"));
  EXPECT_EQ(SplitBufferValue("buffers[2]=64k")->buffer, BufferKey(/*by_index=*/true, 2));
  EXPECT_EQ(SplitBufferValue("buffers[2]=./a=b.so")->value, "./a=b.so");
  EXPECT_FALSE(SplitBufferValue("buffers[x]=64k"));
}

TEST(Values, SizesThatAreTooSmall) {
  EXPECT_EQ(ParseBufferSize("1k"), 1024u);
  EXPECT_THAT(ParseBufferSize("64").error().ToString(),
              ::testing::AllOf(::testing::HasSubstr("at least 1 KiB"),
                               ::testing::HasSubstr("did you mean 64k?")));
  EXPECT_THAT(ParseBufferSize("0").error().hint, "") << "there is nothing to guess";
  EXPECT_THAT(ParseBufferSize("64b").error().hint, "") << "bytes are meant";
  EXPECT_THAT(ParseSizeFrom("64", 1 << 20).error().hint, ::testing::HasSubstr("64M"));
  EXPECT_FALSE(ParsePositiveDuration("0ms"));
  EXPECT_EQ(ParsePositiveDuration("1ms"), 1'000'000u);
}

}  // namespace
}  // namespace ringscope
