#include <gtest/gtest.h>

#include "commands/record/service_watch.h"
#include "core/perfetto/fields.h"

namespace ringscope {
namespace {

/// A packet of a sequence, with some content.
std::string PacketOf(uint64_t sequence, size_t bytes) {
  std::string packet;
  wire::AppendBytes(packet, 900, wire::AsBytes(std::string(bytes, 'x')));
  wire::AppendUint(packet, 10, sequence);
  return packet;
}
std::string Slice(const std::string& data, bool is_last) {
  std::string slice;
  wire::AppendBytes(slice, 1, wire::AsBytes(data));
  if (is_last) wire::AppendUint(slice, 2, 1);
  std::string reply;
  wire::AppendBytes(reply, 2, wire::AsBytes(slice));
  return reply;
}

TEST(PassReader, CountsTheServicesPacketsBeforeTheOthers) {
  PassReader reader;
  const std::string own = PacketOf(1, 100), other = PacketOf(2, 50);
  const std::string reply =
      Slice(own, true) + Slice(own, true) + Slice(other, true) + Slice(own, true);
  EXPECT_EQ(reader.Add(wire::AsBytes(reply)), 2 * own.size());
  const std::string next = Slice(other, true) + Slice(own, true);
  EXPECT_EQ(reader.Add(wire::AsBytes(next)), 0u);
  EXPECT_EQ(reader.Add({}), 0u);
}

TEST(PassReader, PassOfSeveralReplies_IsOne) {
  PassReader reader;
  const std::string own = PacketOf(1, 100), other = PacketOf(2, 500);
  const std::string first = Slice(own.substr(0, 30), false) + Slice(own.substr(30), true) +
                            Slice(other.substr(0, 200), false);
  EXPECT_EQ(reader.Add(wire::AsBytes(first)), std::nullopt);
  EXPECT_EQ(reader.Add(wire::AsBytes(Slice(other.substr(200, 200), false))), std::nullopt);
  EXPECT_EQ(reader.Add(wire::AsBytes(Slice(other.substr(400), true))), own.size());
}

// A replay counts the states of programs, and the listing that is written with them, by itself.
TEST(OwnPackets, StatesOfPrograms_CountForNothing) {
  const auto with = [](uint32_t field) {
    std::string packet;
    wire::AppendBytes(packet, field, wire::AsBytes(std::string(20, 'x')));
    return packet + PacketOf(1, 10);
  };
  const std::string plain = PacketOf(1, 100);
  OwnPackets own;
  EXPECT_TRUE(own.Add(wire::AsBytes(plain)));
  EXPECT_TRUE(own.Add(wire::AsBytes(with(proto::TracePacket::kTraceProvenance))));
  EXPECT_GT(own.bytes(), plain.size());
  EXPECT_TRUE(own.Add(wire::AsBytes(with(proto::TracePacket::kProtovms))));
  EXPECT_EQ(own.bytes(), plain.size());
  EXPECT_FALSE(own.Add(wire::AsBytes(PacketOf(2, 10))));
}

}  // namespace
}  // namespace ringscope
