#include "commands/replays/program_words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

#include "commands/replays/loss_words.h"
#include "commands/shell/text.h"
#include "core/base/text.h"

namespace ringscope {
namespace {

using protovm::RunResult;
using protovm::VmAccount;
using protovm::VmFailure;

std::string SourceText(const VmAccount& vm) {
  return vm.data_source.empty() ? std::string("(no name)") : Printable(vm.data_source);
}

std::string ProducersText(const VmAccount& vm) {
  std::vector<std::string> ids;
  for (const ProducerId producer : vm.producers) ids.push_back(std::to_string(Raw(producer)));
  return fmt::format("{}", fmt::join(ids, ", "));
}

std::string FailureText(const VmFailure& failure) {
  const char* ended = failure.result == RunResult::kError   ? "ended with an error"
                      : failure.result == RunResult::kAbort ? "aborted"
                      : failure.result == RunResult::kCrash ? "would crash the service"
                                                            : "took too many steps for ringscope";
  return fmt::format("{} {}", Count(failure.count.packets, "run"), ended);
}

/// What the memory limit did to a state; empty: nothing.
std::string LimitText(const VmAccount& vm, const SessionNotes& notes) {
  if (!vm.limit_reached) return {};
  std::vector<std::string> dropped;
  if (vm.at_limit.packets > 0)
    dropped.push_back(fmt::format("{} ({}), whose runs it aborted",
                                  Count(vm.at_limit.packets, "packet"),
                                  HumanSize(vm.at_limit.bytes)));
  if (vm.dropped_elements > 0)
    dropped.push_back(
        fmt::format("{} that merges left out", Count(vm.dropped_elements, "element")));
  return fmt::format("{}: at its memory limit of {} since {}: it dropped {}", SourceText(vm),
                     HumanSize(vm.limit), MomentText(notes, *vm.limit_reached), Joined(dropped));
}

Json FailureJson(const VmFailure& failure) {
  return {{"result", Name(failure.result)},    {"reason", Name(failure.reason)},
          {"instruction", failure.place},      {"text", Describe(failure.reason)},
          {"packets", failure.count.packets},  {"bytes", failure.count.bytes},
          {"first", MomentJson(failure.first)}};
}

}  // namespace

std::string FoldedText(const ReplayOutcome& outcome, const PacketCount& folded) {
  VmRuns runs;
  bool is_read = false;
  for (const BufferOutcome& buffer : outcome.buffers) {
    const VmRuns of_buffer = buffer.programs();
    runs.folded += of_buffer.folded;
    runs.in_trace += of_buffer.in_trace;
    runs.errors += of_buffer.errors;
    runs.aborted += of_buffer.aborted;
    is_read |= of_buffer.in_trace > 0;
  }
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

void PrintPrograms(Report& out, const ReplayOutcome& outcome, const SessionNotes& notes) {
  Table table({{"program of", Align::kLeft},
               {"buffer", Align::kRight},
               {"producers", Align::kLeft},
               {"folded", Align::kRight},
               {"in trace", Align::kRight},
               {"failed", Align::kRight},
               {"state", Align::kRight},
               {"memory", Align::kRight},
               {"limit", Align::kRight}});
  std::vector<std::string> details;
  for (const BufferOutcome& buffer : outcome.buffers) {
    for (const VmAccount& vm : buffer.vms) {
      const auto known = [&](uint64_t count) { return vm.by_engine ? "?" : WithCommas(count); };
      table.AddRow({SourceText(vm), std::to_string(Raw(buffer.id)), ProducersText(vm),
                    known(vm.folded.packets), known(vm.in_trace.packets),
                    known(vm.errors + vm.aborted), HumanSize(vm.state_bytes), HumanSize(vm.memory),
                    HumanSize(vm.limit)});
      if (vm.by_engine)
        details.push_back(
            fmt::format("{}: buffer {} runs it itself: which of the packets that it "
                        "overwrote are folded is not known, so that all count as lost",
                        SourceText(vm), Raw(buffer.id)));
      if (vm.left)
        details.push_back(
            fmt::format("{}: the state left with all that buffer {} held, for a clone",
                        SourceText(vm), Raw(buffer.id)));
      if (const std::string text = LimitText(vm, notes); !text.empty()) details.push_back(text);
      for (const VmFailure& failure : vm.failures)
        details.push_back(fmt::format("{}: {}, first at {}: {}: {}", SourceText(vm),
                                      FailureText(failure), MomentText(notes, failure.first),
                                      failure.place, Describe(failure.reason)));
      if (vm.unlisted_failures > 0)
        details.push_back(fmt::format("{}: and {} that failed in other ways", SourceText(vm),
                                      Count(vm.unlisted_failures, "run")));
    }
  }
  if (table.empty()) return;
  out.Heading("Programs (ProtoVM), which fold what is overwritten into states");
  out.Print(table, 2);
  for (const std::string& text : details) out.Paragraph(text, 2);
}

Json ProgramsJson(const ReplayOutcome& outcome) {
  Json programs = Json::array();
  for (const BufferOutcome& buffer : outcome.buffers) {
    for (const VmAccount& vm : buffer.vms) {
      Json producers = Json::array(), failures = Json::array();
      for (const ProducerId producer : vm.producers) producers.push_back(Raw(producer));
      for (const VmFailure& failure : vm.failures) failures.push_back(FailureJson(failure));
      programs.push_back(
          {{"buffer", Raw(buffer.id)},
           {"data_source", vm.data_source},
           {"producers", std::move(producers)},
           {"memory_limit_kb", vm.memory_limit_kb},
           {"memory_limit", vm.limit},
           {"memory", vm.memory},
           {"peak_memory", vm.peak_memory},
           {"program_bytes", vm.program_bytes},
           {"state_bytes", vm.state_bytes},
           {"folded", {{"packets", vm.folded.packets}, {"bytes", vm.folded.bytes}}},
           {"in_trace", {{"packets", vm.in_trace.packets}, {"bytes", vm.in_trace.bytes}}},
           {"errors", vm.errors},
           {"aborted", vm.aborted},
           {"at_limit",
            {{"packets", vm.at_limit.packets},
             {"bytes", vm.at_limit.bytes},
             {"elements", vm.dropped_elements},
             {"first", vm.limit_reached ? MomentJson(*vm.limit_reached) : Json()}}},
           {"failures", std::move(failures)},
           {"failures_not_listed", vm.unlisted_failures},
           {"stopped", vm.stopped == RunResult::kOk ? Json() : Json(Name(vm.stopped))},
           {"by_engine", vm.by_engine},
           {"left_with_buffer", vm.left}});
    }
  }
  return programs;
}

}  // namespace ringscope
