#include <gtest/gtest.h>

#include <string>

#include "core/base/wire.h"
#include "core/perfetto/fields.h"
#include "core/perfetto/packet_facts.h"
#include "core/trace/trace_scan.h"

namespace ringscope {
namespace {

using proto::TracePacket;

/// Letters for packets: c config, u uuid, k clock snapshot, e service event, s statistics, i system
/// info, p a producer's, k of a producer: K.
class SplitLetters : public SessionPackets {
 public:
  SplitLetters& Packets(std::string_view letters) {
    for (const char letter : letters) Add(letter);
    return *this;
  }
  std::string End() {
    EXPECT_TRUE(split_.Finish());
    return text_;
  }
  Status OnPacket(const RawPacket& packet, const TracePacketView&) override {
    text_ += wire::AsText(packet.bytes);
    return {};
  }
  Status OnNextSession(uint64_t) override {
    text_ += '|';
    return {};
  }
  SessionSplit split_{*this};

 private:
  void Add(char letter) {
    constexpr uint32_t kSystemInfo = 45;
    TracePacketView view;
    view.has_sequence_id = true;
    view.sequence_id = letter == 'p' || letter == 'K' ? 7 : kServiceSequenceId;
    view.content = letter == 'c'                    ? TracePacket::kTraceConfig
                   : letter == 'u'                  ? TracePacket::kTraceUuid
                   : letter == 'k' || letter == 'K' ? TracePacket::kClockSnapshot
                   : letter == 'e'                  ? TracePacket::kServiceEvent
                   : letter == 's'                  ? TracePacket::kTraceStats
                   : letter == 'i'                  ? kSystemInfo
                                                    : TracePacket::kTrackEvent;
    const std::string bytes(1, letter);
    EXPECT_TRUE(split_.Add({.bytes = wire::AsBytes(bytes)}, view));
  }
  std::string text_;
};

std::string Split(std::string_view letters) { return SplitLetters().Packets(letters).End(); }

TEST(SessionSplit, ASessionBeginsWithTheSnapshotsBeforeItsConfig) {
  EXPECT_EQ(Split("kcuippses"
                  "kkcuips"),
            "kcuippses|kkcuips");
}

TEST(SessionSplit, OneSessionStaysWhole) {
  EXPECT_EQ(Split("kcuipkpeksppkks"), "kcuipkpeksppkks");
  EXPECT_EQ(Split("ppkppk"), "ppkppk");
  EXPECT_EQ(Split("kcukipKpKs"), "kcukipKpKs");
}

TEST(SessionSplit, AnOpeningThatIsRepeatedAtOnceIsOne) { EXPECT_EQ(Split("kcckcuip"), "kcckcuip"); }

TEST(SessionSplit, SessionsWithoutAConfigHaveAUuid) {
  EXPECT_EQ(Split("kuipskuips"), "kuips|kuips");
  EXPECT_EQ(Split("kuipskcuip"), "kuips|kcuip");
}

TEST(SessionSplit, PacketsBeforeTheOpeningAreOfTheFirstSession) {
  EXPECT_EQ(Split("pkcpuip"), "pkcpuip");
}

TEST(SessionSplit, AfterAStopNothingBegins) {
  SplitLetters letters;
  letters.Packets("kcuip");
  letters.split_.Stop();
  EXPECT_EQ(letters.Packets("kcuip").End(), "kcuipkcuip");
  EXPECT_TRUE(letters.split_.has_missed());
}

}  // namespace
}  // namespace ringscope
