#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/base/wire.h"
#include "core/perfetto/fields.h"
#include "core/perfetto/trusted_fields.h"
#include "core/trace/packet_view.h"

namespace ringscope {
namespace {

std::string Uint(uint32_t number, uint64_t value) {
  std::string field;
  wire::AppendUint(field, number, value);
  return field;
}
std::string Message(uint32_t number, const std::string& content) {
  std::string field;
  wire::AppendBytes(field, number, wire::AsBytes(content));
  return field;
}
std::string Trusted(uint32_t sequence = 5, uint32_t dropped = 0) {
  std::string fields;
  AppendTrustedFields(fields, {.uid = 1000, .pid = 20}, sequence, dropped, /*machine=*/3);
  return fields;
}
bool IsBrief(const std::string& packet) {
  BriefPacket brief;
  return ReadBriefPacket(wire::AsBytes(packet), brief);
}

const std::string kEvent = Message(proto::TracePacket::kTrackEvent, "");

TEST(BriefPacket, HasWhatThePacketHas) {
  const std::string content =
      Uint(8, 123456789) + Uint(58, 64) + Uint(13, 2) + Uint(41, 1) + kEvent;
  BriefPacket brief;
  const std::string packet = content + Trusted(5, 3);
  ASSERT_TRUE(ReadBriefPacket(wire::AsBytes(packet), brief));
  EXPECT_EQ(brief.content_size, content.size());
  EXPECT_EQ(brief.identity, (Identity{1000, 20}));
  const TracePacketView view = brief.View();
  EXPECT_EQ(view.sequence_id, 5u);
  EXPECT_EQ(view.machine, 3u);
  EXPECT_EQ(view.dropped, 3u);
  EXPECT_EQ(view.timestamp, 123456789u);
  EXPECT_EQ(view.timestamp_clock, 64u);
  EXPECT_TRUE(view.clears_state);
  EXPECT_TRUE(view.needs_state);
  EXPECT_EQ(view.content, proto::TracePacket::kTrackEvent);
}

TEST(BriefPacket, WithLittle_IsOneToo) {
  for (const std::string& content :
       {kEvent, Message(12, "abc") + kEvent, Uint(87, 1) + kEvent,
        Message(proto::TracePacket::kForTesting, "x"), Message(11, Uint(9, 1) + "\xFF")})
    EXPECT_TRUE(IsBrief(content + Trusted())) << content;
}

TEST(BriefPacket, OtherPackets_AreNone) {
  const std::vector<std::string> packets = {
      "",
      kEvent,                                        // without a sequence
      Trusted(),                                     // without content
      kEvent + Trusted(1),                           // the service's
      kEvent + Trusted() + Uint(8, 1),               // with something after the service's fields
      kEvent + Trusted(5, 1) + Uint(42, 1),          // twice
      Uint(8, 1) + Uint(8, 2) + kEvent + Trusted(),  // twice
      kEvent + kEvent + Trusted(),                   // twice
      Uint(42, 1) + kEvent + Trusted(),              // loss bits of its producer
      Uint(10, 7) + kEvent + Trusted(),              // a sequence id of its producer
      kEvent + Uint(3, 1000) + Uint(79, 20) + Uint(10, 5),  // in another order
      Message(59, "") + kEvent + Trusted(),                 // with defaults
      Message(11, Uint(1, 5)) + Trusted(),                  // at a time after another one
      Message(11, Uint(16, 5)) + Trusted(),                 // at another time
      Message(1, "") + Trusted(),                           // a bundle
      Message(6, "") + Trusted(),                           // clocks
      Message(8, "") + kEvent + Trusted(),                  // a timestamp that is none
      Uint(11, 1) + Trusted(),                              // an event that is none
      (kEvent + Trusted()).substr(0, 6),
      kEvent + Trusted() + "\x80"};
  for (size_t i = 0; i < packets.size(); ++i) EXPECT_FALSE(IsBrief(packets[i])) << i;
}

}  // namespace
}  // namespace ringscope
