#include "formats/trace/track_events.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/base/wire.h"
#include "core/perfetto/fields.h"

namespace ringscope {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// "begin 5 lost", "end 9", "instant 7 wrap", "counter 3 = 12"
std::vector<std::string> EventsIn(const EncodedTracks& tracks) {
  constexpr const char* kTypes[] = {"", "begin", "end", "instant", "counter"};
  std::vector<std::string> events;
  wire::ForEachMessage(wire::AsBytes(tracks.packets), proto::Trace::kPacket, [&](Bytes packet) {
    const auto event = wire::LastBytes(packet, proto::TracePacket::kTrackEvent);
    if (!event) return;
    const uint64_t time = wire::LastVarint(packet, proto::TracePacket::kTimestamp).value_or(0);
    std::string text = kTypes[wire::LastVarint(*event, proto::TrackEvent::kType).value_or(0)] +
                       std::string(" ") + std::to_string(time);
    if (const auto name = wire::LastBytes(*event, proto::TrackEvent::kName))
      text += " " + std::string(wire::AsText(*name));
    if (const auto value = wire::LastVarint(*event, proto::TrackEvent::kCounterValue))
      text += " = " + std::to_string(*value);
    events.push_back(text);
  });
  return events;
}

TEST(TrackEvents, EmptyTracksAreLeftOut) {
  EventTrack root;
  root.Add("a").Add("b");
  EXPECT_THAT(EncodeTracks(root, {}).packets, IsEmpty());
}

TEST(TrackEvents, SlicesOfATrackDoNotOverlap) {
  EventTrack root;
  EventTrack& track = root.Add("lost");
  track.AddSlice({.from_ns = 5, .to_ns = 9, .name = "one", .args = {}});
  track.AddSlice({.from_ns = 7, .to_ns = 12, .name = "two", .args = {}});
  track.AddInstant(12, "three");
  EXPECT_THAT(EventsIn(EncodeTracks(root, {})),
              ElementsAre("begin 5 one", "end 9", "begin 9 two", "end 12", "instant 12 three"));
}

// Events cannot be added before those that the sorter of trace processor has given out.
TEST(TrackEvents, WhatIsTooOldIsCutOff) {
  EventTrack root;
  EventTrack& track = root.Add("lost");
  track.AddSlice({.from_ns = 1, .to_ns = 4, .name = "old", .args = {}});
  track.AddSlice({.from_ns = 5, .to_ns = 9, .name = "reaches", .args = {}});
  track.AddSlice({.from_ns = 9, .to_ns = 12, .name = "new", .args = {}});
  const EncodedTracks tracks = EncodeTracks(root, {.after_ns = 7});
  EXPECT_THAT(EventsIn(tracks), ElementsAre("begin 7 reaches", "end 9", "begin 9 new", "end 12"));
  EXPECT_EQ(tracks.left_out, 1u);
}

TEST(TrackEvents, JoinedSlicesSumUp) {
  TrackSlice one{.from_ns = 1,
                 .to_ns = 2,
                 .name = "lost: 3 packets, overwritten by x",
                 .args = {{"packets", uint64_t{3}}, {"by", "x"}, {"bits", "unknown"}}};
  one.Join({.from_ns = 5,
            .to_ns = 6,
            .name = "lost: 4 packets, overwritten by x",
            .args = {{"packets", uint64_t{4}}, {"by", "x"}, {"bits", uint64_t{1}}}});
  EXPECT_EQ(one.name, "lost");
  EXPECT_EQ(one.to_ns, 6);
  EXPECT_EQ(one.joined, 2u);
  ASSERT_EQ(one.args.size(), 2u);
  EXPECT_EQ(std::get<uint64_t>(one.args[0].value), 7u);
  EXPECT_EQ(std::get<std::string>(one.args[1].value), "x");
}

TEST(TrackEvents, TakeNoMoreThanTheirBytes) {
  EventTrack root;
  EventTrack& fill = root.Add("fill", EventTrack::Unit::kBytes);
  EventTrack& lost = root.Add("lost");
  for (int64_t i = 0; i < 100'000; ++i) {
    fill.AddSample(i * 1000, static_cast<uint64_t>(i % 1000));
    lost.AddSlice({.from_ns = i * 10,
                   .to_ns = i * 10 + 5,
                   .name = "lost: packets",
                   .args = {{"packets", uint64_t{1}}}});
  }
  for (const size_t most : {size_t{1} << 20, size_t{10'000}, size_t{1000}}) {
    const EncodedTracks tracks = EncodeTracks(root, {.most_bytes = most});
    EXPECT_LE(tracks.packets.size(), most);
    EXPECT_GT(tracks.slices, 0u);
    // The counter shows values from all of the time.
    const std::vector<std::string> events = EventsIn(tracks);
    EXPECT_THAT(events, ::testing::Contains(::testing::StartsWith("counter 9")));
    // However many are joined, no packet is forgotten.
    uint64_t packets = 0;
    wire::ForEachMessage(wire::AsBytes(tracks.packets), proto::Trace::kPacket, [&](Bytes packet) {
      const auto event = wire::LastBytes(packet, proto::TracePacket::kTrackEvent);
      if (!event || !wire::LastBytes(*event, proto::TrackEvent::kName)) return;
      wire::ForEachMessage(*event, proto::TrackEvent::kDebugAnnotations, [&](Bytes arg) {
        if (wire::AsText(*wire::LastBytes(arg, proto::DebugAnnotation::kName)) == "packets")
          packets += *wire::LastVarint(arg, proto::DebugAnnotation::kUintValue);
      });
    });
    EXPECT_EQ(packets, 100'000u);
  }
}

TEST(TrackEvents, FlowsJoinTwoSlices) {
  EventTrack root;
  EventTrack& track = root.Add("stale");
  track.AddSlice({.from_ns = 1, .to_ns = 1, .name = "event", .args = {}, .flow = 1});
  track.AddSlice(
      {.from_ns = 9, .to_ns = 9, .name = "commit", .args = {}, .flow = 1, .ends_flow = true});
  std::vector<uint64_t> begun, ended;
  wire::ForEachMessage(
      wire::AsBytes(EncodeTracks(root, {}).packets), proto::Trace::kPacket, [&](Bytes packet) {
        const auto event = wire::LastBytes(packet, proto::TracePacket::kTrackEvent);
        if (!event) return;
        wire::FieldReader fields(*event);
        while (const auto field = fields.Next()) {
          if (field->number == proto::TrackEvent::kFlowIds) begun.push_back(field->value);
          if (field->number == proto::TrackEvent::kTerminatingFlowIds)
            ended.push_back(field->value);
        }
      });
  ASSERT_EQ(begun.size(), 1u);
  EXPECT_EQ(begun, ended);
}

}  // namespace
}  // namespace ringscope
