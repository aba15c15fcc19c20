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

std::string Request(const ChunkHeader& header, std::string_view payload, bool complete = true) {
  std::string request;
  CommitRequestBuilder(request).AddChunk(BufferId{1}, header, wire::AsBytes(payload), complete);
  return request;
}

std::string Fragment(std::string_view packet) {
  std::string fragment;
  wire::AppendVarint(fragment, packet.size());
  return fragment.append(packet);
}

/// What is left of a request.
std::string Bare(PayloadRemover& remover, const std::string& request) {
  const Op& op =
      remover.Apply({5, Commit{.producer = ProducerId{1}, .request = wire::AsBytes(request)}});
  return std::string(wire::AsText(std::get<Commit>(op.body).request));
}
std::string Bare(const std::string& request) {
  PayloadRemover remover;
  return Bare(remover, request);
}

std::string EventPacket() {
  std::string packet;
  wire::AppendUint(packet, TracePacket::kTimestamp, 1234);
  wire::AppendBytes(packet, TracePacket::kTrackEvent, wire::AsBytes(kSecret));
  return packet;
}

std::string PayloadOf(const std::string& request) {
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
  const std::string request = Request({ChunkId{3}, WriterId{2}, 2, 0},
                                      Fragment(EventPacket()) + Fragment(EventPacket()) + kSecret);
  const std::string bare = Bare(request);
  EXPECT_EQ(bare.size(), request.size());
  EXPECT_EQ(bare.find("secret"), std::string::npos);
  std::string expected = EventPacket();
  expected.replace(expected.size() - kSecret.size(), kSecret.size(),
                   std::string(kSecret.size(), '\0'));
  EXPECT_EQ(PayloadOf(bare),
            Fragment(expected) + Fragment(expected) + std::string(kSecret.size(), '\0'));
  EXPECT_EQ(Bare(bare), bare);
}

TEST(PayloadRemover, RecommittedChunk_IsMaskedAlike) {
  const std::string packet = EventPacket();
  PayloadRemover remover;
  const auto chunk = [&](uint32_t id, uint8_t flags, const std::string& part, bool complete) {
    return PayloadOf(Bare(remover, Request({ChunkId{id}, WriterId{2}, 1, flags}, part, complete)));
  };
  chunk(3, kLastContinues, Fragment(packet.substr(0, 12)), true);
  const std::string scraped = chunk(4, kFirstContinues, Fragment(packet.substr(12)), false);
  const std::string first = chunk(4, kFirstContinues, Fragment(packet.substr(12)), true);
  const std::string again = chunk(4, kFirstContinues, Fragment(packet.substr(12)), true);
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
  Bare(remover,
       Request({ChunkId{3}, WriterId{2}, 1, kLastContinues | kNeedsPatching}, Fragment(begin)));
  std::string request =
      Request({ChunkId{4}, WriterId{2}, 1, kFirstContinues}, Fragment(kSecret + flags));
  std::string size;
  const size_t bytes = 2 * kSecret.size();
  for (int i = 0; i < 4; ++i)
    size.push_back(static_cast<char>((bytes >> (7 * i) & 0x7F) | (i < 3 ? 0x80 : 0)));
  CommitRequestBuilder(request).AddPatch(
      {.target_buffer = 1, .writer = 2, .chunk = 3, .patches = {{2, wire::AsBytes(size)}}});
  const std::string bare = Bare(remover, request);
  CommitRequestParser parser;
  ASSERT_TRUE(parser.Parse(wire::AsBytes(bare)));
  EXPECT_EQ(wire::AsText(parser.patches()[0].patches[0].data), size);
  EXPECT_EQ(PayloadOf(bare), Fragment(std::string(kSecret.size(), '\0') + flags));
}

TEST(PayloadRemover, PatchesThatAreNoSize_AreZeros) {
  std::string request;
  CommitRequestBuilder(request).AddPatch(
      {.target_buffer = 1, .writer = 2, .chunk = 3, .patches = {{2, wire::AsBytes("word")}}});
  const std::string bare = Bare(request);
  CommitRequestParser parser;
  ASSERT_TRUE(parser.Parse(wire::AsBytes(bare)));
  EXPECT_EQ(wire::AsText(parser.patches()[0].patches[0].data), "\0\0\0\0"s);
  EXPECT_EQ(parser.patches()[0].patches[0].offset, 2u);
}

TEST(PayloadRemover, WhatNobodyReads_IsZeros) {
  std::string request = Request({ChunkId{3}, WriterId{2}, 1, 0}, Fragment(EventPacket()));
  wire::AppendBytes(request, 77, wire::AsBytes(kSecret));
  EXPECT_EQ(Bare(request).find("secret"), std::string::npos);
  EXPECT_EQ(Bare(request + "\xff" + kSecret).find("secret"), std::string::npos);
  CommitRequestParser parser;
  EXPECT_FALSE(parser.Parse(wire::AsBytes(Bare(request + "\xff" + kSecret))));
  EXPECT_EQ(parser.chunks().size(), 1u);
}

TEST(PayloadRemover, ImpossibleSizes_EndTheChunkAsBefore) {
  for (const std::string& end :
       {"\x7f" + kSecret, "\xff\xff\xff\x7f" + kSecret, "\xff\xff\xff\x41" + kSecret,
        "\x81\x81\x81\x81\x41" + kSecret, std::string(12, '\x91') + kSecret}) {
    const ChunkHeader header{ChunkId{3}, WriterId{2}, 3, 0};
    const std::string payload = Fragment(EventPacket()) + end;
    const std::string bare = PayloadOf(Bare(Request(header, payload)));
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
