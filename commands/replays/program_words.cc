#include "commands/replays/program_words.h"

#include <fmt/format.h>

#include <vector>

#include "commands/shell/text.h"
#include "commands/view/json_fields.h"
#include "core/base/text.h"

namespace ringscope {

void ListFields(JsonFieldWriter& io, const protovm::VmFailure& failure) {
  io("result", failure.result, "reason", failure.reason, "instruction", failure.place, "text",
     Describe(failure.reason), "packets", failure.count.packets, "first", failure.first);
}

namespace {

using protovm::VmAccount;
using protovm::VmFailure;

std::string SourceText(const VmAccount& vm) {
  return vm.data_source.empty() ? std::string("(no name)") : Printable(vm.data_source);
}

/// What is to be known about a program beside its counts, a sentence each.
std::vector<std::string> NotesOf(const VmAccount& vm, BufferId buffer) {
  std::vector<std::string> notes;
  if (vm.by_engine)
    notes.push_back(
        fmt::format("buffer {} runs it itself, so that all that it folded counts as "
                    "lost",
                    Raw(buffer)));
  if (vm.left) notes.emplace_back("its state left with the buffer's content, for a clone");
  if (vm.limit_reached)
    notes.push_back(fmt::format("at its memory limit of {} since record {}: it dropped {} and {}",
                                HumanSize(vm.limit), vm.limit_reached->record.value_or(0),
                                Count(vm.at_limit.packets, "packet"),
                                Count(vm.dropped_elements, "element")));
  for (const VmFailure& failure : vm.failures)
    notes.push_back(fmt::format("{} ended with {} at {}: {}", Count(failure.count.packets, "run"),
                                Name(failure.result), failure.place, Describe(failure.reason)));
  return notes;
}

Table ProgramTable(const ReplayOutcome& outcome) {
  const Align right = Align::kRight;
  Table table({{"program of", Align::kLeft, "data_source"},
               {"buffer", right, "buffer"},
               {"folded", right, "folded.packets"},
               DataColumn("folded.bytes"),
               {"in trace", right, "in_trace.packets"},
               DataColumn("in_trace.bytes"),
               {"errors", right, "errors"},
               {"aborted", right, "aborted"},
               DataColumn("at_limit.packets"),
               DataColumn("at_limit.elements"),
               DataColumn("at_limit.first"),
               {"state", right, "state_bytes"},
               {"memory", right, "memory"},
               DataColumn("peak_memory"),
               {"limit", right, "memory_limit"},
               DataColumn("program_bytes"),
               DataColumn("failures"),
               DataColumn("by_engine"),
               DataColumn("left_with_buffer")});
  for (const BufferOutcome& buffer : outcome.buffers)
    for (const VmAccount& vm : buffer.vms)
      table.AddRow({Cell(SourceText(vm), vm.data_source), NumberCell(Raw(buffer.id)),
                    CountCell(vm.folded.packets), DataCell(vm.folded.bytes),
                    CountCell(vm.in_trace.packets), DataCell(vm.in_trace.bytes),
                    CountCell(vm.errors), CountCell(vm.aborted), DataCell(vm.at_limit.packets),
                    DataCell(vm.dropped_elements), DataCell(FieldsToJson(vm.limit_reached)),
                    BytesCell(vm.state_bytes), BytesCell(vm.memory), DataCell(vm.peak_memory),
                    BytesCell(vm.limit), DataCell(vm.program_bytes),
                    DataCell(FieldsToJson(vm.failures)), DataCell(vm.by_engine),
                    DataCell(vm.left)});
  return table;
}

}  // namespace

std::string FoldedText(const ReplayOutcome& outcome, const PacketCount& folded) {
  VmRuns runs;
  for (const BufferOutcome& buffer : outcome.buffers) {
    const VmRuns of_buffer = buffer.programs();
    runs.folded += of_buffer.folded;
    runs.in_trace += of_buffer.in_trace;
    runs.errors += of_buffer.errors;
    runs.aborted += of_buffer.aborted;
  }
  const bool is_read = runs.in_trace > 0;
  if (runs.folded + runs.errors + runs.aborted == 0) return {};
  std::vector<std::string> parts;
  if (folded.packets > 0)
    parts.push_back(
        fmt::format("{} ({}) {} overwritten, but {} content is in a state (ProtoVM){}",
                    Count(folded.packets, "packet"), HumanSize(folded.bytes), Was(folded.packets),
                    folded.packets == 1 ? "its" : "their",
                    is_read ? ", which is in the trace" : ", which the first read would write"));
  if (is_read && runs.folded > runs.in_trace)
    parts.push_back(
        fmt::format("{} {} folded after the only read that writes the state, so that "
                    "{} lost",
                    Count(runs.folded - runs.in_trace, "packet"), Was(runs.folded - runs.in_trace),
                    runs.folded - runs.in_trace == 1 ? "it is" : "they are"));
  if (runs.errors + runs.aborted > 0)
    parts.push_back(fmt::format("programs' runs: {} ended with an error, {} aborted",
                                WithCommas(runs.errors), WithCommas(runs.aborted)));
  return Joined(parts, "; ");
}

void PrintPrograms(Report& out, const ReplayOutcome& outcome) {
  const Table table = ProgramTable(outcome);
  if (table.empty()) return;
  out.Heading("Programs (ProtoVM), which fold what is overwritten into states");
  out.Print(table, 2);
  for (const BufferOutcome& buffer : outcome.buffers)
    for (const VmAccount& vm : buffer.vms)
      for (const std::string& note : NotesOf(vm, buffer.id))
        out.Paragraph(fmt::format("{}: {}", SourceText(vm), note), 2);
}

Json ProgramsJson(const ReplayOutcome& outcome) { return ProgramTable(outcome).ToJson(); }

}  // namespace ringscope
