#include "core/ledger/ledger_chains.h"

#include <gtest/gtest.h>

#include <vector>

namespace ringscope::ledger {
namespace {

/// Chains of one piece each, each piece held by one chunk record.
std::vector<ChainId> MakePieces(Chains& chains, size_t count) {
  std::vector<ChainId> pieces;
  for (size_t i = 0; i < count; ++i) {
    pieces.push_back(chains.New());
    Chain& chain = chains[pieces.back()];
    chain.fragments = chain.refs = 1;
    chain.back_closed = true;
  }
  return pieces;
}

// A packet whose pieces come last first: each merge puts another signpost before the others.
TEST(Chains, Find_LeadsToTheWholePacketFromEachPiece) {
  Chains chains;
  const std::vector<ChainId> pieces = MakePieces(chains, 100);
  for (size_t i = pieces.size() - 1; i-- > 0;) chains.Merge(pieces[i], pieces[i + 1]);
  for (const ChainId piece : pieces) EXPECT_EQ(chains.Find(piece), pieces.front());
  EXPECT_EQ(chains[pieces.back()].fragments, 100u);
}

TEST(Chains, Release_FreesSignpostsInAnyOrder) {
  for (const size_t step : {1u, 7u, 33u, 99u}) {
    Chains chains;
    const std::vector<ChainId> pieces = MakePieces(chains, 100);
    for (size_t i = pieces.size() - 1; i-- > 0;) {
      chains.Merge(pieces[i], pieces[i + 1]);
      if (i % 10 == 3) chains.Find(pieces[99]);
    }
    for (size_t i = 0; i < pieces.size(); ++i) {
      EXPECT_EQ(chains.Find(pieces[i * step % 100]), pieces.front());
      chains.Release(pieces[i * step % 100]);
    }
    EXPECT_EQ(chains.size(), 1u) << step;
    EXPECT_EQ(chains[pieces.front()].refs, 0u);
  }
}

}  // namespace
}  // namespace ringscope::ledger
