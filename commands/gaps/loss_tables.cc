// What became of all packets, in sums: by buffer, process, content and sequence.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "commands/gaps/gaps_text_parts.h"
#include "commands/replays/loss_words.h"
#include "commands/shell/text.h"
#include "core/base/text.h"
#include "core/perfetto/packet_facts.h"

namespace ringscope {
namespace {

/// What became of all packets, buffer by buffer; the rows add up to the first.
void PrintFates(Report& out, const ShownGaps& selection) {
  for (const BufferGaps& buffer : selection.report.buffers) {
    const BufferOutcome* outcome = selection.BufferOf(buffer.id);
    out.Print(fmt::format("\n{}{}\n", out.Bold(fmt::format("buffer {}", Raw(buffer.id))),
                          outcome == nullptr
                              ? ", never set up"
                              : fmt::format(": {} {}, {}", HumanSize(outcome->size),
                                            Name(outcome->policy), outcome->engine)));
    const FateCount written = buffer.totals.written;
    Table table(
        {{"", Align::kLeft}, {"", Align::kRight}, {"", Align::kRight}, {"", Align::kRight}});
    const auto add = [&](std::string name, const FateCount& count) {
      table.AddRow({std::move(name), WithCommas(count.packets), HumanSize(count.bytes),
                    Percent(count.packets, written.packets)});
    };
    add("packets written", written);
    for (size_t i = 0; i < kFates; ++i) {
      const auto fate = static_cast<Fate>(i);
      const FateCount& count = buffer.totals[fate];
      if (count.packets == 0) continue;
      add(fmt::format("  {}{}", IsLoss(fate) ? "lost: " : "", Name(fate)), count);
    }
    if (buffer.totals.own_fault.packets > 0)
      add("  of these by a buffer bug", buffer.totals.own_fault);
    out.Print(table, 2);
  }
}

/// A name, and what was written and lost under it.
struct NamedSum {
  std::string name;
  FateCount written, lost;
  uint64_t sequences = 0;
};

void PrintSums(Report& out, const char* title, std::vector<NamedSum> sums, uint64_t limit,
               bool with_written) {
  std::ranges::stable_sort(sums, std::ranges::greater(),
                           [](const NamedSum& sum) { return sum.lost.packets; });
  std::erase_if(sums, [](const NamedSum& sum) { return sum.lost.packets == 0; });
  if (sums.empty()) return;
  std::vector<Column> columns = {{title, Align::kLeft}};
  if (with_written)
    columns.insert(columns.end(), {{"sequences", Align::kRight}, {"written", Align::kRight}});
  columns.insert(columns.end(),
                 {{"lost", Align::kRight}, {"", Align::kRight}, {"bytes lost", Align::kRight}});
  uint64_t all = 0;
  for (const NamedSum& sum : sums) all += sum.lost.packets;
  Table table(std::move(columns));
  const size_t shown = CountToShow(sums.size(), limit);
  for (size_t i = 0; i < shown; ++i) {
    const NamedSum& sum = sums[i];
    std::vector<Cell> row = {sum.name};
    if (with_written) {
      row.emplace_back(WithCommas(sum.sequences));
      row.emplace_back(WithCommas(sum.written.packets));
    }
    row.emplace_back(WithCommas(sum.lost.packets));
    row.emplace_back(Percent(sum.lost.packets, with_written ? sum.written.packets : all));
    row.emplace_back(HumanSize(sum.lost.bytes));
    table.AddRow(std::move(row));
  }
  out.Print("\n");
  out.Print(table);
  if (sums.size() > shown) out.Print(fmt::format("and {} more\n", WithCommas(sums.size() - shown)));
}

/// Process by process, if there are sequences enough to be summed up.
void PrintProcesses(Report& out, const ShownGaps& selection, uint64_t limit) {
  std::map<std::string, NamedSum> sums;
  for (const SequenceGaps* sequence : selection.sequences) {
    std::string name = ProducerText(selection.notes, sequence->sequence);
    if (name.empty()) name = fmt::format("producer {}", Raw(sequence->sequence.producer));
    NamedSum& sum = sums[name];
    sum.name = name;
    sum.written += sequence->written();
    sum.lost += sequence->lost();
    ++sum.sequences;
  }
  if (sums.size() == selection.sequences.size()) return;
  std::vector<NamedSum> list;
  for (auto& [name, sum] : sums) list.push_back(std::move(sum));
  PrintSums(out, "process", std::move(list), limit, /*with_written=*/true);
}

/// By what the lost packets are, which is what their data source writes.
void PrintContents(Report& out, const ShownGaps& selection, uint64_t limit) {
  std::map<uint32_t, NamedSum> sums;
  for (const std::vector<const Gap*>* gaps : {&selection.own_fault, &selection.gaps})
    for (const Gap* gap : *gaps)
      for (const ContentCount& content : gap->contents) {
        NamedSum& sum = sums[content.content];
        sum.name = ContentName(content.content);
        sum.lost += content.count;
      }
  if (sums.size() < 2) return;
  std::vector<NamedSum> list;
  for (auto& [content, sum] : sums) list.push_back(std::move(sum));
  PrintSums(out, "content", std::move(list), limit, /*with_written=*/false);
}

/// Sequence by sequence, those that lost most first.
void PrintSequences(Report& out, const ShownGaps& selection, uint64_t limit) {
  std::vector<const SequenceGaps*> sequences;
  for (const SequenceGaps* sequence : selection.sequences)
    if (sequence->lost().packets > 0) sequences.push_back(sequence);
  if (sequences.empty()) return;
  std::stable_sort(sequences.begin(), sequences.end(),
                   [](const SequenceGaps* a, const SequenceGaps* b) {
                     return a->lost().packets > b->lost().packets;
                   });
  constexpr size_t kNameColumns = 18;
  const bool with_buffer = selection.report.buffers.size() > 1;
  std::vector<Column> columns = {
      {"sequence", Align::kLeft}, {"in trace", Align::kRight}, {"process/thread", Align::kLeft}};
  if (with_buffer) columns.push_back({"buffer", Align::kRight});
  for (const char* title : {"written", "lost", "", "gaps", "unflagged"})
    columns.push_back({title, Align::kRight});
  Table table(std::move(columns));
  const size_t shown = CountToShow(sequences.size(), limit);
  for (size_t i = 0; i < shown; ++i) {
    const SequenceGaps& sequence = *sequences[i];
    const auto not_flagged = static_cast<uint64_t>(
        std::ranges::count_if(sequence.gaps, [](const Gap& gap) { return !ShowsLoss(gap.sign); }));
    const uint32_t trace_id = selection.notes.TraceIdOf(sequence.sequence);
    std::vector<Cell> row = {
        ToString(sequence.sequence), trace_id == 0 ? "-" : std::to_string(trace_id),
        Shortened(WriterText(selection.notes, sequence.sequence), kNameColumns)};
    if (with_buffer) row.emplace_back(std::to_string(Raw(sequence.buffer)));
    for (std::string& text : std::array{
             WithCommas(sequence.written().packets), WithCommas(sequence.lost().packets),
             Percent(sequence.lost().packets, sequence.written().packets),
             WithCommas(sequence.gaps.size() + sequence.unlisted_gaps), WithCommas(not_flagged)})
      row.emplace_back(std::move(text));
    table.AddRow(std::move(row));
  }
  out.Print("\n");
  out.Print(table);
  if (sequences.size() > shown)
    out.Print(fmt::format("and {}\n", Count(sequences.size() - shown, "further sequence")));
}

}  // namespace

void PrintLossTables(Report& out, const ShownGaps& selection, uint64_t limit) {
  if (selection.is_filtered && selection.sequences.empty()) return;
  PrintFates(out, selection);
  if (!selection.any_loss) return;
  PrintProcesses(out, selection, limit);
  PrintContents(out, selection, limit);
  PrintSequences(out, selection, limit);
}

}  // namespace ringscope
