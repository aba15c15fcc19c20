#include "core/payload/payload_remover.h"

#include <gtest/gtest.h>

#include <string>

#include "core/base/wire.h"
#include "core/perfetto/commit_fragments.h"
#include "core/perfetto/fields.h"

namespace ringscope {
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

/// What is left of a request.
std::string WithoutPayload(PayloadRemover& remover, const std::string& request) {
  const Op& op =
      remover.Apply({5, Commit{.producer = ProducerId{1}, .request = wire::AsBytes(request)}});
  return std::string(wire::AsText(std::get<Commit>(op.body).request));
}
std::string WithoutPayload(const std::string& request) {
  PayloadRemover remover;
  return WithoutPayload(remover, request);
}

std::string SecretEvent() {
  std::string packet;
  wire::AppendUint(packet, TracePacket::kTimestamp, 1234);
  wire::AppendBytes(packet, TracePacket::kTrackEvent, wire::AsBytes(kSecret));
  return packet;
}

std::string PayloadIn(const std::string& request) {
  CommitRequestParser parser;
  EXPECT_TRUE(parser.Parse(wire::AsBytes(request)));
  EXPECT_EQ(parser.chunks().size(), 1u);
  return std::string(wire::AsText(parser.chunks().at(0).data->subspan(kChunkHeaderSize)));
}

TEST(PayloadRemover, Header_StatesIt) {
  PayloadRemover remover;
  const Op& op = remover.Apply({{}, LogHeader{.tool = "t", .uuid = "u"}});
  EXPECT_EQ(std::get<LogHeader>(op.body),
            (LogHeader{.format_version = 2, .tool = "t", .uuid = "u", .without_payload = true}));
}

TEST(PayloadRemover, OtherRecords_Stay) {
  PayloadRemover remover;
  EXPECT_EQ(std::get<Note>(remover.Apply({7, Note{"text"}}).body), Note{"text"});
  EXPECT_EQ(remover.Apply({7, Note{"text"}}).time_ns, 7u);
}

TEST(PayloadRemover, Chunk_KeepsItsShape) {
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

TEST(PayloadRemover, RecommittedChunk_IsMaskedAlike) {
  const std::string packet = SecretEvent();
  PayloadRemover remover;
  const auto chunk = [&](uint32_t id, uint8_t flags, const std::string& part, bool complete) {
    return PayloadIn(
        WithoutPayload(remover, RequestWith({ChunkId{id}, WriterId{2}, 1, flags}, part, complete)));
  };
  chunk(3, kLastContinues, AsFragment(packet.substr(0, 12)), true);
  const std::string scraped = chunk(4, kFirstContinues, AsFragment(packet.substr(12)), false);
  const std::string first = chunk(4, kFirstContinues, AsFragment(packet.substr(12)), true);
  const std::string again = chunk(4, kFirstContinues, AsFragment(packet.substr(12)), true);
  EXPECT_EQ(first, again);
  EXPECT_EQ(first.substr(1), std::string(packet.size() - 12, '\0'));
  // Of a fragment that may still grow only the size is there.
  EXPECT_EQ(scraped.substr(1), std::string(packet.size() - 12, '\0'));
}

TEST(PayloadRemover, PatchInTheRequestOfTheMessagesEnd) {
  std::string begin;
  wire::AppendTag(begin, TracePacket::kTrackEvent, wire::Type::kBytes);
  begin += "\0\0\0\0"s + kSecret;
  std::string flags;
  wire::AppendUint(flags, TracePacket::kSequenceFlags, 2);
  PayloadRemover remover;
  WithoutPayload(remover, RequestWith({ChunkId{3}, WriterId{2}, 1, kLastContinues | kNeedsPatching},
                                      AsFragment(begin)));
  std::string request =
      RequestWith({ChunkId{4}, WriterId{2}, 1, kFirstContinues}, AsFragment(kSecret + flags));
  std::string size;
  const size_t bytes = 2 * kSecret.size();
  for (int i = 0; i < 4; ++i)
    size.push_back(static_cast<char>((bytes >> (7 * i) & 0x7F) | (i < 3 ? 0x80 : 0)));
  CommitRequestBuilder(request).AddPatch(
      {.target_buffer = 1, .writer = 2, .chunk = 3, .patches = {{2, wire::AsBytes(size)}}});
  const std::string bare = WithoutPayload(remover, request);
  CommitRequestParser parser;
  ASSERT_TRUE(parser.Parse(wire::AsBytes(bare)));
  EXPECT_EQ(wire::AsText(parser.patches()[0].patches[0].data), size);
  EXPECT_EQ(PayloadIn(bare), AsFragment(std::string(kSecret.size(), '\0') + flags));
}

// As Perfetto's SDK has it: the chunk and the patch of its size are in one request, and the size's
// place has what was in the memory before.
TEST(PayloadRemover, PatchInTheRequestOfTheChunk) {
  std::string begin;
  wire::AppendBytes(begin, TracePacket::kTracePacketDefaults, {});
  wire::AppendTag(begin, TracePacket::kTrackEvent, wire::Type::kBytes);
  const auto place = static_cast<uint32_t>(1 + begin.size());
  std::string request = RequestWith({ChunkId{3}, WriterId{2}, 1, kLastContinues | kNeedsPatching},
                                    AsFragment(begin + "\x02old" + kSecret));
  CommitRequestBuilder(request).AddPatch({.target_buffer = 1,
                                          .writer = 2,
                                          .chunk = 3,
                                          .patches = {{place, wire::AsBytes("\xB0\x80\x80\0"s)}}});
  EXPECT_EQ(PayloadIn(WithoutPayload(request)),
            AsFragment(begin + std::string(4 + kSecret.size(), '\0')));
}

TEST(PayloadRemover, PatchesThatAreNoSize_AreZeros) {
  std::string request;
  CommitRequestBuilder(request).AddPatch(
      {.target_buffer = 1, .writer = 2, .chunk = 3, .patches = {{2, wire::AsBytes("word")}}});
  const std::string bare = WithoutPayload(request);
  CommitRequestParser parser;
  ASSERT_TRUE(parser.Parse(wire::AsBytes(bare)));
  EXPECT_EQ(wire::AsText(parser.patches()[0].patches[0].data), "\0\0\0\0"s);
  EXPECT_EQ(parser.patches()[0].patches[0].offset, 2u);
}

TEST(PayloadRemover, WhatNobodyReads_IsZeros) {
  std::string request = RequestWith({ChunkId{3}, WriterId{2}, 1, 0}, AsFragment(SecretEvent()));
  wire::AppendBytes(request, 77, wire::AsBytes(kSecret));
  EXPECT_EQ(WithoutPayload(request).find("secret"), std::string::npos);
  EXPECT_EQ(WithoutPayload(request + "\xff" + kSecret).find("secret"), std::string::npos);
  CommitRequestParser parser;
  EXPECT_FALSE(parser.Parse(wire::AsBytes(WithoutPayload(request + "\xff" + kSecret))));
  EXPECT_EQ(parser.chunks().size(), 1u);
}

TEST(PayloadRemover, ImpossibleSizes_EndTheChunkAsBefore) {
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
}  // namespace ringscope
