// Packets inside packets, traces that are compressed as a whole, and damage that is skipped.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/base/wire.h"
#include "core/testing/message_text.h"
#include "formats/inputs/input_kind.h"
#include "formats/io/compressed_source.h"
#include "formats/testing/frames.h"
#include "formats/testing/testdata.h"
#include "formats/testing/trace_packet.h"
#include "formats/trace/perfetto_trace.h"
#include "formats/trace/trace_file_scan.h"

namespace ringscope::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string Zstd(const std::string& text) { return DataFrame(text, /*checksum=*/false); }

/// A packet of sequence 2 with this text.
std::string PacketField(const std::string& text) {
  return Sub(1, Sub(11, text) + "\x18\x05\x50\x02");
}
std::string InDeflate(const std::string& packets) { return Sub(1, Sub(50, Deflated(packets))); }
std::string InZstd(const std::string& packets) { return Sub(1, Sub(133, Zstd(packets))); }

struct ReadPacked {
  std::vector<std::string> texts;
  std::vector<uint64_t> offsets;
  std::vector<Damage> damage;
  std::string error;
};

ReadPacked ReadPackets(const std::string& bytes,
                       TraceReader::OnDamage on_damage = TraceReader::OnDamage::kFail) {
  ReadPacked trace;
  auto reader = TraceReader::Open(MakeMemorySource(bytes, "x.pftrace"), on_damage).value();
  while (true) {
    const auto packet = testing::NextPacket(*reader);
    if (!packet) trace.error = packet.error().ToString();
    if (!packet || !*packet) break;
    const Bytes content = (*packet)->content;
    trace.texts.emplace_back(wire::AsText(content.subspan(std::min<size_t>(2, content.size()))));
    trace.offsets.push_back((*packet)->offset);
  }
  trace.damage = reader->damage();
  return trace;
}
ReadPacked Recover(const std::string& bytes) {
  return ReadPackets(bytes, TraceReader::OnDamage::kSkip);
}

TEST(PackedTrace, PacketsInPackets_ComeInTheirPlace) {
  const std::string a = PacketField("a");
  const ReadPacked trace = ReadPackets(a + InDeflate(PacketField("b") + PacketField("c")) +
                                       InZstd(PacketField("d")) + InZstd("") + PacketField("e"));
  EXPECT_EQ(trace.error, "");
  EXPECT_THAT(trace.texts, ElementsAre("a", "b", "c", "d", "e"));
  EXPECT_EQ(trace.offsets[1], a.size());
  EXPECT_EQ(trace.offsets[2], a.size());
}

TEST(PackedTrace, ScanCountsWhatWasPacked) {
  const std::string bytes = PacketField("a") + InDeflate(PacketField("b") + PacketField("c")) +
                            InZstd(PacketField("d")) + PacketField("e");
  const auto scanned = ScanTraceFile(MakeMemorySource(bytes));
  const TraceFacts& facts = scanned->sessions.at(0);
  EXPECT_EQ(facts.all.packets, 5u);
}

TEST(PackedTrace, GzippedFile_IsRead) {
  const std::string text = PacketField("a") + InDeflate(PacketField("b"));
  EXPECT_THAT(ReadPackets(Gzipped(text)).texts, ElementsAre("a", "b"));
  EXPECT_THAT(ReadPackets(Gzipped(text) + Gzipped(PacketField("c"))).texts,
              ElementsAre("a", "b", "c"))
      << "two members";
}

