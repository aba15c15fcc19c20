#include "formats/ops/events_jsonl.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/wire.h"
#include "formats/testing/parsed_json.h"
#include "formats/testing/string_sink.h"
#include "formats/testing/testdata.h"

namespace ringscope {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

/// Takes `space` bytes, then fails.
class FullSink : public ByteSink {
 public:
  explicit FullSink(size_t space) : space_(space) {}
  using ByteSink::Write;
  Status Write(Bytes bytes) override {
    ++writes;
    if (bytes.size() > space_) return Fail(ErrorCode::kIo, "no space left");
    space_ -= bytes.size();
    return {};
  }
  int writes = 0;

 private:
  size_t space_;
};

struct MadePacket {
  explicit MadePacket(std::vector<std::string> parts) : texts(std::move(parts)) {
    for (const std::string& text : texts) {
      slices.push_back(wire::AsBytes(text));
      packet.size += text.size();
    }
    packet.slices = slices;
  }
  std::vector<std::string> texts;
  std::vector<Bytes> slices;
  Packet packet;
};

TEST(Events_Hash, IsFnv1a) {
  EXPECT_EQ(Fnv1a64({}), 0xcbf29ce484222325u);
  const MadePacket a({"a"});
  EXPECT_EQ(Fnv1a64(a.slices), 0xaf63dc4c8601ec8cu);
  const MadePacket whole({"foobar"});
  const MadePacket split({"foo", "", "bar"});
  EXPECT_EQ(Fnv1a64(whole.slices), 0x85944171f73967e8u);
  EXPECT_EQ(Fnv1a64(split.slices), Fnv1a64(whole.slices));
}

TEST(Events_Lines, SayWhatHappened) {
  StringSink sink;
  EventsWriter events(sink);
  events.OnPatch(BufferId{1}, true);
  events.OnPatch(BufferId{1}, false);
  MadePacket a({"a"});
  a.packet.sequence = {ProducerId{1}, WriterId{2}};
  a.packet.identity = {.uid = 4294967295, .pid = -1};
  a.packet.dropped = 65;
  a.packet.place = {.first_chunk = ChunkId{7}, .first_offset = 12};
  const SessionPacket packet{.buffer = BufferId{3}, .packet = &a.packet};
  EXPECT_TRUE(events.OnPacket(packet));
  events.OnReadDone(BufferId{3}, 1);
  events.OnClonePacket(packet);
  EXPECT_TRUE(events.Finish());
  EXPECT_EQ(sink.text,
            R"({"event":"patch","ok":true})"
            "\n"
            R"({"event":"patch","ok":false})"
            "\n"
            R"({"event":"packet","buffer":3,"producer":1,"writer":2,"uid":4294967295,"pid":-1,)"
            R"("dropped":65,"size":1,"fnv1a64":"af63dc4c8601ec8c","chunk":7,"offset":12})"
            "\n"
            R"({"event":"read_done","buffer":3,"packets":1})"
            "\n"
            R"({"event":"clone_packet","buffer":3,"producer":1,"writer":2,"uid":4294967295,)"
            R"("pid":-1,"dropped":65,"size":1,"fnv1a64":"af63dc4c8601ec8c","chunk":7,"offset":12})"
            "\n");
}

TEST(Events_Lines, StatsAreThoseOfTheConformanceAnswers) {
  // The answer is turned into stats and must come out again, byte for byte.
  const std::string answers =
      testing::ReadTestdata("conformance/expected/v2@58/edge-clones.jsonl.zst");
  size_t clones = 0;
  for (const std::string_view answer : testing::Lines(answers)) {
    const auto event = testing::ParsedJson(answer);
    if (event["event"] != "clone_done") continue;
    ++clones;
    BufferStats stats;
    for (const StatField& field : kStatFields)
      stats.*field.value = event["stats"][field.name].get<uint64_t>();
    EXPECT_EQ(event["stats"].size(), kStatFields.size());
    StringSink sink;
    EventsWriter events(sink);
    events.OnCloneDone(BufferId{event["buffer"].get<uint16_t>()}, event["packets"].get<uint64_t>(),
                       stats);
    EXPECT_TRUE(events.Finish());
    EXPECT_EQ(sink.text, std::string(answer) + "\n");
  }
  EXPECT_GT(clones, 0u);
}

TEST(Events_Lines, SessionEndsWithStatsByBufferId) {
  ReplayListener nothing;
  Session session({}, nothing);
  for (const auto id : {BufferId{7}, BufferId{2}})
    ASSERT_TRUE(session.Apply(Op{{}, BufferSetUp{id, {}, 4096, {}, "v2@58"}}));
  StringSink sink;
  EventsWriter events(sink);
  EXPECT_TRUE(events.OnLogEnd(session));
  EXPECT_TRUE(events.Finish());
  const auto lines = testing::Lines(sink.text);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_THAT(std::string(lines[0]),
              StartsWith(R"({"event":"stats","buffer":2,"stats":{"buffer_size":4096,)"));
  EXPECT_THAT(std::string(lines[1]),
              StartsWith(R"({"event":"stats","buffer":7,"stats":{"buffer_size":4096,)"));
}

TEST(Events_Writing, IsBufferedAndKeepsTheFirstError) {
  FullSink sink(100'000);
  EventsWriter events(sink);
  for (int i = 0; i < 1000; ++i) events.OnPatch(BufferId{}, true);
  EXPECT_EQ(sink.writes, 0);
  const MadePacket a({"a"});
  const SessionPacket packet{.buffer = {}, .packet = &a.packet};
  Status status;
  for (int i = 0; i < 5000 && status; ++i) status = events.OnPacket(packet);
  ASSERT_FALSE(status);
  const int writes = sink.writes;
  const Status finish = events.Finish();
  ASSERT_FALSE(finish);
  EXPECT_THAT(finish.error().ToString(), HasSubstr("no space left"));
  EXPECT_EQ(sink.writes, writes) << "nothing more is written after an error";
}

}  // namespace
}  // namespace ringscope
