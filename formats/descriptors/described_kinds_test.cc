#include "formats/descriptors/described_kinds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/perfetto/fields.h"
#include "formats/descriptors/descriptors.h"

namespace ringscope {
namespace {

/// The bytes of a packet that is given as text.
std::string PacketOfText(std::string_view text) {
  return descriptors::Encode("TracePacket", text, "packet").value();
}

class DescribedKindsTest : public ::testing::Test {
 protected:
  /// The name of a packet's kind; the packet is in this chunk of a sequence.
  std::string Kind(std::string_view text, uint32_t chunk = 0, uint16_t writer = 1) {
    const std::string packet = PacketOfText(text);
    const ChunkName name{{ProducerId{1}, WriterId{writer}}, ChunkId{chunk}};
    return KindOfBytes(packet, name);
  }
  std::string KindOfBytes(const std::string& packet, ChunkName chunk = {}) {
    Bytes content;
    const PacketFacts facts = ReadPacketFacts(wire::AsBytes(packet), &content);
    return kinds_.NameOf(kinds_.Add(BufferId{0}, chunk, facts, content, wire::AsBytes(packet)));
  }

  DescribedKinds kinds_;
};

TEST_F(DescribedKindsTest, TrackEvents_HaveCategoryAndName) {
  EXPECT_EQ(Kind("track_event { categories: 'app' name: 'frame' }"), "app/frame");
  EXPECT_EQ(Kind("track_event { name: 'frame' }"), "frame");
  EXPECT_EQ(Kind("track_event { categories: 'app' type: TYPE_SLICE_END }"), "app/end of slice");
  EXPECT_EQ(Kind("track_event { type: TYPE_COUNTER counter_value: 3 }"), "counter");
  EXPECT_EQ(Kind("track_event { track_uuid: 3 }"), "");
  EXPECT_EQ(Kind("track_event { name: 'a\\033b' }"), "a\\x1bb");
  EXPECT_EQ(Kind("track_event { name: '" + std::string(1000, 'x') + "' }"),
            std::string(DescribedKinds::kLongestName, 'x'));
}

TEST_F(DescribedKindsTest, InternedNames_AreThoseOfTheSequenceSinceItsReset) {
  const std::string interned =
      "interned_data { event_categories { iid: 1 name: 'app' } event_names { iid: 7 name: 'a' } }";
  const std::string event = "track_event { category_iids: 1 name_iid: 7 }";
  EXPECT_EQ(Kind(event), "");
  EXPECT_EQ(Kind(event + interned), "app/a");
  EXPECT_EQ(Kind(event), "app/a");
  EXPECT_EQ(Kind(event + "interned_data { event_names { iid: 7 name: 'b' } }"), "app/a");
  EXPECT_EQ(Kind(event, 0, 2), "");  // another sequence
  EXPECT_EQ(Kind(event, 1), "app/a");
  EXPECT_EQ(Kind(event + "sequence_flags: 1", 1), "");
  EXPECT_EQ(Kind("interned_data { event_names { iid: 7 name: 'b' } }", 1), "");
  EXPECT_EQ(Kind(event, 1), "b");
  // The chunk that is missing could have reset the state.
  EXPECT_EQ(Kind(event, 3), "");
}

TEST_F(DescribedKindsTest, Ftrace_IsNamedAfterMostOfItsEvents) {
  const std::string switches = "event { timestamp: 1 pid: 2 sched_switch {} }";
  EXPECT_EQ(Kind("ftrace_events { cpu: 1 " + switches + "}"), "sched_switch");
  EXPECT_EQ(Kind("ftrace_events { event { print {} }" + switches + switches + "}"),
            "sched_switch and others");
  EXPECT_EQ(Kind("ftrace_events { compact_sched { switch_timestamp: 1 } }"), "compact_sched");
  EXPECT_EQ(Kind("ftrace_events { cpu: 1 }"), "");
}

TEST_F(DescribedKindsTest, MalformedPackets_HaveNone) {
  for (const std::string packet :
       {"\x5a\x7f", "\x5a\x02\x18", "\x0a\x02\x12\x7f", "\x62\x02\x0a\x09"})
    EXPECT_EQ(KindOfBytes(packet), "");
}

// The first fragment of a packet is enough if it has the names.
TEST_F(DescribedKindsTest, CutPackets_HaveOneIfItIsKnown) {
  const auto cut = [&](std::string_view text, size_t bytes) {
    const std::string packet = PacketOfText(text);
    return KindOfBytes(packet.substr(0, packet.size() - bytes));
  };
  const std::string event = "track_event { categories: 'app' name: 'frame' flow_ids: 7 }";
  EXPECT_EQ(cut(event, 4), "app/frame");
  EXPECT_EQ(cut(event, 13), "");
  const std::string sched = "event { timestamp: 1 pid: 2 sched_switch {} }";
  EXPECT_EQ(cut("ftrace_events { " + sched + sched + "}", 3), "sched_switch");
}

// The core has the names of packets' contents, as it has no descriptors.
TEST(ContentNames, AreThoseOfTheDescriptors) {
  size_t named = 0;
  for (uint32_t field = 1; field < 1000; ++field) {
    const std::string name = descriptors::FieldName("TracePacket", field);
    std::string packet;
    wire::AppendUint(packet, field, 1);
    if (name.empty() || ReadPacketFacts(wire::AsBytes(packet)).content == 0) continue;
    EXPECT_EQ(ContentName(field), name);
    ++named;
  }
  EXPECT_GT(named, 80u);
  EXPECT_EQ(ContentName(999), "field 999");
}

}  // namespace
}  // namespace ringscope
