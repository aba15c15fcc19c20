#include "core/ledger/written_packets.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace ringscope::ledger {
namespace {

class NoLosses : public WriterLosses {
 public:
  void LoseChain(ChainId, const Decision&) override {}
  void AddLost(PacketAccount&, const Decision&) override {}
};

// A chunk of 20,000 fragments, each of which is patched.
TEST(WrittenPackets, CheckPatches_DoesNotLookAtAllFragmentsForEachPatch) {
  constexpr size_t kFragments = 20'000;
  const std::string fragment = "\x02hh";
  const auto* const data = reinterpret_cast<const uint8_t*>("hh\x02h");
  std::string payload;
  ChunkRecord record;
  std::vector<Patch> patches;
  for (size_t i = 0; i < kFragments; ++i) {
    const auto offset = static_cast<uint32_t>(payload.size());
    record.entries.push_back({.offset = offset, .size = 2});
    payload += fragment;
    patches.push_back({.offset = offset + 1, .data = data});
  }
  const LogMoment now;
  NoLosses losses;
  WrittenPackets packets(BufferId{1}, now, losses);
  packets.CheckPatches(record, wire::AsBytes(payload),
                       {.sequence = {}, .chunk = {}, .patches = patches});
  EXPECT_FALSE(record.violation) << "the sizes are as before";
  // Two searches by halves, and the fragments of 14 bytes.
  EXPECT_LE(packets.compared(), 40 * kFragments);
}

}  // namespace
}  // namespace ringscope::ledger
