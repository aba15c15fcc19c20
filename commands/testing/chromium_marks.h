#ifndef RINGSCOPE_COMMANDS_TESTING_CHROMIUM_MARKS_H_
#define RINGSCOPE_COMMANDS_TESTING_CHROMIUM_MARKS_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "commands/testing/chromium.h"
#include "commands/testing/live_recording.h"
#include "commands/testing/memory_run.h"
#include "core/base/text.h"
#include "core/gaps/gap_analysis.h"
#include "core/gaps/shared_memory_use.h"
#include "core/ledger/ledger.h"
#include "core/perfetto/packet_facts.h"
#include "core/session/replay.h"
#include "formats/testing/parsed_json.h"

namespace ringscope::testing {

/// Makes marks, numbered by thread: the page's and those of workers. Each becomes an event. The
/// last ones come late, so that what was dropped before them is flagged. P.marks by each thread, in
/// bursts of P.burst with pauses of P.pause ms; each P.every-th is P.bytes long.
inline constexpr const char* kPageScript = R"((async (P) => {
  const body = `async function run(thread, P) {
    const wait = (ms) => new Promise((done) => setTimeout(done, ms));
    let i = 0;
    const mark = (more) => performance.mark('m' + thread + '_' + String(i++).padStart(6, '0') + more);
    while (i < P.marks) {
      mark(P.every && i % P.every == P.every - 1 ? 'x'.repeat(P.bytes) : '');
      if (i % P.burst == 0) { performance.clearMarks(); await wait(P.pause); }
    }
    for (let last = 0; last < 3; ++last) { await wait(100); mark(''); }
    return i;
  }`;
  const work = [eval('(' + body + ')')(0, P)];
  for (let thread = 1; thread <= P.workers; ++thread) {
    const source = body + 'onmessage = async (e) => postMessage(await run(e.data[0], e.data[1]))';
    const worker = new Worker(URL.createObjectURL(new Blob([source])));
    work.push(new Promise((done) => { worker.onmessage = (e) => done(e.data); }));
    worker.postMessage([thread, P]);
  }
  return await Promise.all(work);
}))";

/// Numbers of consecutive marks that are not in the trace.
struct MissingMarks {
  uint64_t first = 0;
  uint64_t count = 0;
  size_t gaps = 0;    // that the account has there
  uint64_t lost = 0;  // packets of these
  size_t flags = 0;   // packets there, the next one included, in which the producer reports it
  std::vector<std::string> causes = {};  // of these gaps, where the log shows them
  size_t others_read = 0;                // packets there that are no marks
};

/// A packet that the replay returned.
struct ReadPacket {
  GapPlace at;
  std::optional<std::pair<int, uint64_t>> mark;  // thread and number
  bool flagged = false;                          // by its producer
};

/// Keeps the packets that a replay returns, by buffer and sequence.
class PacketReader : public LedgerSink, public ReplayListener {
 public:
  void OnPacketFate(const PacketAccount& account) override {
    if (account.fate == Fate::kRead) last_ = account;  // OnPacket follows
  }
  Status OnPacket(const SessionPacket& packet) override {
    if (!packet.valid) return {};
    std::string content;
    for (const Bytes slice : packet.packet->slices) content += wire::AsText(slice);
    packets[packet.buffer][last_.sequence].push_back(
        {.at = GapPlace::Of(last_),
         .mark = MarkIn(content),
         .flagged = ReadPacketFacts(wire::AsBytes(content)).dropped != 0});
    return {};
  }

  std::map<BufferId, std::map<SequenceKey, std::vector<ReadPacket>>> packets;

