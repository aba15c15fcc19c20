#include "core/log/payload_mask.h"

#include <gtest/gtest.h>

#include <string>

#include "core/base/wire.h"
#include "core/perfetto/fields.h"
#include "core/perfetto/fragment.h"
#include "core/perfetto/packet_facts.h"
#include "core/testing/message_text.h"

namespace ringscope::testing {
namespace {

using namespace std::string_literals;
using proto::TracePacket;

const std::string kSecret = "a secret of some length";

std::string RequestWith(const ChunkHeader& header, std::string_view payload, bool complete = true) {
  std::string request;
  CommitRequestBuilder(request).AddChunk(BufferId{1}, header, wire::AsBytes(payload), complete);
  return request;
}

std::string AsFragment(std::string_view packet) {
  std::string bytes;
  wire::AppendVarint(bytes, packet.size());
  return bytes.append(packet);
}

/// The rest of a request.
std::string WithoutPayload(PayloadMask& mask, const std::string& request) {
  const Op& op =
      mask.Apply({5, Commit{.producer = ProducerId{1}, .request = wire::AsBytes(request)}});
  return std::string(wire::AsText(std::get<Commit>(op.body).request));
}
std::string WithoutPayload(const std::string& request) {
  PayloadMask mask;
  return WithoutPayload(mask, request);
}

std::string SecretEvent() {
  return Uint(TracePacket::kTimestamp, 1234) + Sub(TracePacket::kTrackEvent, kSecret);
}

std::string PayloadIn(const std::string& request) {
  CommitRequestParser parser;
  EXPECT_TRUE(parser.Parse(wire::AsBytes(request)));
  EXPECT_EQ(parser.chunks().size(), 1u);
  return std::string(wire::AsText(parser.chunks().at(0).data->subspan(kChunkHeaderSize)));
}

TEST(PayloadMask, Header_StatesIt) {
  PayloadMask mask;
  const Op& op = mask.Apply({{}, LogHeader{.tool = "t", .uuid = "u"}});
  EXPECT_EQ(std::get<LogHeader>(op.body),
            (LogHeader{.format_version = 2, .tool = "t", .uuid = "u", .without_payload = true}));
}

TEST(PayloadMask, OtherRecords_Stay) {
  PayloadMask mask;
  EXPECT_EQ(std::get<Note>(mask.Apply({7, Note{"text"}}).body), Note{"text"});
  EXPECT_EQ(mask.Apply({7, Note{"text"}}).time_ns, 7u);
}

TEST(PayloadMask, Chunk_KeepsItsShape) {
  const std::string request =
      RequestWith({ChunkId{3}, WriterId{2}, 2, 0},
                  AsFragment(SecretEvent()) + AsFragment(SecretEvent()) + kSecret);
  const std::string bare = WithoutPayload(request);
  EXPECT_EQ(bare.size(), request.size());
  EXPECT_EQ(bare.find("secret"), std::string::npos);
  std::string expected = SecretEvent();
  expected.replace(expected.size() - kSecret.size(), kSecret.size(),
                   std::string(kSecret.size(), '\0'));
  EXPECT_EQ(PayloadIn(bare),
            AsFragment(expected) + AsFragment(expected) + std::string(kSecret.size(), '\0'));
  EXPECT_EQ(WithoutPayload(bare), bare);
}

// place has what was in the memory before.
TEST(PayloadMask, Patches_BringTheFiller) {
  std::string request;
  CommitRequestBuilder(request).AddPatch(
      {.target_buffer = 1, .writer = 2, .chunk = 3, .patches = {{2, wire::AsBytes("word")}}});
  const std::string bare = WithoutPayload(request);
  CommitRequestParser parser;
  ASSERT_TRUE(parser.Parse(wire::AsBytes(bare)));
  EXPECT_EQ(wire::AsText(parser.patches()[0].patches[0].data), "pppp");
  EXPECT_EQ(parser.patches()[0].patches[0].offset, 2u);
}

// However a packet is divided, it is valid, and a patch anywhere but at its kept fields changes
// nothing.
TEST(PayloadMask, PacketInFragments_IsValidInAllSizes) {
  std::string packet = SecretEvent();
  const size_t kept = 3;  // the timestamp
  for (size_t a = 4; a < packet.size() - 2; ++a) {
    for (size_t b = a + 1; b < packet.size(); ++b) {
      const auto masked = [](uint32_t id, uint8_t flags, const std::string& part) {
        return PayloadIn(WithoutPayload(
                             RequestWith({ChunkId{id}, WriterId{2}, 1, flags}, AsFragment(part))))
            .substr(1);
      };
      const std::string first = masked(3, kLastContinues | kNeedsPatching, packet.substr(0, a));
      const std::string middle =
          masked(4, kFirstContinues | kLastContinues, packet.substr(a, b - a));
      const std::string last = masked(5, kFirstContinues, packet.substr(b));
      EXPECT_EQ(first.substr(0, kept), packet.substr(0, kept));
      const std::string all = first + middle + last;
      const Bytes slice = wire::AsBytes(all);
      EXPECT_TRUE(IsValidPacket({&slice, 1})) << a << " " << b;
      EXPECT_EQ(all.find("secret"), std::string::npos);
    }
  }
}

TEST(PayloadMask, PacketThatIsNotValid_StaysSo) {
  for (const std::string& packet :
       {"\x50\x07" + SecretEvent(), SecretEvent() + "\x5a\x7fsecret", "\x01"s}) {
    const std::string bare =
        PayloadIn(WithoutPayload(RequestWith({ChunkId{3}, WriterId{2}, 1, 0}, AsFragment(packet))));
    const Bytes slice = wire::AsBytes(bare).subspan(1);
    EXPECT_FALSE(IsValidPacket({&slice, 1}));
    EXPECT_EQ(bare.find("secret"), std::string::npos);
  }
}

TEST(PayloadMask, WhatNobodyReads_IsZeros) {
  std::string request = RequestWith({ChunkId{3}, WriterId{2}, 1, 0}, AsFragment(SecretEvent()));
  wire::AppendBytes(request, 77, wire::AsBytes(kSecret));
  EXPECT_EQ(WithoutPayload(request).find("secret"), std::string::npos);
  EXPECT_EQ(WithoutPayload(request + "\xff" + kSecret).find("secret"), std::string::npos);
  CommitRequestParser parser;
  EXPECT_FALSE(parser.Parse(wire::AsBytes(WithoutPayload(request + "\xff" + kSecret))));
  EXPECT_EQ(parser.chunks().size(), 1u);
}

TEST(PayloadMask, ImpossibleSizes_EndTheChunkAsBefore) {
  for (const std::string& end :
       {"\x7f" + kSecret, "\xff\xff\xff\x7f" + kSecret, "\xff\xff\xff\x41" + kSecret,
        "\x81\x81\x81\x81\x41" + kSecret, std::string(12, '\x91') + kSecret}) {
    const ChunkHeader header{ChunkId{3}, WriterId{2}, 3, 0};
    const std::string payload = AsFragment(SecretEvent()) + end;
    const std::string bare = PayloadIn(WithoutPayload(RequestWith(header, payload)));
    EXPECT_EQ(bare.size(), payload.size());
    EXPECT_EQ(bare.find("secret"), std::string::npos);
    const auto read = [](const std::string& bytes) {
      WrittenChunk written;
      ReadWrittenChunk({.sequence = {}, .fragments = 3, .payload = wire::AsBytes(bytes)}, written);
      return std::tuple(written.fragments.size(), written.end, written.broken_bytes);
    };
    EXPECT_EQ(read(bare), read(payload));
  }
}

}  // namespace
}  // namespace ringscope::testing
