#include <gtest/gtest.h>

#include <vector>

#include "core/ledger/written_packets.h"

namespace ringscope::ledger {
namespace {

/// Chains of one fragment each, each held by one chunk record.
std::vector<ChainId> MakeFragments(Chains& chains, size_t count) {
  std::vector<ChainId> fragments;
  for (size_t i = 0; i < count; ++i) {
    fragments.push_back(chains.New());
    Chain& chain = chains[fragments.back()];
    chain.fragments = chain.refs = 1;
    chain.back_closed = true;
  }
  return fragments;
}

// A packet whose fragments come last first: each merge puts another signpost before the others.
TEST(Chains, Find_LeadsToTheWholePacketFromEachFragment) {
  Chains chains;
  const std::vector<ChainId> fragments = MakeFragments(chains, 100);
  for (size_t i = fragments.size() - 1; i-- > 0;) chains.Merge(fragments[i], fragments[i + 1]);
  for (const ChainId fragment : fragments) EXPECT_EQ(chains.Find(fragment), fragments.front());
  EXPECT_EQ(chains[fragments.back()].fragments, 100u);
}

// Without shorter ways each would pass all that were merged before it, 2 million in all.
TEST(Chains, Find_PassesFewSignpostsInAll) {
  constexpr size_t kFragments = 2000;
  Chains chains;
  const std::vector<ChainId> fragments = MakeFragments(chains, kFragments);
  for (size_t i = fragments.size() - 1; i-- > 0;) {
    chains.Merge(fragments[i], fragments[i + 1]);
    ASSERT_EQ(chains.Find(fragments.back()), fragments[i]);
  }
  EXPECT_LE(chains.passed(), 4 * kFragments);
}

TEST(Chains, Release_FreesSignpostsInAnyOrder) {
  for (const size_t step : {1u, 7u, 33u, 99u}) {
    Chains chains;
    const std::vector<ChainId> fragments = MakeFragments(chains, 100);
    for (size_t i = fragments.size() - 1; i-- > 0;) {
      chains.Merge(fragments[i], fragments[i + 1]);
      if (i % 10 == 3) chains.Find(fragments[99]);
    }
    for (size_t i = 0; i < fragments.size(); ++i) {
      EXPECT_EQ(chains.Find(fragments[i * step % 100]), fragments.front());
      chains.Release(fragments[i * step % 100]);
    }
    EXPECT_EQ(chains.size(), 1u) << step;
    EXPECT_EQ(chains[fragments.front()].refs, 0u);
  }
}

}  // namespace
}  // namespace ringscope::ledger