 private:
  /// "m1_000123"
  static std::optional<std::pair<int, uint64_t>> MarkIn(const std::string& content) {
    constexpr size_t kDigits = 6;
    const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
    for (size_t at = content.find('m'); at != std::string::npos; at = content.find('m', at + 1)) {
      const std::string_view rest = std::string_view(content).substr(at + 1);
      if (rest.size() < 2 + kDigits || !is_digit(rest[0]) || rest[1] != '_') continue;
      const std::string_view number = rest.substr(2, kDigits);
      if (std::ranges::all_of(number, is_digit))
        return std::pair(rest[0] - '0', uint64_t{std::stoul(std::string(number))});
    }
    return std::nullopt;
  }

  PacketAccount last_;
};

/// What the account has, and what the page knows.
struct Comparison {
  const SequenceGaps* account = nullptr;
  uint64_t made = 0;
  std::vector<MissingMarks> missing;
  size_t gaps_at_begin = 0;   // before the first mark: of what introduces the thread
  size_t gaps_elsewhere = 0;  // between consecutive marks
};

inline Comparison Compare(const SequenceGaps& account, std::vector<ReadPacket> packets,
                          uint64_t made) {
  Comparison result;
  result.account = &account;
  result.made = made;
  std::ranges::sort(packets, {}, &ReadPacket::at);
  size_t gap = 0;
  uint64_t next = 0;  // number
  MissingMarks here;
  const auto take = [&](const GapPlace* until) {
    for (; gap < account.gaps.size(); ++gap) {
      const Gap& one = account.gaps[gap];
      if (until != nullptr && !(one.first < *until)) break;
      ++here.gaps;
      here.lost += one.lost.packets;
      if (one.abort) here.causes.emplace_back(Name(one.abort->reason));
    }
  };
  for (const ReadPacket& packet : packets) {
    take(&packet.at);
    here.flags += packet.flagged ? 1 : 0;
    if (!packet.mark) {
      ++here.others_read;
      continue;
    }
    const uint64_t number = packet.mark->second;
    EXPECT_GE(number, next) << "a mark that is there twice, or out of order";
    here.first = next;
    here.count = number - next;
    if (here.count > 0)
      result.missing.push_back(here);
    else
      (next == 0 ? result.gaps_at_begin : result.gaps_elsewhere) += here.gaps;
    next = number + 1;
    here = {};
  }
  take(nullptr);
  here.first = next;
  here.count = made - next;
  if (here.count > 0) result.missing.push_back(here);
  return result;
}

/// What the marks of a session, or of several, show.
struct MarkFigures {
  uint64_t made = 0;
  uint64_t dropped = 0;
  uint64_t runs = 0;     // of consecutive ones that were dropped
  uint64_t gaps = 0;     // of these, those that are gaps of the account
  uint64_t by_flag = 0;  // of these, those that only a flag shows
  uint64_t at_end = 0;   // of these, those after the last packet of a thread, which nothing shows
  std::map<std::string, uint64_t> causes;  // of the gaps' aborted packets
};

/// Chromium, recorded while its page makes marks.
class ChromiumMarks {
 public:
  /// @param memory of each producer
  explicit ChromiumMarks(MemorySizes memory) : memory_(memory) {}

