// When an import commits bundles of ftrace events, and what comes from another machine.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/perfetto/packet_facts.h"
#include "core/testing/message_text.h"
#include "formats/testing/import_trace.h"
#include "formats/trace/trace_file_scan.h"

namespace ringscope::testing {
namespace {

using ::testing::ElementsAre;

/// A packet with what the service appends.
std::string Appended(const std::string& content, uint32_t sequence = 7) {
  std::string trusted;
  AppendTrustedFields(trusted, {.uid = 1000, .pid = 42}, sequence, 0);
  return content + trusted;
}
/// A bundle that fills a chunk, with an event at a time of CLOCK_BOOTTIME.
std::string Bundle(uint64_t cpu, uint64_t ns) {
  constexpr uint32_t kPadding = 1000;
  return Sub(1, Appended(Sub(1, Uint(1, cpu) + Sub(2, Uint(1, ns)) +
                                    Sub(kPadding, std::string(5000, 'x')))));
}

/// The times of the chunks that are committed, the last ones left out: what remains at the end.
std::vector<uint64_t> CommitTimes(const Imported& imported) {
  std::vector<uint64_t> times;
  for (size_t i = 0; i < imported.records.size(); ++i)
    if (imported.records[i].starts_with("commit")) times.push_back(imported.times[i]);
  times.pop_back();
  return times;
}

TEST(TraceImportTimes, ABundleIsCommittedAfterItsLastEvent) {
  const Imported imported = Import(Bundle(3, 100) + Bundle(3, 900));
  EXPECT_THAT(CommitTimes(imported), ElementsAre(100, 900));
}

/// Clock 6 of machine 3 is 4,000 ns ahead of the service's.
std::string Sync() {
  const auto at = [](uint64_t ns) { return Sub(1, Uint(1, 6) + Uint(2, ns)); };
  return Sub(1, Sub(107, Sub(1, Sub(2, at(5000)) + Sub(3, at(1000)))) + Uint(98, 3));
}
std::string RemoteEvent(uint64_t ns) {
  return Sub(1, Appended(Uint(8, ns) + Sub(11, "")) + Uint(98, 3));
}

TEST(TraceImportTimes, TimesOfARemoteMachineAreThoseOfTheService) {
  const Imported imported = Import(Sync() + RemoteEvent(6000));
  EXPECT_EQ(imported.times.front(), 2000u);
}

TEST(TraceImportTimes, ARemoteMachineHasClocksOfItsOwn) {
  const auto snapshot = [](uint64_t monotonic, uint64_t boot) {
    return Sub(6, Sub(1, Uint(1, 3) + Uint(2, monotonic)) + Sub(1, Uint(1, 6) + Uint(2, boot)));
  };
  const std::string host = Sub(1, Appended(snapshot(10, 50), kServiceSequenceId));
  const std::string remote = Sub(1, Appended(snapshot(100, 7000), 8) + Uint(98, 3));
  const std::string event =
      Sub(1, Appended(Uint(8, 300) + Uint(58, 3) + Sub(11, "")) + Uint(98, 3));
  const auto scanned = ScanTraceFile(MakeMemorySource(host + Sync() + remote + event));
  const TraceFacts& facts = scanned->sessions.at(0);
  ASSERT_TRUE(facts.all.span);
  EXPECT_EQ(facts.all.span->first_ns, 3200);  // 300 - 100 + 7000, less 4000
  EXPECT_EQ(facts.snapshots, 1u);
}

}  // namespace
}  // namespace ringscope::testing
