// A log without payloads is replayed as the log that it was made from: packets, losses, counters
// and fates are the same, on everything that testdata holds.

#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "core/ledger/ledger.h"
#include "core/log/payload_mask.h"
#include "core/session/replay.h"
#include "formats/inputs/open_log.h"
#include "formats/ops/events_jsonl.h"
#include "formats/testing/string_sink.h"
#include "formats/testing/testdata.h"

namespace ringscope {
namespace {

/// Each packet's account as a line.
class AccountLines : public LedgerSink {
 public:
  void OnPacketFate(const PacketAccount& account) override {
    const PacketFacts& facts = account.facts;
    std::ostringstream line;
    line << Raw(account.buffer) << ' ' << account.sequence.Packed() << ' ' << account.first_chunk
         << ' ' << account.first_offset << ' ' << account.size << ' ' << Name(account.fate) << ' '
         << Name(account.cause) << ' ' << facts.timestamp.value_or(1) << ' '
         << facts.timestamp_clock.value_or(0) << ' ' << facts.dropped << ' ' << facts.clears_state
         << facts.needs_state;
    // Of a packet in several fragments not all fields are kept.
    if (account.first_chunk == account.last_chunk && !account.in_fragments)
      line << ' ' << facts.content << ' ' << facts.default_clock.value_or(0) << ' '
           << facts.has_interned_data;
    lines.push_back(line.str());
  }
  std::vector<std::string> lines;
};

struct Replayed {
  std::vector<std::string> events;  // without the packets' hashes
  std::vector<std::string> accounts;
  uint64_t invalid = 0;  // packets that the service refuses
  std::string problems;
};

class InvalidPackets : public ReplayListener {
 public:
  Status OnPacket(const SessionPacket& packet) override {
    count += packet.valid ? 0 : 1;
    return {};
  }
  uint64_t count = 0;
};

Replayed ReplayLog(const std::string& path, const std::string& engine, bool plain,
                   bool with_payload) {
  StringSink sink;
  EventsWriter events(sink);
  AccountLines accounts;
  Ledger ledger(accounts);
  InvalidPackets invalid;
  ReplayOptions options;
  if (!engine.empty()) options.session.all.engine = engine;
  options.plain_streams_as_recorded = plain;
  Replay replay(options, {&ledger, &events, &invalid});
  PayloadMask mask;
  auto log = OpenLog(path).value();
  while (const std::optional<Op> op = log->Next().value())
    EXPECT_TRUE(replay.Apply(with_payload ? *op : mask.Apply(*op)));
  EXPECT_TRUE(replay.Finish());
  EXPECT_TRUE(events.Finish());
  Replayed result{.accounts = std::move(accounts.lines), .problems = ledger.Check()};
  result.invalid = invalid.count;
  for (const std::string_view line : testing::Lines(sink.text)) {
    std::string& event = result.events.emplace_back(line);
    constexpr std::string_view kHash = R"("fnv1a64":"0123456789abcdef")";
    if (const size_t at = event.find(kHash.substr(0, 10)); at != std::string::npos)
      event.erase(at, kHash.size());
  }
  return result;
}

/// The first line that differs; empty: they are the same.
std::string FirstDifference(const std::vector<std::string>& full,
                            const std::vector<std::string>& bare) {
  for (size_t i = 0; i < std::max(full.size(), bare.size()); ++i) {
    const std::string a = i < full.size() ? full[i] : "nothing";
    const std::string b = i < bare.size() ? bare[i] : "nothing";
    if (a != b) return "line " + std::to_string(i + 1) + "\n" + a + "\n" + b;
  }
  return "";
}

class PayloadFreeCapture : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Captures, PayloadFreeCapture, testing::AllCaptures(),
                         testing::NameOfParam<const char*>);

TEST_P(PayloadFreeCapture, ReplaysAsTheFullLog) {
  const std::string path = testing::CapturePath(GetParam());
  for (const char* engine : {"", "v1", "v2@54", "v2@58"}) {
    SCOPED_TRACE(engine);
    const Replayed full = ReplayLog(path, engine, false, true);
    const Replayed bare = ReplayLog(path, engine, false, false);
    EXPECT_GT(full.accounts.size(), 1000u);
    EXPECT_EQ(bare.problems, "");
    EXPECT_EQ(FirstDifference(full.events, bare.events), "");
    EXPECT_EQ(FirstDifference(full.accounts, bare.accounts), "");
    EXPECT_EQ(full.invalid, bare.invalid);
  }
}

/// Whether a patch puts something else than a size into a chunk, as only hostile writers do.
bool PatchesOtherThanSizes(const std::string& path) {
  CommitRequestParser parser;
  auto log = OpenLog(path).value();
  while (const std::optional<Op> op = log->Next().value()) {
    const auto* const commit = std::get_if<Commit>(&op->body);
    if (commit == nullptr) continue;
    parser.Parse(commit->request);
    for (const ChunkToPatch& patches : parser.patches())
      for (const PatchSpan& patch : patches.patches)
        if (wire::ReadVarint(patch.data).size != kPatchSize) return true;
  }
  return false;
}

class PayloadFreeCases : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Engines, PayloadFreeCases, ::testing::Values("v1", "v2@54", "v2@58"),
                         testing::NameOfParam<const char*>);

// What these packets hold is no protobuf: what the service would make of them is not compared.
TEST_P(PayloadFreeCases, BuffersReturnTheSamePackets) {
  const std::filesystem::path cases = testing::TestdataPath("conformance/cases");
  int same = 0, others = 0;
  for (const auto& entry : std::filesystem::directory_iterator(cases)) {
    SCOPED_TRACE(entry.path().filename().string());
    // Known differences: a patch makes an empty fragment, or changes one that a mask has emptied.
    const std::string name = entry.path().filename().string();
    const bool is_known =
        name == "edge-empty-begin-patched.jsonl.zst" || name == "edge-patched-into-abort.jsonl.zst";
    if (is_known || PatchesOtherThanSizes(entry.path())) {
      ++others;
      continue;
    }
    const Replayed full = ReplayLog(entry.path(), GetParam(), true, true);
    const Replayed bare = ReplayLog(entry.path(), GetParam(), true, false);
    EXPECT_EQ(FirstDifference(full.events, bare.events), "");
    EXPECT_EQ(bare.problems, "");
    ++same;
  }
  EXPECT_GT(same, 100);
  EXPECT_EQ(same + others, 379);
}

}  // namespace
}  // namespace ringscope
