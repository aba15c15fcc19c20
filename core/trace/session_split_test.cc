#include "core/trace/session_split.h"

#include <gtest/gtest.h>

#include <string>

namespace ringscope {
namespace {

using proto::TracePacket;

/// Letters for packets: c config, u uuid, k clock snapshot, e service event, s statistics, i system
/// info, p a producer's, k of a producer: K.
class SplitLetters {
 public:
  SplitLetters& Packets(std::string_view letters) {
    for (const char letter : letters) Add(letter);
    return *this;
  }
  std::string End() {
    EXPECT_TRUE(split_.Finish([this](uint64_t, Bytes bytes) { return Take(bytes); }));
    return text_;
  }
  SessionSplit split_;

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
    const auto kept = split_.Add(
        0, wire::AsBytes(bytes), view, [this](uint64_t, Bytes b) { return Take(b); },
        [this](uint64_t) {
          text_ += '|';
          return Status();
        });
    ASSERT_TRUE(kept);
    if (!*kept) text_ += letter;
  }
  Status Take(Bytes bytes) {
    text_ += wire::AsText(bytes);
    return {};
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
