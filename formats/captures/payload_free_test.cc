// A log without payloads is replayed as the log that it was made from: packets, losses, counters
// and fates are the same, on everything that testdata holds.

#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "core/ledger/ledger.h"
#include "core/payload/payload_remover.h"
#include "core/session/replay.h"
#include "formats/inputs/open_log.h"
#include "formats/ops/events_jsonl.h"
#include "formats/testing/testdata.h"

namespace ringscope {
namespace {

using nlohmann::json;

/// Each packet's account as a line.
class AccountLines : public LedgerSink {
 public:
  void OnPacketFate(const PacketAccount& account) override {
    const PacketFacts& facts = account.facts;
    std::ostringstream line;
    line << Raw(account.buffer) << ' ' << account.sequence.Packed() << ' ' << account.first_chunk
         << ' ' << account.first_offset << ' ' << account.size << ' ' << Name(account.fate) << ' '
         << Name(account.cause) << ' ' << facts.content << ' ' << facts.timestamp.value_or(1) << ' '
         << facts.timestamp_clock.value_or(0) << ' ' << facts.default_clock.value_or(0) << ' '
         << facts.dropped << ' ' << facts.clears_state << facts.needs_state
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
  PayloadRemover remover;
  auto log = OpenLog(path).value();
  while (true) {
    const std::optional<Op> op = log->Next().value();
    if (!op) break;
    EXPECT_TRUE(replay.Apply(with_payload ? *op : remover.Apply(*op)));
  }
  EXPECT_TRUE(replay.Finish());
  EXPECT_TRUE(events.Finish());
  Replayed result{.accounts = std::move(accounts.lines), .problems = ledger.Check()};
  result.invalid = invalid.count;
  std::istringstream stream(sink.text);
  for (std::string line; std::getline(stream, line);) {
    json event = json::parse(line);
    event.erase("fnv1a64");
    result.events.push_back(event.dump());
  }
  return result;
}

/// @return whether they are the same
bool ExpectSame(const Replayed& full, const Replayed& bare) {
  EXPECT_EQ(full.problems, "");
  EXPECT_EQ(bare.problems, "");
  EXPECT_EQ(full.invalid, bare.invalid);
  EXPECT_EQ(full.events.size(), bare.events.size());
  EXPECT_EQ(full.accounts.size(), bare.accounts.size());
  for (size_t i = 0; i < std::min(full.events.size(), bare.events.size()); ++i) {
    if (full.events[i] == bare.events[i]) continue;
    ADD_FAILURE() << "event " << i + 1 << "\n" << full.events[i] << "\n" << bare.events[i];
    return false;
  }
  for (size_t i = 0; i < std::min(full.accounts.size(), bare.accounts.size()); ++i) {
    if (full.accounts[i] == bare.accounts[i]) continue;
    ADD_FAILURE() << "account " << i + 1 << "\n" << full.accounts[i] << "\n" << bare.accounts[i];
    return false;
  }
  return true;
}

class PayloadFreeCapture : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Captures, PayloadFreeCapture, testing::AllCaptures(),
                         testing::NameOfCapture<const char*>);

TEST_P(PayloadFreeCapture, ReplaysAsTheFullLog) {
  const std::string path = testing::CapturePath(GetParam());
  for (const char* engine : {"", "v1", "v2@54", "v2@58"}) {
    SCOPED_TRACE(engine);
    const Replayed full = ReplayLog(path, engine, false, true);
    EXPECT_GT(full.accounts.size(), 1000u);
    ExpectSame(full, ReplayLog(path, engine, false, false));
  }
}

class PayloadFreeCases : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Engines, PayloadFreeCases, ::testing::Values("v1", "v2@54", "v2@58"),
                         [](const auto& test) {
                           std::string name = test.param;
                           std::replace(name.begin(), name.end(), '@', '_');
                           return name;
                         });

TEST_P(PayloadFreeCases, ReplayAsTheFullOnes) {
  const std::filesystem::path cases = testing::TestdataPath("conformance/cases");
  int same = 0;
  for (const auto& entry : std::filesystem::directory_iterator(cases)) {
    SCOPED_TRACE(entry.path().filename().string());
    same += ExpectSame(ReplayLog(entry.path(), GetParam(), true, true),
                       ReplayLog(entry.path(), GetParam(), true, false));
  }
  EXPECT_GT(same, 300);
}

}  // namespace
}  // namespace ringscope
