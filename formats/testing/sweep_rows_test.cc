// The rows of a sweep are those of whole replays with a ledger.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "core/sweep/sweep.h"
#include "formats/inputs/open_log.h"
#include "formats/testing/testdata.h"

namespace ringscope {
namespace {

/// A log of one session as the input of a sweep.
SweepInput InputOf(const std::string& path) {
  SweepInput input;
  input.open = [path]() -> Result<std::unique_ptr<OpSource>> { return OpenLog(path); };
  return input;
}

std::string Text(const PacketCount& count) {
  return fmt::format("{} of {} B", count.packets, count.bytes);
}

/// Where two rows differ; empty: nowhere.
std::string Difference(const SweepRow& row, const SweepRow& exact) {
  std::string text;
  const auto compare = [&](const char* what, const auto& a, const auto& b) {
    if (a != b) text += fmt::format("{}: {} and {}; ", what, a, b);
  };
  compare("size", row.size, exact.size);
  compare("written", Text(row.written), Text(exact.written));
  compare("read", Text(row.read), Text(exact.read));
  compare("unread", Text(row.unread), Text(exact.unread));
  compare("overwritten", row.overwritten.packets, exact.overwritten.packets);
  compare("discarded", row.discarded.packets, exact.discarded.packets);
  compare("lost", row.lost, exact.lost);
  compare("waiting", row.waiting_packets(), exact.waiting_packets());
  if (row.stats != exact.stats) text += "stats; ";
  compare("packet loss", row.losses.sequence_packet_loss, exact.losses.sequence_packet_loss);
  compare("history", row.history_ns, exact.history_ns);
  compare("shortest", row.shortest_history_ns, exact.shortest_history_ns);
  compare("sequences", row.sequences.size(), exact.sequences.size());
  for (size_t i = 0; i < std::min(row.sequences.size(), exact.sequences.size()); ++i) {
    const SweepSequence& a = row.sequences[i];
    const SweepSequence& b = exact.sequences[i];
    if (a.sequence != b.sequence || a.written != b.written || a.read != b.read ||
        a.overwritten.packets != b.overwritten.packets || a.history_ns != b.history_ns)
      text += fmt::format(
          "sequence {}: written {} and {}, read {} and {}, overwritten {} and {}, history {} and "
          "{}; ",
          i, Text(a.written), Text(b.written), Text(a.read), Text(b.read), Text(a.overwritten),
          Text(b.overwritten), a.history_ns, b.history_ns);
  }
  return text;
}

/// The accounts of a replay alone; nullptr if larger buffers may change more than what is
/// overwritten.
std::shared_ptr<const SessionAccounts> AccountsOf(const SweepInput& input,
                                                  const SweepConfig& config) {
  const auto accounts = std::make_shared<SessionAccounts>();
  Ledger ledger(*accounts);
  CountedReplay replay(config.options, {accounts.get(), &ledger});
  const auto ops = input.open();
  if (!ops) return nullptr;
  for (auto op = (*ops)->Next(); op && *op; op = (*ops)->Next())
    if (!replay.Apply(**op)) return nullptr;
  if (!replay.Finish()) return nullptr;
  accounts->totals = ledger.totals();
  return accounts->AreOfLargerToo() ? accounts : nullptr;
}

/// Sweeps sizes, ascending, and replays each of them alone, which gives it a ledger; and replays
/// those above the first one by the accounts of that.
void ExpectExact(const SweepInput& input, const ReplayOptions& options,
                 const std::vector<uint64_t>& sizes) {
  std::vector<SweepConfig> configs;
  for (const uint64_t size : sizes)
    configs.emplace_back(SweepConfig{0, options}).options.session.all.size = size;
  Sweep sweep(input);
  const auto rows = sweep.Run(configs);
  ASSERT_TRUE(rows) << rows.error().ToString();
  const auto accounts = AccountsOf(input, configs.front());
  SweepInput examined = input;
  examined.accounts = accounts.get();
  for (size_t i = 0; i < configs.size(); ++i) {
    Sweep alone(input);
    const auto exact = alone.Run({configs[i]});
    ASSERT_TRUE(exact) << exact.error().ToString();
    ASSERT_EQ((*rows)[i].size(), exact->front().size());
    Sweep larger(examined);
    const auto of_larger = larger.Run({configs[i]});
    ASSERT_TRUE(of_larger) << of_larger.error().ToString();
    for (size_t j = 0; j < exact->front().size(); ++j) {
      EXPECT_EQ(Difference((*rows)[i][j], exact->front()[j]), "")
          << sizes[i] << " buffer " << j << ", " << Name(options.reads.mode);
      EXPECT_EQ(Difference(of_larger->front()[j], exact->front()[j]), "")
          << sizes[i] << " after " << sizes.front() << ", buffer " << j << ", "
          << Name(options.reads.mode);
    }
  }
}

class SweepCaptureTest : public ::testing::TestWithParam<std::string> {
 protected:
  SweepInput Input() const { return InputOf(testing::CapturePath(GetParam())); }
};

INSTANTIATE_TEST_SUITE_P(Captures, SweepCaptureTest, testing::AllCaptures(),
                         testing::NameOfParam<std::string>);

TEST_P(SweepCaptureTest, RowsAreThoseOfReplaysWithALedger) {
  for (const std::string engine : {"v1", "v2@58"}) {
    for (const FillPolicy policy : {FillPolicy::kRingBuffer, FillPolicy::kDiscard}) {
      SCOPED_TRACE(fmt::format("{} {}", engine, Name(policy)));
      ReplayOptions options;
      options.session.all.engine = engine;
      options.session.all.policy = policy;
      ExpectExact(Input(), options, {16 << 10, 512 << 10, 16 << 20});
    }
  }
}

TEST_P(SweepCaptureTest, SizesInWhichNothingWraps_AreReplayedOnce) {
  size_t passes = 0;
  SweepInput input = Input();
  input.memory_limit = 1;  // a pass for each
  input.open = [&passes, open = input.open] {
    ++passes;
    return open();
  };
  Sweep sweep(input);
  std::vector<SweepConfig> configs;
  for (const uint64_t mib : {16, 32, 64})
    configs.emplace_back().options.session.all.size = mib << 20;
  const auto rows = sweep.Run(configs);
  ASSERT_TRUE(rows) << rows.error().ToString();
  EXPECT_EQ(passes, 1u);
  Sweep alone(input);
  const auto exact = alone.Run({configs.front()});
  ASSERT_TRUE(exact) << exact.error().ToString();
  EXPECT_EQ(passes, 2u);
  for (size_t i = 0; i < exact->front().size(); ++i)
    EXPECT_EQ(Difference(rows->front()[i], exact->front()[i]), "");
}

TEST_P(SweepCaptureTest, RowsOfPeriodicReadsAreExact) {
  ReplayOptions options;
  options.reads = {ReadsMode::kEvery, 100'000'000, {}};
  ExpectExact(Input(), options, {16 << 10, 512 << 10});
}

// Streams that make engines do whatever they can.
TEST(SweepConformance, RowsAreThoseOfReplaysWithALedger) {
  constexpr size_t kStep = 12;  // every so manieth case
  const std::vector<std::string> paths = testing::ListTestdata("conformance/cases", ".zst");
  ASSERT_GT(paths.size(), 10 * kStep);
  for (size_t i = 0; i < paths.size(); i += kStep) {
    SCOPED_TRACE(paths[i]);
    const SweepInput input = InputOf(testing::TestdataPath(paths[i]).string());
    for (const std::string engine : {"v1", "v2@54", "v2@58"}) {
      SCOPED_TRACE(engine);
      ReplayOptions options;
      options.session.all.engine = engine;
      for (const FillPolicy policy : {FillPolicy::kRingBuffer, FillPolicy::kDiscard}) {
        options.session.all.policy = policy;
        for (const ReadsMode mode : {ReadsMode::kRecorded, ReadsMode::kEnd}) {
          options.reads.mode = mode;
          ExpectExact(input, options, {4096, 8192, 16384, 65536});
        }
      }
    }
  }
}

}  // namespace
}  // namespace ringscope