  /// @return why it cannot be used; empty: it can
  std::string Start() {
    if (!ChildProcess::Check(Chromium::kProgram))
      return "chromium is not installed (scripts/setup installs it)";
    consumer_.emplace(Consumer::Connect(run_.consumer_listen()).value());
    auto chromium = Chromium::Start(run_.listen(), folder_.path());
    if (!chromium) return "Chromium cannot be used: " + chromium.error().message;
    chromium_ = std::move(*chromium);
    if (!run_.log().WaitFor<ProducerConnected>())
      return "this Chromium does not connect to a tracing service";
    return "";
  }
  /// A tracing session while the page makes marks.
  /// @param P of the page's script
  /// @param policy buffer_exhausted_policy of the data source; 0: none is chosen
  void Trace(const std::string& P, uint64_t policy = 0) {
    ASSERT_TRUE(consumer_->EnableTracing(ConfigForMarks(policy)));
    std::string trace;
    ASSERT_TRUE(WaitForPage(trace)) << "the page's events do not arrive";
    const auto counts = chromium_->Run(std::string(kPageScript) + "(" + P + ")");
    ASSERT_TRUE(counts) << counts.error().message;
    ASSERT_TRUE(consumer_->WaitFor(consumer_->StartFlush().value()).value());
    ASSERT_TRUE(consumer_->DisableTracing());
    ASSERT_TRUE(consumer_->WaitUntilDisabled());
    ASSERT_TRUE(consumer_->ReadBuffers(trace));
    const std::string stats = consumer_->GetTraceStats().value();
    ASSERT_TRUE(consumer_->FreeBuffers());
    received_[sessions_.size() + 1] = ContentOfTrace(trace, stats).value();
    sessions_.push_back({BufferId{static_cast<uint16_t>(sessions_.size() + 1)},
                         testing::ParsedJson(*counts).get<std::vector<uint64_t>>()});
  }
  /// Ends Chromium and the recorder. The replay must equal what the consumer received, each run of
  /// missing numbers must be in the account, and nothing else may be.
  void Check(MarkFigures& figures) {
    ASSERT_NO_FATAL_FAILURE(Finish());
    for (size_t number = 0; number < sessions_.size(); ++number) {
      SCOPED_TRACE("session " + std::to_string(number + 1));
      for (const Comparison& thread : CompareSession(sessions_[number])) {
        ASSERT_NE(thread.account, nullptr) << "a thread without any event";
        CheckThread(thread, figures);
      }
    }
  }
  /// Most writers that held a chunk at a time, of one process.
  uint64_t most_writers() const { return most_writers_; }

