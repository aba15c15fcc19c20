#include "formats/trace/perfetto_trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "core/base/wire.h"
#include "core/session/replay_outcome.h"
#include "formats/testing/frames.h"
#include "formats/testing/string_sink.h"
#include "formats/testing/testdata.h"
#include "formats/testing/trace_packet.h"

namespace ringscope {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

/// A packet as a reader returned it, with its own copy of the bytes.
struct ReadPacket {
  std::string content;
  testing::TracePacket packet;
};

struct ReadTrace {
  std::vector<ReadPacket> packets;
  std::string error;  // empty: clean end
};

ReadTrace ReadAll(std::string bytes) {
  ReadTrace trace;
  auto reader = TraceReader::Open(MakeMemorySource(std::move(bytes), "x.pftrace"));
  if (!reader) return {{}, reader.error().ToString()};
  while (true) {
    const auto packet = testing::NextPacket(**reader);
    if (!packet) {
      trace.error = packet.error().ToString();
      EXPECT_FALSE(testing::NextPacket(**reader)) << "an error ends the stream";
      return trace;
    }
    if (!*packet) return trace;
    trace.packets.push_back({std::string(wire::AsText((*packet)->content)), **packet});
  }
}

std::string Compress(const std::string& text) {
  return testing::DataFrame(text, /*checksum=*/false);
}

/// A session packet with content of its own, in one slice or two.
struct TestPacket {
  TestPacket(std::string_view first, std::string_view second, Identity identity, uint32_t dropped)
      : slices{wire::AsBytes(first), wire::AsBytes(second)} {
    packet.identity = identity;
    packet.dropped = dropped;
    packet.slices = slices;
    packet.size = first.size() + second.size();
  }
  SessionPacket As(uint32_t sequence_id, bool valid = true) const {
    return {.buffer = {}, .packet = &packet, .sequence_id = sequence_id, .valid = valid};
  }
  std::vector<Bytes> slices;
  Packet packet;
};

std::string WriteSample() {
  StringSink sink;
  TraceWriter writer(sink);
  EXPECT_TRUE(writer.AddServicePacket(proto::TracePacket::kClockSnapshot,
                                      wire::AsBytes(std::string_view("\x10\x06"))));
  EXPECT_TRUE(writer.AddServicePacket(proto::TracePacket::kTraceConfig,
                                      wire::AsBytes(std::string_view("\x18\x01"))));
  const TestPacket split("\x40", "\x7F", {.uid = 1000, .pid = 42}, 65);
  EXPECT_TRUE(writer.OnPacket(split.As(2)));
  const TestPacket unknown_pid("\x40\x01", "", {.uid = UINT32_MAX, .pid = -1}, 0);
  EXPECT_TRUE(writer.OnPacket(unknown_pid.As(3)));
  EXPECT_TRUE(writer.OnPacket(unknown_pid.As(0, false)));
  const TestPacket own_loss("\xD0\x02\x81\x02", "", {.uid = 0, .pid = 0}, 0);  // field 42
  EXPECT_TRUE(writer.OnPacket(own_loss.As(4)));
  EXPECT_TRUE(writer.Finish());
  return sink.text;
}

TEST(Trace_Writer, AppendsTheTrustedFields) {
  StringSink sink;
  TraceWriter writer(sink);
  const TestPacket packet("\x40", "\x7F", {.uid = 1000, .pid = 42}, 65);
  ASSERT_TRUE(writer.OnPacket(packet.As(2)));
  EXPECT_EQ(sink.text, "") << "written at Finish";
  ASSERT_TRUE(writer.Finish());
  EXPECT_EQ(sink.text,
            "\x0A\x0D\x40\x7F"
            "\x18\xE8\x07"    // trusted_uid 1000
            "\x50\x02"        // trusted_packet_sequence_id 2
            "\xF8\x04\x2A"    // trusted_pid 42
            "\xD0\x02\x41");  // previous_packet_dropped 65
}

TEST(Trace_Writer, SizeOfTrustedFieldsIsKnownBeforehand) {
  for (const uint32_t value : {0u, 1u, 127u, 128u, 65535u, 0x7FFFFFFFu, 0xFFFFFFFFu}) {
    const Identity identity{.uid = value, .pid = static_cast<int32_t>(value)};
    std::string fields;
    AppendTrustedFields(fields, identity, value, value);
    EXPECT_EQ(fields.size(), TrustedFieldsSize(identity, value, value)) << value;
  }
}

TEST(Trace_RoundTrip, ReaderGivesBackWhatWasWritten) {
  const std::string bytes = WriteSample();
  for (const std::string& file : {bytes, Compress(bytes)}) {
    const ReadTrace trace = ReadAll(file);
    EXPECT_EQ(trace.error, "");
    ASSERT_EQ(trace.packets.size(), 5u);
    const auto& p = trace.packets;
    EXPECT_EQ(p[0].content, "\x32\x02\x10\x06");
    EXPECT_EQ(p[0].packet.view.sequence_id, kServiceSequenceId);
    EXPECT_EQ(p[0].packet.view.uid, 0);
    EXPECT_EQ(p[0].packet.view.pid, std::nullopt);
    EXPECT_EQ(p[0].packet.offset, 0u);
    EXPECT_EQ(p[1].content, "\x8A\x02\x02\x18\x01");
    EXPECT_EQ(p[1].packet.offset, 10u);
    EXPECT_EQ(p[2].content, "\x40\x7F");
    EXPECT_EQ(p[2].packet.view.sequence_id, 2u);
    EXPECT_EQ(p[2].packet.view.uid, 1000);
    EXPECT_EQ(p[2].packet.view.pid, 42);
    EXPECT_EQ(p[2].packet.dropped, 65u);
    EXPECT_EQ(p[3].content, "\x40\x01");
    EXPECT_EQ(p[3].packet.view.uid, -1);
    EXPECT_EQ(p[3].packet.view.pid, std::nullopt);
    EXPECT_EQ(p[3].packet.dropped, 0u);
    EXPECT_EQ(p[4].content, "\xD0\x02\x81\x02");
    EXPECT_EQ(p[4].packet.view.pid, 0);
    EXPECT_EQ(p[4].packet.dropped, 0u) << "the producer's own field is content";
  }
}

TEST(Trace_Split, OnlyTheServicesFieldsAtTheEnd) {
  struct Case {
    std::string_view bytes;
    size_t content;
    uint32_t dropped;
  };
  const Case cases[] = {
      {std::string_view("\x18\x00\x50\x02", 4), 0, 0},                      // nothing else
      {std::string_view("\x18\x00\x50\x02\x90\x06\x05", 7), 0, 0},          // machine_id
      {std::string_view("\x18\x00\x50\x02\x40\x01", 6), 6, 0},              // something follows
      {std::string_view("\x18\x00\xD0\x02\x03", 5), 5, 3},                  // no sequence id
      {std::string_view("\xD0\x02\x03\x18\x00\x50\x02", 7), 3, 0},          // a producer's own loss
      {std::string_view("\x18\x00\x50\x02\xD0\x02\x03\x50\x02", 9), 9, 3},  // out of order
      {std::string_view("\x18\x00\x50\x02\xF8\x04", 6), 6, 0},              // malformed
      {std::string_view("\x18\x00\x18\x00\x50\x02", 6), 2, 0},              // uid twice: the last
      {std::string_view(), 0, 0},
  };
  for (const Case& c : cases) {
    const testing::TracePacket packet({.bytes = wire::AsBytes(c.bytes)});
    EXPECT_EQ(packet.bytes.size(), c.bytes.size());
    EXPECT_EQ(packet.content.size(), c.content) << &c - cases;
    EXPECT_EQ(packet.dropped, c.dropped) << &c - cases;
  }
}

TEST(Trace_Reader, TornFilesAreErrorsWithTheirOffset) {
  const std::string bytes = WriteSample();
  std::vector<size_t> borders = {0};
  for (const ReadPacket& p : ReadAll(bytes).packets)
    if (p.packet.offset > 0) borders.push_back(p.packet.offset);
  for (size_t size = 0; size < bytes.size(); ++size) {
    const ReadTrace trace = ReadAll(bytes.substr(0, size));
    if (std::ranges::find(borders, size) != borders.end()) {
      EXPECT_EQ(trace.error, "") << size;
      continue;
    }
    const size_t border = *(std::ranges::upper_bound(borders, size) - 1);
    EXPECT_THAT(trace.error, HasSubstr("x.pftrace: at byte " + std::to_string(border) + ":"));
  }
  const std::string compressed = Compress(bytes);
  EXPECT_NE(ReadAll(compressed.substr(0, compressed.size() - 3)).error, "");
}

TEST(Trace_Reader, HostileBytesAreErrors) {
  EXPECT_THAT(ReadAll("\x0B").error, HasSubstr("expected a protobuf field"));          // a group
  EXPECT_THAT(ReadAll(std::string(1, '\0')).error, HasSubstr("expected a protobuf"));  // field 0
  EXPECT_THAT(ReadAll(std::string(11, '\xFF')).error, HasSubstr("expected a protobuf"));
  EXPECT_THAT(ReadAll("\x0A").error, HasSubstr("expected a length"));
  EXPECT_THAT(ReadAll("\x10\x80").error, HasSubstr("expected a number"));
  EXPECT_THAT(ReadAll("\x0A\xFF\xFF\xFF\xFF\x0F").error,
              AllOf(HasSubstr("the file ends within a field of 4294967301 bytes, 6 are there"),
                    HasSubstr("at byte 0")));
  // Claims 512 MiB, has three bytes: must not take the memory first.
  EXPECT_THAT(ReadAll("\x0A\x80\x80\x80\x80\x02xyz").error,
              HasSubstr("ends within a field of 536870918 bytes, 9 are there"));
  EXPECT_THAT(ReadAll("{\"op\":\"read\"}").error, HasSubstr("not a Perfetto trace"));
}

TEST(Trace_Reader, SkipsFieldsThatAreNoPackets) {
  const ReadTrace trace =
      ReadAll(std::string("\x10\x05"                              // varint
                          "\x19\x01\x02\x03\x04\x05\x06\x07\x08"  // fixed64
                          "\x25\x01\x02\x03\x04"                  // fixed32
                          "\x12\x01x"                             // other bytes
                          "\x08\x01"                              // no packet: a number
                          "\x0A\x00"                              // an empty packet
                          "\x0A\x01\xFF",                         // a malformed one
                          26));
  EXPECT_EQ(trace.error, "");
  ASSERT_EQ(trace.packets.size(), 2u);
  EXPECT_EQ(trace.packets[0].content, "");
  EXPECT_EQ(trace.packets[0].packet.offset, 21u);
  EXPECT_EQ(trace.packets[1].content, "\xFF");
}

TEST(Trace_Reader, EmptyFileHasNoPackets) {
  const ReadTrace trace = ReadAll("");
  EXPECT_EQ(trace.error, "");
  EXPECT_TRUE(trace.packets.empty());
}

class TraceOfCapture : public ::testing::TestWithParam<const char*> {};

// The fields that the service appended are the canonical ones, so they can be made again.
TEST_P(TraceOfCapture, IsSplitIntoContentAndTrustedFields) {
  const auto path = testing::TestdataPath("captures") / GetParam() / "trace.pftrace.zst";
  const auto reader = TraceReader::Open(OpenByteSource(path).value()).value();
  size_t split = 0;
  while (const auto packet = testing::NextPacket(*reader).value()) {
    if (packet->view.sequence_id == kServiceSequenceId) continue;
    std::string fields;
    AppendTrustedFields(fields,
                        {.uid = static_cast<uint32_t>(packet->view.uid.value_or(0)),
                         .pid = packet->view.pid.value_or(-1)},
                        packet->view.sequence_id, packet->dropped);
    ASSERT_EQ(wire::AsText(packet->bytes), std::string(wire::AsText(packet->content)) + fields);
    ++split;
  }
  EXPECT_GT(split, 1000u);
}

INSTANTIATE_TEST_SUITE_P(Captures, TraceOfCapture, testing::AllCaptures(),
                         testing::NameOfParam<const char*>);

}  // namespace
}  // namespace ringscope
