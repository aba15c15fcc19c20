#include "commands/smb/chunk_latency.h"

#include <fmt/format.h>

#include "commands/replays/replay_run.h"
#include "commands/replays/session_reads.h"
#include "commands/shell/text.h"
#include "commands/smb/memory_reading.h"

namespace ringscope {
namespace {

constexpr size_t kLatencyIndent = 2;

/// Passes a replay's records on.
class RecordsRead : public ReplayListener {
 public:
  explicit RecordsRead(MemoryReading& reading) : reading_(reading) {}
  void OnRecord(const Op& op, const LogMoment& moment) override {
    reading_.Add(op, moment.record.value_or(0));
  }

 private:
  MemoryReading& reading_;
};

void ReportBufferTimes(Report& report, const BufferTimes& buffers, const SmbProducers& producers) {
  Table table({{"producer"},
               {"buffer", Align::kRight},
               {"then"},
               {"chunks", Align::kRight},
               {"half", Align::kRight},
               {"90%", Align::kRight},
               {"99%", Align::kRight},
               {"all", Align::kRight}});
  Json data = Json::array();
  for (const auto& [where, times] : buffers.times()) {
    for (const auto& [exit, spread] : times) {
      const auto cell = [&, &spread = spread](uint64_t percent) {
        return Cell(HumanDuration(spread.Percentile(percent)));
      };
      table.AddRow({SmbProducerText(where.first, producers), NumberCell(Raw(where.second)),
                    ExitText(exit), CountCell(spread.count()), cell(50), cell(90), cell(99),
                    cell(100)});
      data.push_back({{"producer", Raw(where.first)},
                      {"buffer", Raw(where.second)},
                      {"until", Name(exit)},
                      {"chunks", spread.count()},
                      {"ns", SpreadJson(spread)}});
    }
  }
  report.Data("buffer_times", std::move(data));
  report.Section("how long chunks were in a buffer, from their commit", table, kLatencyIndent);
}

}  // namespace

void BufferTimes::OnChunkLeft(const ChunkLife& life) {
  if (!life.entered() || !life.committed.time_ns || !life.left.time_ns) return;
  const uint64_t from = *life.committed.time_ns, to = *life.left.time_ns;
  times_[{life.chunk.sequence.producer, life.buffer}][life.exit].Add(to > from ? to - from : 0);
}

Status ReportOccupancy(SessionReader& sessions, Report& report) {
  MemoryReading reading;
  while (true) {
    RS_ASSIGN_OR_RETURN(const std::optional<Op> op, sessions.Next());
    if (!op) break;
    reading.Add(*op, sessions.record_number());
  }
  ReportMemories(report, reading.Memories(), reading.producers(), reading.start_ns(),
                 MemoryDetail::kUse);
  report.Data("memories_not_listed", reading.unlisted());
  return {};
}

Status ReportLatency(Context& context, SessionReader& sessions, Report& report) {
  MemoryReading reading;
  RecordsRead records(reading);
  BufferTimes buffers;
  ChunkLifetimes lives(buffers);
  RS_ASSIGN_OR_RETURN(const ReplayOutcome outcome,
                      ReplaySession(context, sessions, {}, {.listeners = {&records, &lives}}));
  lives.Finish();
  ReportMemories(report, reading.Memories(), reading.producers(), reading.start_ns());
  report.Data({{"memories_not_listed", reading.unlisted()}, {"reads", ReadsJson(outcome.reads)}});
  ReportBufferTimes(report, buffers, reading.producers());
  if (buffers.times().empty()) return {};
  report.Print("\n");
  report.Paragraph(fmt::format(
      "Time in a buffer is by a replay, read {}.{}", ReadsText(outcome.reads),
      ReadsNotes(outcome.reads).empty() ? std::string() : " " + ReadsNotes(outcome.reads)));
  return {};
}

}  // namespace ringscope
