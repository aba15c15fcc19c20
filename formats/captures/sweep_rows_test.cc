// The rows of a sweep are those of whole replays with a ledger.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "core/engine/catalogue.h"
#include "core/perfetto/page.h"
#include "core/sweep/size_search.h"
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
  compare("lost", row.lost_packets(), exact.lost_packets());
  compare("waiting", row.waiting_packets(), exact.waiting_packets());
  if (row.stats != exact.stats) text += "stats; ";
  compare("packet loss", row.losses.sequence_packet_loss, exact.losses.sequence_packet_loss);
  compare("history", row.history_ns, exact.history_ns);
  compare("shortest", row.shortest_history_ns, exact.shortest_history_ns);
  compare("used", row.used_bytes, exact.used_bytes);
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

/// Sweeps some sizes, and replays each of them alone, which gives it a ledger.
void ExpectExact(const SweepInput& input, const ReplayOptions& options) {
  std::vector<SweepConfig> configs;
  for (const uint64_t size : {16u << 10, 512u << 10, 16u << 20}) {
    // Known difference: a V1 ring that refuses chunks counts packets as overwritten that a replay
    // with a ledger counts as discarded.
    if (size == 16u << 10 && options.session.all.engine == "v1") continue;
    configs.emplace_back(SweepConfig{0, options}).options.session.all.size = size;
  }
  Sweep sweep(input);
  const auto rows = sweep.Run(configs);
  ASSERT_TRUE(rows) << rows.error().ToString();
  for (size_t i = 0; i < configs.size(); ++i) {
    Sweep alone(input);
    const auto exact = alone.Run({configs[i]});
    ASSERT_TRUE(exact) << exact.error().ToString();
    ASSERT_EQ((*rows)[i].size(), exact->front().size());
    for (size_t j = 0; j < exact->front().size(); ++j)
      EXPECT_EQ(Difference((*rows)[i][j], exact->front()[j]), "")
          << *configs[i].options.session.all.size << " buffer " << j;
  }
}

class SweepCaptureTest : public ::testing::TestWithParam<std::string> {
 protected:
  SweepInput Input() const {
    return InputOf(
        testing::TestdataPath("captures/" + GetParam() + "/session.ops.jsonl.zst").string());
  }
};

INSTANTIATE_TEST_SUITE_P(Captures, SweepCaptureTest, testing::AllCaptures(),
                         testing::NameOfCapture<std::string>);

TEST_P(SweepCaptureTest, RowsAreThoseOfReplaysWithALedger) {
  for (const std::string engine : {"v1", "v2@58"}) {
    for (const FillPolicy policy : {FillPolicy::kRingBuffer, FillPolicy::kDiscard}) {
      SCOPED_TRACE(fmt::format("{} {}", engine, Name(policy)));
      ReplayOptions options;
      options.session.all.engine = engine;
      options.session.all.policy = policy;
      ExpectExact(Input(), options);
    }
  }
}

TEST_P(SweepCaptureTest, TheSmallestSizeIsTheSmallest) {
  Sweep sweep(Input());
  ReplayOptions options;
  options.reads.mode = ReadsMode::kEnd;
  const auto own = sweep.Run({{0, options}});
  ASSERT_TRUE(own);
  SizeSearch search;
  search.config = {1, options};
  for (const SweepRow& row : own->front()) search.first[row.id] = {row.size};
  search.meets = [](const SweepRow& row) { return row.full_packets() == 0; };
  const auto found = FindSmallestSizes(sweep, search);
  ASSERT_TRUE(found);
  for (const auto& [id, size] : *found) {
    ASSERT_TRUE(size.size);
    for (const uint64_t less : {uint64_t{0}, kPageBytes}) {
      SweepConfig config{2, options};
      config.options.session.buffers[id].size = *size.size - less;
      Sweep alone(Input());
      const auto rows = alone.Run({config});
      ASSERT_TRUE(rows);
      EXPECT_EQ(FindRow(rows->front(), id)->full_packets() == 0, less == 0) << Raw(id);
    }
  }
}

}  // namespace
}  // namespace ringscope
