#include "commands/smb/smb_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "commands/shell/text.h"

namespace ringscope {
namespace {

using smb::ChunkState;
using smb::MemoryFollower;
using smb::MemoryUse;

constexpr size_t kSmbIndent = 2;

template <typename T>
Json SmbOrNull(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

uint64_t Offset(uint64_t time_ns, uint64_t start_ns) {
  return time_ns > start_ns ? time_ns - start_ns : 0;
}

/// "0 s", "12 ms", "3 ms to 12 ms"
std::string TimesText(const smb::SampledTime& time) {
  if (time.most == 0) return "0 s";
  if (time.least == time.most) return HumanDuration(time.most);
  return fmt::format("{} to {}", HumanDuration(time.least), HumanDuration(time.most));
}

void ReportDetails(Report& report, const MemoryUse& use, const SmbProducers& producers,
                   uint64_t start_ns) {
  const std::string who = SmbProducerText(use.producer, producers);
  if (use.looks == 0) {
    report.Paragraph(
        fmt::format("{}: {}.", who,
                    use.missing > 0 ? "its looks cannot be read: the first of them are missing, or "
                                      "more memories live at a time than are followed"
                                    : "the log has no looks at this memory"),
        kSmbIndent);
    return;
  }
  const smb::SeenMemory& peak = *use.peak;
  std::string text = fmt::format("{}: {}. ", who, MemoryLayoutText(use));
  if (use.direct_patching) text += "The service lets the producer patch chunks in place. ";
  text += fmt::format(
      "Fullest at {}: {} of {} in use, {} being written by {}, {} complete and held back by the "
      "producer, {} committed and waiting for the service.",
      HumanDuration(Offset(peak.time_ns, start_ns)), WithCommas(peak.counts.used()),
      Count(peak.counts.all(), "chunk"), WithCommas(peak.counts.being_written),
      Count(peak.writers, "writer"), WithCommas(peak.held_back()), WithCommas(peak.committed));
  if (use.full_looks > 0)
    text += fmt::format(" No chunk was free in {} of {}: for {} in all.",
                        WithCommas(use.full_looks), Count(use.looks, "look"), TimesText(use.full));
  else
    text += " A chunk was free in every look.";
  if (use.missing > 0)
    text += fmt::format(" {} missing.",
                        Count(use.missing, "look") + (use.missing == 1 ? " is" : " are"));
  if (use.bad_pages > 0)
    text +=
        fmt::format(" Up to {} had a header that makes no sense.", Count(use.bad_pages, "page"));
  report.Paragraph(text, kSmbIndent);
}

Json StepJson(const smb::StepTimes& step) {
  return {{"chunks", step.most.count()},
          {"at_least_ns", SpreadJson(step.least)},
          {"at_most_ns", SpreadJson(step.most)}};
}

Json StepsJson(const smb::ChunkSteps& steps) {
  return {{"being_written", StepJson(steps.written)},
          {"held_back", StepJson(steps.held_back)},
          {"in_service", StepJson(steps.served)}};
}

/// @param who the columns in front
void AddSteps(const std::vector<Cell>& who, const smb::ChunkSteps& steps, Table& table) {
  const auto add = [&](const char* step, const smb::StepTimes& times) {
    if (times.most.count() == 0) return;
    std::vector<Cell> cells = who;
    cells.insert(cells.end(), {step, CountCell(times.most.count())});
    for (const uint64_t percent : {50u, 90u, 99u, 100u})
      cells.emplace_back(HumanDuration(times.most.Percentile(percent)));
    table.AddRow(std::move(cells));
  };
  add("being written", steps.written);
  add("held back", steps.held_back);
  add("in the service", steps.served);
}

Table StepTable(std::vector<Column> who) {
  who.insert(who.end(), {{"step"},
                         {"chunks", Align::kRight},
                         {"half", Align::kRight},
                         {"90%", Align::kRight},
                         {"99%", Align::kRight},
                         {"all", Align::kRight}});
  return Table(std::move(who));
}

Json WritersJson(const MemoryFollower& memory) {
  Json writers = Json::array();
  for (const auto& [writer, steps] : memory.ways().by_writer())
    writers.push_back({{"writer", Raw(writer)}, {"steps", StepsJson(steps)}});
  return writers;
}

Json MemoryJson(const MemoryFollower& memory, const SmbProducers& producers) {
  const MemoryUse& use = memory.use();
  const auto producer = producers.find(use.producer);
  const SmbProducer known = producer == producers.end() ? SmbProducer() : producer->second;
  Json layouts = Json::array();
  for (const uint64_t pages : use.layouts) layouts.push_back(pages);
  return {{"producer", Raw(use.producer)},
          {"name", Printable(known.name)},
          {"size", use.size},
          {"page_size", use.page_size},
          {"size_hint", SmbOrNull(known.size_hint)},
          {"page_size_hint", SmbOrNull(known.page_size_hint)},
          {"direct_patching", use.direct_patching},
          {"looks", use.looks},
          {"missing_looks", use.missing},
          {"bad_pages", use.bad_pages},
          {"chunks", use.chunks},
          {"pages_by_layout", std::move(layouts)},
          {"first_look_ns", SmbOrNull(use.first_ns)},
          {"last_look_ns", SmbOrNull(use.last_ns)},
          {"mean_use", SmbOrNull(use.MeanUse())},
          {"peak", use.peak ? SeenJson(*use.peak) : Json()},
          {"most_being_written", use.most_being_written},
          {"most_writers", use.most_writers},
          {"most_held_back", use.most_held_back},
          {"most_waiting_for_service", use.most_committed},
          {"full_looks", use.full_looks},
          {"full_at_least_ns", use.full.least},
          {"full_at_most_ns", use.full.most},
          {"steps", StepsJson(memory.ways().steps())}};
}

}  // namespace

std::string SmbProducerText(ProducerId id, const SmbProducers& producers) {
  const auto producer = producers.find(id);
  if (producer == producers.end() || producer->second.name.empty()) return std::to_string(Raw(id));
  return fmt::format("{} {}", Raw(id), Printable(producer->second.name));
}

Json SpreadJson(const smb::TimeSpread& times) {
  return {{"p50", times.Percentile(50)},
          {"p90", times.Percentile(90)},
          {"p99", times.Percentile(99)},
          {"max", times.most()}};
}

Json SeenJson(const smb::SeenMemory& seen) {
  return {{"time_ns", seen.time_ns},
          {"free", seen.counts.free},
          {"being_written", seen.counts.being_written},
          {"being_read", seen.counts.being_read},
          {"held_back", seen.held_back()},
          {"waiting_for_service", seen.committed},
          {"writers", seen.writers}};
}

SeenChunk SeenChunkOf(const MemoryFollower& memory, smb::ChunkSlot slot) {
  const smb::PageBitmap bitmap = memory.picture().pages()[slot.first].bitmap();
  if (bitmap.is_undivided()) return SeenChunk::kFree;
  if (slot.second >= bitmap.chunks()) return SeenChunk::kBad;
  switch (bitmap.StateOf(slot.second)) {
    case ChunkState::kFree:
      return SeenChunk::kFree;
    case ChunkState::kBeingWritten:
      return SeenChunk::kBeingWritten;
    case ChunkState::kBeingRead:
      return SeenChunk::kBeingRead;
    case ChunkState::kComplete:
      return memory.IsCommitted(slot) ? SeenChunk::kWaiting : SeenChunk::kHeldBack;
  }
  return SeenChunk::kBad;
}

const char* SeenChunkText(SeenChunk state) {
  switch (state) {
    case SeenChunk::kFree:
      return "free";
    case SeenChunk::kBeingWritten:
      return "being written";
    case SeenChunk::kHeldBack:
      return "held back";
    case SeenChunk::kWaiting:
      return "waiting for the service";
    case SeenChunk::kBeingRead:
      return "being read";
    case SeenChunk::kBad:
      return "a page whose header makes no sense";
  }
  return "";
}

std::string MemoryLayoutText(const MemoryUse& use) {
  const uint64_t pages = use.page_size > 0 ? use.size / use.page_size : 0;
  std::string text = fmt::format("{} of {}", Count(pages, "page"), HumanSize(use.page_size));
  std::vector<std::string> divided;
  for (size_t layout = 1; layout < use.layouts.size(); ++layout) {
    if (use.layouts[layout] == 0) continue;
    const size_t chunks =
        smb::PageBitmap(static_cast<uint32_t>(layout) << smb::PageBitmap::kLayoutShift).chunks();
    divided.push_back(chunks == 0 ? std::string("a layout that does not exist")
                                  : fmt::format("{} each", Count(chunks, "chunk")));
  }
  if (!divided.empty()) text += ", " + Joined(divided, " or ");
  return text;
}

std::string PictureHeading(const MemoryFollower& memory, const SmbProducers& producers,
                           uint64_t start_ns) {
  const smb::SeenMemory& seen = *memory.seen();
  return fmt::format("{} at {}: {} of {} free", SmbProducerText(memory.use().producer, producers),
                     HumanDuration(Offset(seen.time_ns, start_ns)), WithCommas(seen.counts.free),
                     Count(seen.counts.all(), "chunk"));
}

void ReportMemories(Report& report, const std::vector<const MemoryFollower*>& memories,
                    const SmbProducers& producers, uint64_t start_ns, MemoryDetail detail) {
  Json data = Json::array();
  Table table({{"producer"},
               {"size", Align::kRight},
               {"chunks", Align::kRight},
               {"looks", Align::kRight},
               {"mean use", Align::kRight},
               {"most used", Align::kRight},
               {"no chunk free", Align::kRight}});
  Table steps = StepTable({{"producer"}});
  Table by_writer = StepTable({{"sequence"}});
  for (const MemoryFollower* const memory : memories) {
    const MemoryUse& use = memory->use();
    Json json = MemoryJson(*memory, producers);
    if (!memory->ways().by_writer().empty()) json["writers"] = WritersJson(*memory);
    data.push_back(std::move(json));
    const bool seen = use.looks > 0;
    const auto mean = use.MeanUse();
    table.AddRow({SmbProducerText(use.producer, producers), BytesCell(use.size),
                  seen ? CountCell(use.chunks) : Cell("-"), CountCell(use.looks),
                  mean ? Cell(fmt::format("{:.1f}%", *mean * 100)) : Cell("-"),
                  seen ? CountCell(use.peak->counts.used()) : Cell("-"),
                  seen ? Cell(TimesText(use.full)) : Cell("-")});
    const std::string who = SmbProducerText(use.producer, producers);
    AddSteps({who}, memory->ways().steps(), steps);
    for (const auto& [writer, its] : memory->ways().by_writer())
      AddSteps({ToString(SequenceKey{use.producer, writer})}, its, by_writer);
  }
  report.Data("memories", std::move(data));
  if (memories.empty()) {
    report.Paragraph("The log has no producer with shared memory.");
    return;
  }
  report.Section("shared memory", table, kSmbIndent);
  report.Print("\n");
  for (const MemoryFollower* const memory : memories)
    ReportDetails(report, memory->use(), producers, start_ns);
  if (detail == MemoryDetail::kSteps) {
    report.Section("time of chunks in each step (upper limits)", steps, kSmbIndent);
    report.Section("the same by writer", by_writer, kSmbIndent);
  }
  const bool any = std::any_of(memories.begin(), memories.end(), [](const MemoryFollower* memory) {
    return memory->use().looks > 0;
  });
  report.Print("\n");
  report.Paragraph(
      any ? "All of this is sampled: the recorder looks before commits and while "
            "chunks are in use, and what happens between two looks is not seen. Times are "
            "ranges: the least and the most that fit the looks."
          : "Looks are logged by 'ringscope record' unless --smb-looks is off; logs of "
            "older versions, imports and emulated memory have none.");
}

}  // namespace ringscope
