#include "core/payload/packet_mask.h"

#include <gtest/gtest.h>

#include <string>

#include "core/base/wire.h"
#include "core/perfetto/fields.h"
#include "core/perfetto/packet_facts.h"
#include "core/perfetto/packet_validator.h"

namespace ringscope {
namespace {

using namespace std::string_literals;
using proto::TracePacket;

std::span<uint8_t> Writable(std::string& text) {
  return {reinterpret_cast<uint8_t*>(text.data()), text.size()};
}

std::string MaskOf(std::string packet) {
  PacketMask mask;
  mask.Take(Writable(packet), {}, {});
  return packet;
}

bool PassesValidation(const std::string& packet) {
  const Bytes bytes = wire::AsBytes(packet);
  return IsValidPacket({&bytes, 1});
}

/// A packet of each kind of field, with a secret in it wherever there can be one.
std::string SecretPacket() {
  std::string event, defaults, packet;
  wire::AppendBytes(event, 23, wire::AsBytes("a secret name"));
  wire::AppendUint(defaults, proto::TracePacketDefaults::kTimestampClockId, 64);
  wire::AppendBytes(defaults, 11, wire::AsBytes("secret default"));
  wire::AppendUint(packet, TracePacket::kTimestamp, 123456789012345);
  wire::AppendUint(packet, TracePacket::kSequenceFlags, 3);
  wire::AppendBytes(packet, TracePacket::kTrackEvent, wire::AsBytes(event));
  wire::AppendUint(packet, 500, 0x5EC2E75EC2E7);
  wire::AppendBytes(packet, TracePacket::kTracePacketDefaults, wire::AsBytes(defaults));
  wire::AppendTag(packet, 501, wire::Type::kFixed64);
  packet += "SECRET64";
  wire::AppendTag(packet, 502, wire::Type::kFixed32);
  packet += "SECR";
  wire::AppendUint(packet, TracePacket::kPreviousPacketDropped, 257);
  return packet;
}

TEST(PacketMask, FactsStay_SecretsDoNot) {
  const std::string packet = SecretPacket(), masked = MaskOf(packet);
  EXPECT_EQ(masked.size(), packet.size());
  EXPECT_EQ(ReadPacketFacts(wire::AsBytes(masked)), ReadPacketFacts(wire::AsBytes(packet)));
  EXPECT_EQ(ReadPacketFacts(wire::AsBytes(masked)).default_clock, 64u);
  EXPECT_EQ(ReadPacketFacts(wire::AsBytes(masked)).content, uint32_t{TracePacket::kTrackEvent});
  EXPECT_TRUE(PassesValidation(masked));
  EXPECT_EQ(masked.find("secret"), std::string::npos);
  EXPECT_EQ(masked.find("SECR"), std::string::npos);
  std::string varint;
  wire::AppendVarint(varint, 0x5EC2E75EC2E7);
  EXPECT_NE(packet.find(varint), std::string::npos);
  EXPECT_EQ(masked.find(varint), std::string::npos);
  EXPECT_EQ(MaskOf(masked), masked);
}

TEST(PacketMask, InFragments_IsAsInOne) {
  const std::string packet = SecretPacket(), masked = MaskOf(packet);
  for (size_t cut = 0; cut <= packet.size(); ++cut) {
    std::string first = packet.substr(0, cut), rest = packet.substr(cut);
    PacketMask mask;
    mask.Take(Writable(first), {ChunkId{1}, 5}, {});
    mask.Take(Writable(rest), {ChunkId{2}, 1}, {});
    EXPECT_EQ(first + rest, masked) << cut;
  }
}

TEST(PacketMask, SizeByPatch_FieldsAfterTheMessageStay) {
  std::string begin;
  wire::AppendUint(begin, TracePacket::kTimestamp, 7);
  wire::AppendTag(begin, TracePacket::kTrackEvent, wire::Type::kBytes);
  const auto size_at = static_cast<uint32_t>(begin.size());
  begin += "\0\0\0\0"s + "secret";
  std::string end = "secret";
  wire::AppendUint(end, TracePacket::kSequenceFlags, 2);
  const std::string flags = end.substr(6);

  PacketMask mask;
  mask.Take(Writable(begin), {ChunkId{8}, 2}, {.any = true});
  mask.SetSize({ChunkId{8}, 2 + size_at + 1}, 100);  // another place
  mask.SetSize({ChunkId{8}, 2 + size_at}, 12);
  mask.Take(Writable(end), {ChunkId{9}, 1}, {});
  EXPECT_EQ(begin.find("secret"), std::string::npos);
  EXPECT_EQ(end, std::string(6, '\0') + flags);
}

TEST(PacketMask, SizeByPatch_OthersAreSecretUntilItComes) {
  std::string begin;
  wire::AppendTag(begin, TracePacket::kTrackEvent, wire::Type::kBytes);
  begin += "\0\0\0\0"s;
  std::string middle = "\x40\x07secret";  // looks like a timestamp
  PacketMask mask;
  mask.Take(Writable(begin), {ChunkId{8}, 2}, {.any = true});
  mask.Take(Writable(middle), {ChunkId{9}, 1}, {.any = true});
  EXPECT_EQ(middle, std::string(8, '\0'));
}

// Writers do not clear the place of a size that a patch will bring.
TEST(PacketMask, SizeByPatch_WhatIsThereUntilThenIsChance) {
  std::string begin;
  wire::AppendBytes(begin, TracePacket::kInternedData, wire::AsBytes("secret"));
  wire::AppendTag(begin, TracePacket::kTrackEvent, wire::Type::kBytes);
  const auto size_at = static_cast<uint32_t>(begin.size());
  const std::string shape = begin.substr(0, 2) + std::string(6, '\0') + begin.substr(8);
  for (const std::string& chance : {"\x02old"s, "\xfb\x80\x80\x80"s, "cret"s, "\0\0\0\0"s}) {
    std::string known = begin + chance + "\x40\x07secret";  // as if a timestamp followed
    std::string end = "secret\x68\x02";
    const std::vector<uint32_t> offsets = {2 + size_at};
    PacketMask mask;
    mask.Take(Writable(known), {ChunkId{8}, 2}, {.any = true, .known = offsets, .all_known = true});
    EXPECT_EQ(known, shape + std::string(12, '\0'));
    mask.SetSize({ChunkId{8}, 2 + size_at}, 14);
    mask.Take(Writable(end), {ChunkId{9}, 1}, {});
    EXPECT_EQ(end, std::string(6, '\0') + "\x68\x02");
  }
}

// If others may be missing, what is there can be chance: from the first message on.
TEST(PacketMask, SizeByPatch_NotAllPlacesAreKnown) {
  std::string begin = "\x40\x07\x62\x06secret\x5a\x02old\x40\x07secret";
  PacketMask mask;
  const auto assumed = mask.Take(Writable(begin), {ChunkId{8}, 2}, {.any = true});
  EXPECT_EQ(begin, "\x40\x07\x62" + std::string(20, '\0'));
  EXPECT_EQ(assumed, (PacketMask::Place{ChunkId{8}, 5}));
  mask.SetSize({ChunkId{8}, 5}, 22);
  std::string end = "secret\x68\x02";
  EXPECT_EQ(mask.Take(Writable(end), {ChunkId{9}, 1}, {}), std::nullopt);
  EXPECT_EQ(end, std::string(6, '\0') + "\x68\x02");
}

// The packet ends, and where the message in it does is not known.
TEST(PacketMask, ForgetUnfinished_AllOfTheRestIsSecret) {
  std::string begin = "\x40\x07\x0a"s + "\0\0\0\0"s + "\x08\x03";  // ftrace_events: cpu 3
  const std::string before = begin;
  PacketMask mask;
  mask.Take(Writable(begin), {ChunkId{8}, 2}, {.any = true});
  EXPECT_EQ(begin, before);
  mask.ForgetUnfinished();
  std::string end = "\x08\x05\x18\x01";
  mask.Take(Writable(end), {ChunkId{9}, 1}, {});
  EXPECT_EQ(end, std::string(4, '\0'));
}

// What is read of such a packet is the same with and without payload.
TEST(PacketMask, SizeByPatch_FactsAreThoseOfTheMaskedPacket) {
  std::string begin = "\x40\x07\x68\x02\x5a\x02old\x40\x05\x62\x01x\xd0\x02\x01";
  const auto facts = [&] {
    return ReadPacketFacts(wire::AsBytes(begin), nullptr, SizesAre::kMissing);
  };
  const PacketFacts full = facts();
  EXPECT_EQ(full.content, uint32_t{TracePacket::kTrackEvent});
  EXPECT_EQ(full.timestamp, 7u);
  EXPECT_TRUE(full.needs_state);
  EXPECT_FALSE(full.has_interned_data);
  EXPECT_EQ(full.dropped, 0u);
  PacketMask mask;
  mask.Take(Writable(begin), {ChunkId{8}, 2}, {.any = true});
  EXPECT_EQ(facts(), full);
}

TEST(PacketMask, Malformed_StaysSo) {
  for (std::string packet : {"\x5a\x7f secret"s, "\x0b secret"s, "\x40"s, "\x40\xff\xff"s,
                             "\x08"s + std::string(12, '\xff'), std::string(12, '\xff')}) {
    EXPECT_FALSE(PassesValidation(packet));
    EXPECT_FALSE(PassesValidation(MaskOf(packet)));
    EXPECT_EQ(MaskOf(packet).find("secret"), std::string::npos);
  }
}

}  // namespace
}  // namespace ringscope