 private:
  struct Session {
    BufferId buffer{};
    std::vector<uint64_t> made;  // marks, by thread
  };
  static std::string ConfigForMarks(uint64_t policy) {
    std::string categories, source, data_source, buffer, config;
    wire::AppendBytes(categories, 1, wire::AsBytes("*"));                  // disabled_categories
    wire::AppendBytes(categories, 2, wire::AsBytes("blink.user_timing"));  // enabled_categories
    wire::AppendBytes(source, 1, wire::AsBytes("track_event"));
    if (policy != 0) wire::AppendUint(source, 9, policy);
    wire::AppendBytes(source, 113, wire::AsBytes(categories));  // track_event_config
    wire::AppendBytes(data_source, 1, wire::AsBytes(source));
    wire::AppendUint(buffer, 1, 64 * 1024);  // size_kb: nothing is overwritten
    wire::AppendUint(buffer, 8, ipc::kExperimentalModeV2);
    wire::AppendBytes(config, 1, wire::AsBytes(buffer));
    wire::AppendBytes(config, 2, wire::AsBytes(data_source));
    return config;
  }
  /// Until the page's process writes to the session.
  bool WaitForPage(std::string& trace) {
    using std::chrono::steady_clock;
    const auto until = steady_clock::now() + std::chrono::seconds(30);
    while (steady_clock::now() < until) {
      if (!chromium_->Run("performance.mark('are you there'); performance.mark('or not')"))
        return false;
      if (!consumer_->WaitFor(consumer_->StartFlush().value()).value()) return false;
      if (!consumer_->ReadBuffers(trace)) return false;
      if (trace.find("are you there") != std::string::npos) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    return false;
  }
  /// Makes the account.
  void Finish() {
    chromium_.reset();
    consumer_->Close();
    run_.ExpectSessions(received_);
    GapAnalysis analysis;
    LedgerSinks sinks({&analysis, &reader_});
    Ledger ledger(sinks);
    Replay replay({}, {&ledger, &analysis, &reader_});
    for (const Op& op : run_.log().TimedOps()) {
      looks_.Add(op);
      if (const auto* look = std::get_if<SharedMemoryLook>(&op.body)) CheckLook(look->producer);
      ASSERT_TRUE(replay.Apply(op));
    }
    ASSERT_TRUE(replay.Finish());
    ASSERT_TRUE(replay.Drain());
    EXPECT_EQ(ledger.Check(), "");
    report_ = analysis.Finish(ledger.totals());
  }
  void CheckLook(ProducerId producer) {
    const smb::MemoryFollower* const memory = looks_.Of(producer);
    ASSERT_TRUE(memory != nullptr && memory->seen());
    EXPECT_EQ(memory->pages(), memory_.bytes / memory_.page_bytes);
    EXPECT_EQ(memory->seen()->counts.bad_pages, 0u);
    EXPECT_LE(memory->seen()->counts.all(), memory_.bytes / memory_.page_bytes);
    most_writers_ = std::max(most_writers_, memory->seen()->writers);
  }
  /// By thread.
  std::vector<Comparison> CompareSession(const Session& session) {
    std::vector<Comparison> all(session.made.size());
    for (const BufferGaps& buffer : report_.buffers) {
      if (buffer.id != session.buffer) continue;
      EXPECT_EQ(buffer.totals.lost().packets, 0u);
      EXPECT_EQ(buffer.totals[Fate::kStalled].packets, 0u);
      for (const SequenceGaps& sequence : buffer.sequences) {
        EXPECT_EQ(sequence.missing_chunks, 0u);
        const auto& packets = reader_.packets[buffer.id][sequence.sequence];
        const auto marked = std::ranges::find_if(
            packets, [](const ReadPacket& packet) { return packet.mark.has_value(); });
        if (marked == packets.end()) continue;
        const auto thread = static_cast<size_t>(marked->mark->first);
        if (thread >= all.size()) {
          ADD_FAILURE() << "marks of a thread that the page does not have";
          continue;
        }
        EXPECT_EQ(all[thread].account, nullptr) << "a thread with two sequences";
        all[thread] = Compare(sequence, packets, session.made[thread]);
      }
    }
    return all;
  }

  static void CheckThread(const Comparison& thread, MarkFigures& figures) {
    SCOPED_TRACE(ringscope::ToString(thread.account->sequence));
    EXPECT_EQ(thread.gaps_elsewhere, 0u);
    uint64_t without_gap = 0, gaps = thread.gaps_at_begin;
    for (const MissingMarks& missing : thread.missing) {
      SCOPED_TRACE("missing from " + std::to_string(missing.first) + ", " +
                   std::to_string(missing.count));
      EXPECT_LE(missing.gaps, 1 + missing.others_read);
      EXPECT_LE(missing.lost, missing.count + missing.others_read);
      figures.dropped += missing.count;
      ++figures.runs;
      // Nothing shows what a writer drops after its last packet.
      const bool is_last = missing.first + missing.count == thread.made;
      if (is_last && missing.gaps == 0) {
        ++figures.at_end;
        continue;
      }
      EXPECT_GE(missing.gaps + missing.flags, 1u);
      gaps += missing.gaps;
      without_gap += missing.gaps == 0 ? 1 : 0;
      for (const std::string& cause : missing.causes) ++figures.causes[cause];
    }
    EXPECT_EQ(gaps, thread.account->gaps.size());
    EXPECT_LE(without_gap, thread.account->losses_by_flag());
    figures.made += thread.made;
    figures.gaps += gaps;
    figures.by_flag += without_gap;
  }

  const MemorySizes memory_;
  const TempFolder folder_;
  // Only its first process connects to a socket that is not a file.
  LiveRecording run_{
      {.producer = {.listen = folder_.File("producers"), .connect = {}}, .looks = true},
      {.memory = memory_}};
  std::optional<Consumer> consumer_;
  std::unique_ptr<Chromium> chromium_;
  std::map<uint64_t, TraceContent> received_;
  std::vector<Session> sessions_;
  PacketReader reader_;
  smb::MemoryLooks looks_;
  uint64_t most_writers_ = 0;
  GapReport report_;
};

}  // namespace ringscope::testing

#endif  // RINGSCOPE_COMMANDS_TESTING_CHROMIUM_MARKS_H_
