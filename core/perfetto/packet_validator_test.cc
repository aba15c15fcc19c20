#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/base/wire.h"
#include "core/perfetto/packet_facts.h"
#include "core/testing/message_text.h"

namespace ringscope::testing {
namespace {

bool IsValid(const std::string& packet, uint32_t release = kNewestRelease) {
  const Bytes whole = wire::AsBytes(packet);
  const bool valid = IsValidPacket({&whole, 1}, release);
  // However the packet is cut into slices, the answer is the same.
  for (size_t cut = 0; cut <= whole.size(); ++cut) {
    const std::vector<Bytes> slices = {whole.first(cut), {}, whole.subspan(cut)};
    EXPECT_EQ(IsValidPacket(slices, release), valid) << "cut at " << cut;
  }
  return valid;
}

TEST(PacketValidator, AcceptsOrdinaryFields) {
  EXPECT_TRUE(IsValid(""));
  EXPECT_TRUE(IsValid(Uint(8, 5) + Uint(58, 5)));
  std::string packet = Uint(8, 5) + Sub(11, "track event");
  wire::AppendTag(packet, 4, wire::Type::kFixed64);
  packet += "12345678";
  wire::AppendTag(packet, 5, wire::Type::kFixed32);
  packet += "1234";
  EXPECT_TRUE(IsValid(packet));
  EXPECT_FALSE(IsValid(packet.substr(0, packet.size() - 1)));
}

TEST(PacketValidator, RefusesWhatTheServiceWrites) {
  for (const uint32_t field : {3u, 10u, 33u, 35u, 36u, 50u, 69u, 79u, 98u, 124u, 125u, 133u})
    EXPECT_FALSE(IsValid(Uint(8, 5) + Uint(field, 5))) << field;
  EXPECT_TRUE(IsValid(Uint(42, 5))) << "producers may set previous_packet_dropped";
}

TEST(PacketValidator, RefusesMalformedFields) {
  EXPECT_FALSE(IsValid("\x08"));  // no value
  EXPECT_FALSE(
      IsValid("\x5A\x05"
              "ab"));                              // too short
  EXPECT_FALSE(IsValid("\x0B"));                   // a group
  EXPECT_FALSE(IsValid(std::string(11, '\x80')));  // a tag without end
}

// As the service reads them: numbers that protobuf does not allow are like any others.
TEST(PacketValidator, FieldNumbers_AreCutTo32Bits) {
  EXPECT_TRUE(IsValid(std::string("\x00\x01", 2))) << "field 0";
  EXPECT_TRUE(IsValid(Uint(uint32_t{1} << 29, 5)));
  std::string packet;
  wire::AppendVarint(packet, ((uint64_t{1} << 32) + 10) << 3);
  packet += '\x05';
  EXPECT_FALSE(IsValid(packet)) << "2^32 + 10 is read as 10, trusted_packet_sequence_id";
}

TEST(PacketValidator, ReservedFields_DependOnTheRelease) {
  struct Case {
    uint32_t field, since;
  };
  for (const Case c : {Case{69, 55}, Case{124, 56}, Case{125, 56}, Case{133, 58}}) {
    EXPECT_TRUE(IsValid(Uint(c.field, 5), c.since - 1)) << c.field;
    EXPECT_FALSE(IsValid(Uint(c.field, 5), c.since)) << c.field;
  }
  EXPECT_FALSE(IsValid(Uint(98, 5), 54));
}

}  // namespace
}  // namespace ringscope::testing
