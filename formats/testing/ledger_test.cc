// The ledger over everything that testdata holds: each packet has one fate, the fates add up, and
// what was read is what was returned.

#include "core/ledger/ledger.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include "core/engine/catalogue.h"
#include "core/session/replay.h"
#include "core/testing/fate_log.h"
#include "core/testing/quiet_engine.h"
#include "core/testing/silent_engine.h"
#include "formats/inputs/open_log.h"
#include "formats/io/log_source.h"
#include "formats/testing/testdata.h"

namespace ringscope {
namespace {

/// Counts what the session returns, beside the ledger.
class CountingSink : public ReplayListener {
 public:
  Status OnPacket(const SessionPacket&) override {
    ++packets;
    return {};
  }
  uint64_t packets = 0;
};

struct Outcome {
  std::map<BufferId, LedgerTotals> totals;
  std::map<Fate, uint64_t> fates;
  std::map<Cause, uint64_t> causes;
  uint64_t packets = 0;
  std::string problems;
  decltype(testing::FateLog::accounts) accounts;
};

Result<const EngineInfo*> FindReticentEngine(std::string_view name) {
  static const EngineInfo silent = testing::SilentEngine::Info();
  static const EngineInfo quiet = testing::QuietEngineInfo();
  if (name == silent.name) return &silent;
  if (name == quiet.name) return &quiet;
  return FindEngine(name);
}

Outcome Account(const std::string& path, const std::string& engine, bool plain,
                testing::FateLog&& fates = {}) {
  Ledger ledger(fates);
  CountingSink counter;
  ReplayOptions options;
  options.session.all.engine = engine;
  options.session.find_engine = FindReticentEngine;
  options.plain_streams_as_recorded = plain;
  Replay replay(options, {&counter, &ledger});
  auto log = OpenLog(path).value();
  while (const std::optional<Op> op = log->Next().value()) EXPECT_TRUE(replay.Apply(*op));
  EXPECT_TRUE(replay.Finish());
  EXPECT_TRUE(replay.Drain());
  return {ledger.totals(), fates.fates,    fates.causes,
          counter.packets, ledger.Check(), std::move(fates.accounts)};
}

std::string Summary(const Outcome& outcome) {
  std::string text;
  for (const auto& [fate, count] : outcome.fates)
    text += std::string(Name(fate)) + " " + std::to_string(count) + ", ";
  for (const auto& [cause, count] : outcome.causes)
    text += std::string(Name(cause)) + " " + std::to_string(count) + ", ";
  return text;
}

class LedgerOverTestdata : public ::testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(Engines, LedgerOverTestdata, testing::AllEngines(),
                         testing::NameOfParam<const char*>);

TEST_P(LedgerOverTestdata, ConformanceCasesAddUp) {
  int cases = 0;
  for (const std::string& path : testing::ListTestdata("conformance/cases", ".zst")) {
    SCOPED_TRACE(path);
    const Outcome outcome = Account(testing::TestdataPath(path), GetParam(), true);
    EXPECT_EQ(outcome.problems, "") << Summary(outcome);
    uint64_t came_out = 0, told = 0;
    for (const auto& [id, totals] : outcome.totals) {
      came_out +=
          totals[Fate::kRead].packets + totals[Fate::kInvalid].packets + totals.duplicates.packets;
      told += totals.written.packets;
    }
    EXPECT_EQ(came_out, outcome.packets);
    uint64_t fates = 0;
    for (const auto& [fate, count] : outcome.fates)
      if (fate != Fate::kWriterDropped) fates += count;
    EXPECT_EQ(told, fates);
    EXPECT_EQ(outcome.fates.count(Fate::kUnexplained), 0u) << Summary(outcome);
    ++cases;
  }
  EXPECT_EQ(cases, 379);
}

// What is kept of a packet from its commit is what its bytes in the buffer show when it is lost.
TEST_P(LedgerOverTestdata, FactsAreThoseOfTheBytes) {
  uint64_t lost = 0;
  for (const std::string& path : testing::ListTestdata("conformance/cases", ".zst")) {
    SCOPED_TRACE(path);
    const Outcome late = Account(testing::TestdataPath(path), GetParam(), true);
    const Outcome kept =
        Account(testing::TestdataPath(path), GetParam(), true, testing::CuriousFateLog());
    ASSERT_EQ(late.accounts.size(), kept.accounts.size());
    for (auto a = late.accounts.begin(), b = kept.accounts.begin(); a != late.accounts.end();
         ++a, ++b) {
      ASSERT_EQ(a->first, b->first);
      ASSERT_EQ(a->second.size(), b->second.size());
      for (size_t i = 0; i < a->second.size(); ++i) {
        EXPECT_EQ(a->second[i].facts, b->second[i].facts);
        EXPECT_EQ(a->second[i].fate, b->second[i].fate);
        lost += IsLoss(a->second[i].fate) && a->second[i].facts.content != 0 ? 1 : 0;
      }
    }
  }
  EXPECT_GT(lost, 100u);
}

// What was written does not depend on the buffer, unless its writers broke rules: they may in all
// cases of random streams but writer-* and calm-*, and do where a chunk is re-committed with other
// bytes: a buffer that refuses these loses packets that another one returns.
TEST(LedgerTest, AllEnginesFindTheSamePackets) {
  int cases = 0;
  for (const std::string& path : testing::ListTestdata("conformance/cases", ".zst")) {
    const auto is_of = [&](const char* kind) { return path.find(kind) != std::string::npos; };
    if (is_of("/hostile-") || is_of("/mixed-") || is_of("/extended-") ||
        is_of("-Malicious_OverrideWithDifferentOffsetAfterRead"))
      continue;
    SCOPED_TRACE(path);
    std::optional<uint64_t> written;
    for (const EngineInfo& engine : Engines()) {
      uint64_t sum = 0;  // with what writers dropped, which one buffer sees and another overwrote
      for (const auto& [id, totals] :
           Account(testing::TestdataPath(path), engine.name, true).totals)
        sum += totals.written.packets + totals.by_fate.places();
      if (!written) written = sum;
      EXPECT_EQ(sum, *written) << engine.name;
    }
    ++cases;
  }
  EXPECT_EQ(cases, 247);
}

// Of an engine that reports nothing only the packets read are known; all others are unexplained.
TEST(LedgerTest, ASilentEngineLeavesLossesUnexplained) {
  for (const char* name : {"ring-v2", "two-buffers-v2", "short-v2"}) {
    SCOPED_TRACE(name);
    const std::string path =
        testing::TestdataPath(std::string("captures/") + name + "/session.ops.jsonl.zst");
    const Outcome known = Account(path, "v2@58", false);
    Outcome silent = Account(path, "silent", false);
    EXPECT_EQ(silent.problems, "") << Summary(silent);
    EXPECT_EQ(silent.packets, known.packets);
    EXPECT_EQ(silent.fates[Fate::kRead], known.fates.at(Fate::kRead));
    EXPECT_GT(silent.fates[Fate::kUnexplained], 0u);
    EXPECT_EQ(silent.fates.count(Fate::kOverwritten), 0u);
    for (const auto& [id, totals] : silent.totals)
      EXPECT_EQ(totals.written.packets, known.totals.at(id).written.packets);
  }
}

// What an engine does not report is unknown, and never another cause than that of the engine which
// reports all.
TEST(LedgerTest, AQuietEngineIsNeverGuessedAt) {
  std::map<Fate, uint64_t> unknown;  // by what it really was
  uint64_t same = 0, discarded = 0;
  for (const std::string& path : testing::ListTestdata("conformance/cases", ".zst")) {
    SCOPED_TRACE(path);
    const Outcome known = Account(testing::TestdataPath(path), "v2@58", true);
    const Outcome quiet = Account(testing::TestdataPath(path), "quiet", true);
    ASSERT_EQ(quiet.problems, "") << Summary(quiet);
    EXPECT_EQ(quiet.packets, known.packets);
    for (const auto& [place, found] : quiet.accounts) {
      const auto real = known.accounts.find(place);
      for (const PacketAccount& account : found) {
        if (account.fate == Fate::kUnexplained) {
          EXPECT_EQ(account.cause, Cause::kUnknown);
          if (real != known.accounts.end()) ++unknown[real->second.front().fate];
          continue;
        }
        ASSERT_NE(real, known.accounts.end()) << Name(account.fate);
        const auto agrees = [&](const PacketAccount& other) {
          if (other.fate == account.fate && account.cause == other.cause) return true;
          if (account.cause == Cause::kUnknown)  // a read may abandon what stays in the buffer
            return other.fate == account.fate || account.fate == Fate::kStalled;
          // What the log alone shows comes after what the buffer made of it.
          const bool by_log = account.cause == Cause::kBrokenChain ||
                              account.cause == Cause::kNoBeginning ||
                              account.cause == Cause::kBrokenSize;
          // Chunk ids that are used again break the rules, whatever the buffer makes of them.
          return (by_log && other.cause == Cause::kAbandoned) || account.cause == Cause::kResent;
        };
        EXPECT_TRUE(std::any_of(real->second.begin(), real->second.end(), agrees))
            << "chunk " << account.first_chunk << ": " << Name(account.fate) << " "
            << Name(account.cause) << " is " << Name(real->second.front().fate) << " "
            << Name(real->second.front().cause);
        ++same;
        if (account.fate == Fate::kDiscarded && !IsByService(account.cause) &&
            account.cause != Cause::kNotReplaced) {
          EXPECT_EQ(account.cause, Cause::kUnknown);
          ++discarded;
        }
      }
    }
  }
  EXPECT_GT(same, 10'000u);
  EXPECT_GT(discarded, 100u);
  EXPECT_GT(unknown[Fate::kCut], 0u);
  EXPECT_GT(unknown[Fate::kCorrupted], 0u);
  EXPECT_EQ(unknown[Fate::kRead], 0u);
  EXPECT_EQ(unknown[Fate::kReadable], 0u);
}

TEST_P(LedgerOverTestdata, CapturesAddUp) {
  int captures = 0;
  for (const std::string& path : testing::ListTestdata("captures", "session.ops.jsonl.zst")) {
    SCOPED_TRACE(path);
    const Outcome outcome = Account(testing::TestdataPath(path), GetParam(), false);
    EXPECT_EQ(outcome.problems, "") << Summary(outcome);
    EXPECT_EQ(outcome.fates.count(Fate::kUnexplained), 0u) << Summary(outcome);
    ++captures;
  }
  EXPECT_EQ(captures, 7);
}

}  // namespace
}  // namespace ringscope
