#include "core/ledger/kept_facts.h"

#include <gtest/gtest.h>

namespace ringscope::ledger {
namespace {

TEST(KeptFactsTest, UsualFactsStayAsTheyAre) {
  for (const PacketFacts& facts :
       {PacketFacts(), PacketFacts{.content = 11, .timestamp = UINT64_MAX, .needs_state = true},
        PacketFacts{.content = 12, .clears_state = true, .has_interned_data = true},
        PacketFacts{.content = 900, .timestamp = 0}}) {
    const KeptFacts kept(facts);
    ASSERT_TRUE(kept.known());
    EXPECT_EQ(kept.facts(), facts);
  }
}

TEST(KeptFactsTest, RareFactsHaveToBeReadAgain) {
  EXPECT_FALSE(KeptFacts().known());
  for (const PacketFacts& facts :
       {PacketFacts{.timestamp_clock = 6}, PacketFacts{.default_clock = 3},
        PacketFacts{.dropped = 1}, PacketFacts{.content = 1u << 27}})
    EXPECT_FALSE(KeptFacts(facts).known());
}

}  // namespace
}  // namespace ringscope::ledger