TEST(PackedTrace, KindIsSeenThroughTheCompression) {
  const std::string text = PacketField(std::string(100'000, 'x')) + PacketField("b");
  for (const std::string& file : {text, Gzipped(text), Zstd(text)})
    EXPECT_EQ(KindOfStart(file.substr(0, kKindBytes)), InputKind::kTrace);
  EXPECT_EQ(KindOfStart(Gzipped(PacketField("a"))), InputKind::kTrace);
  EXPECT_EQ(KindOfStart(Gzipped("text")), InputKind::kOther);
  EXPECT_EQ(KindOfStart("\x1F\x8B"), InputKind::kOther);
}

TEST(PackedTrace, DamageInsideAPacket_CostsThatPacketAlone) {
  std::string packed = InDeflate(PacketField("lost"));
  packed[packed.size() / 2] ^= 0x55;
  EXPECT_THAT(ReadPackets(packed + PacketField("b")).error,
              HasSubstr("x.pftrace: at byte 0: in compressed"));
  const ReadPacked trace = Recover(packed + PacketField("b"));
  EXPECT_EQ(trace.error, "");
  EXPECT_THAT(trace.texts, ElementsAre("b"));
  ASSERT_EQ(trace.damage.size(), 1u);
  EXPECT_THAT(trace.damage[0].what, HasSubstr("in compressed packets: "));
}

TEST(PackedTrace, Nesting_IsNotFollowed) {
  const ReadPacked trace =
      Recover(InZstd(PacketField("a") + InZstd(PacketField("b"))) + PacketField("c"));
  EXPECT_THAT(trace.texts, ElementsAre("a", "c"));
  ASSERT_EQ(trace.damage.size(), 1u);
  EXPECT_THAT(trace.damage[0].what, HasSubstr("inside compressed packets"));
}

TEST(PackedTrace, Bomb_IsDefusedBeforeItTakesTheMemory) {
  // 300 MiB of zeros in about 10 KiB: more than packets may unpack to.
  std::string zeros = "\x0A\x80\x80\x80\x96\x01";
  zeros.resize(size_t{300} << 20);
  const std::string bomb = InZstd(zeros);
  zeros.clear();
  zeros.shrink_to_fit();
  const ReadPacked trace = Recover(bomb + PacketField("b"));
  EXPECT_THAT(trace.texts, ElementsAre("b"));
  ASSERT_EQ(trace.damage.size(), 1u);
  EXPECT_THAT(trace.damage[0].what, HasSubstr("more than 100 times their size"));
}

TEST(PackedTrace, DamageBetweenPackets_IsSkipped) {
  std::string trace = PacketField("a");
  const size_t damaged = trace.size();
  trace += PacketField("b") + PacketField("c") + PacketField("d");
  trace[damaged] = '\x07';
  const ReadPacked read = Recover(trace);
  EXPECT_THAT(read.texts, ElementsAre("a", "c", "d"));
  ASSERT_EQ(read.damage.size(), 1u);
  EXPECT_EQ(read.damage[0].offset, damaged);
  EXPECT_EQ(read.damage[0].bytes, PacketField("b").size());
}

TEST(PackedTrace, WrongLength_CostsThePacketsItCovers) {
  std::string trace = PacketField("a");
  const size_t damaged = trace.size() + 1;
  trace += PacketField("b") + PacketField("c");
  trace[damaged] = '\x7F';  // beyond the end
  EXPECT_THAT(Recover(trace).texts, ElementsAre("a", "c"));
}

TEST(PackedTrace, CutOffCompressedFile_GivesWhatIsThere) {
  std::string text;
  for (int i = 0; i < 5000; ++i) text += PacketField(std::to_string(i * 7919));
  for (const std::string& file : {Gzipped(text), Zstd(text)}) {
    const ReadPacked read = Recover(file.substr(0, file.size() * 9 / 10));
    EXPECT_EQ(read.error, "");
    EXPECT_EQ(read.damage.size(), 1u);
    EXPECT_LT(read.texts.size(), 5000u);
  }
  EXPECT_GT(Recover(Gzipped(text).substr(0, 12'000)).texts.size(), 100u);
}

TEST(PackedTrace, EveryCutAndEveryChangedByte_IsSurvived) {
  const std::string whole =
      PacketField("a") + InDeflate(PacketField("b") + PacketField("c")) + PacketField("d");
  for (size_t i = 0; i < whole.size(); ++i) {
    EXPECT_EQ(Recover(whole.substr(0, i)).error, "") << i;
    std::string changed = whole;
    changed[i] = static_cast<char>(changed[i] ^ 0xFF);
    const ReadPacked read = Recover(changed);
    EXPECT_EQ(read.error, "") << i;
    EXPECT_GE(read.texts.size(), 1u) << i;
  }
}

TEST(InflateSource, EndsAndDamage) {
  const auto read = [](const std::string& bytes) -> Result<std::string> {
    const auto source = MakeInflateSource(MakeMemorySource(bytes));
    std::string text;
    std::vector<uint8_t> part(3);
    while (true) {
      RS_ASSIGN_OR_RETURN(const size_t got, source->Read(part));
      if (got == 0) return text;
      text += wire::AsText(Bytes(part).first(got));
    }
  };
  EXPECT_EQ(read(Gzipped("some text")).value(), "some text");
  EXPECT_EQ(read(Deflated("some text")).value(), "some text");
  EXPECT_EQ(read(Gzipped("")).value(), "");
  EXPECT_EQ(read("").value(), "");
  EXPECT_FALSE(read("nothing like it"));
  const std::string gzip = Gzipped("some text");
  for (size_t size = 1; size < gzip.size(); ++size) EXPECT_FALSE(read(gzip.substr(0, size)));
  std::string wrong_sum = gzip;
  wrong_sum[gzip.size() - 6] ^= 1;
  EXPECT_FALSE(read(wrong_sum));
}

}  // namespace
}  // namespace ringscope::testing
