#include "formats/testing/hostile_traces.h"

#include "core/base/wire.h"
#include "core/testing/message_text.h"
#include "formats/testing/frames.h"

namespace ringscope::testing {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;
constexpr uint32_t kMany = 400'000;

std::string Varint(uint64_t value) {
  std::string out;
  wire::AppendVarint(out, value);
  return out;
}
std::string Event() { return Sub(11, ""); }
std::string PacketOf(const std::string& fields) { return Sub(1, fields); }
std::string Good() { return PacketOf(Event() + Uint(3, 0) + Uint(10, 2)); }
std::string Between(const std::string& packets) { return Good() + packets + Good(); }
std::string LargePacket() { return PacketOf(Sub(900, std::string(256 * kMiB, '\0'))); }
/// In a packet, compressed.
std::string Packed(const std::string& packets) { return PacketOf(Sub(133, DataFrame(packets))); }
template <typename Fields>
std::string Many(const Fields& fields) {
  std::string packets;
  for (uint32_t i = 0; i < kMany; ++i) packets += PacketOf(fields(i));
  return Between(packets);
}
/// Some packets, as large as they are read, whose content repeats a field; compressed.
std::string Full(uint32_t content, const std::string& field, std::string first = {}) {
  constexpr size_t kSize = 15 * kMiB;
  first.reserve(kSize);
  while (first.size() + field.size() < kSize) first += field;
  const std::string packet = PacketOf(Sub(content, first) + Uint(8, 5) + Uint(10, 1));
  return Between(Packed(packet + packet));
}

}  // namespace

std::vector<HostileTraces::Case> HostileTraces::All() {
  return {
      {"LargePacket", [] { return Between(LargePacket()); }},
      {"LargePacketInAFrame", [] { return DataFrame(Between(LargePacket())); }},
      {"LargePacketInAPacket", [] { return Between(Packed(LargePacket())); }},
      {"PacketsInPacketsInPackets", [] { return Between(Packed(Packed(Good()))); }},
      {"Zeros",
       [] {
         const std::string frame = DataFrame(std::string(kMiB << 6, '\0'));
         std::string file = DataFrame(Good());
         for (int i = 0; i < 32; ++i) file += frame;
         return file;
       }},
      {"SizeOf2To63", [] { return Between("\x0A" + Varint(uint64_t{1} << 63)); }},
      {"SizeOf2To64", [] { return Between("\x0A" + Varint(UINT64_MAX)); }},
      {"SizeOf2To63InAPacket",
       [] { return Between(Packed(Good() + "\x0A" + Varint(uint64_t{1} << 63))); }},
      {"Sequences",
       [] { return Many([](uint32_t i) { return Event() + Uint(10, i + 2) + Uint(42, 3); }); }},
      {"Contents", [] { return Many([](uint32_t i) { return Sub(200 + i, "") + Uint(10, 2); }); }},
      {"ContentsOfSequences",
       [] {
         return Many([](uint32_t i) { return Sub(200 + i % 70, "") + Uint(10, 2 + i / 70); });
       }},
      {"Clocks",
       [] {
         return Many(
             [](uint32_t i) { return Event() + Uint(8, 1) + Uint(58, 1000 + i) + Uint(10, 2); });
       }},
      {"Snapshots",
       [] {
         return Many([](uint32_t i) {
           return Sub(6, Sub(1, Uint(1, 1000 + i) + Uint(2, 5))) + Uint(10, 1);
         });
       }},
      {"Machines",
       [] {
         return Many(
             [](uint32_t i) { return Event() + Uint(8, 5) + Uint(98, i + 1) + Uint(10, 2); });
       }},
      {"Sessions",
       [] {
         return Many([](uint32_t i) {
           if (i % 2 == 1) return Event() + Uint(10, 2);
           return Sub(33, Uint(9, i) + Sub(100, std::string(500, 'x'))) + Uint(10, 1);
         });
       }},
      {"BuffersOfStatistics", [] { return Full(35, Sub(1, "")); }},
      {"BuffersOfAConfig", [] { return Full(33, Sub(1, "")); }},
      {"ClocksOfASnapshot", [] { return Full(6, Sub(1, Uint(1, 7) + Uint(2, 5))); }},
      {"EventsOfABundle", [] { return Full(1, Sub(2, Uint(1, 5)), Uint(1, 0)); }},
      {"Atoms", [] { return Full(84, Sub(1, "")); }},
      {"Programs", [] { return Full(125, Sub(1, Sub(1, "") + Uint(3, 1 << 20) + Uint(4, 1))); }},
      {"ListedSequences", [] { return Full(124, Sub(2, Sub(1, Uint(1, 2) + Uint(2, 1)))); }},
      {"SlowSources", [] { return Full(69, Sub(7, Sub(1, Sub(1, std::string(1000, 'x'))))); }},
  };
}

}  // namespace ringscope::testing
