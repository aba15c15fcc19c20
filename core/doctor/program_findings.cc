// Programs (ProtoVM) of the trace, run over its own patches.

#include <fmt/format.h>

#include <vector>

#include "core/base/text.h"
#include "core/doctor/examiner.h"

namespace ringscope {
namespace {

using protovm::RunResult;
using protovm::VmAccount;

std::string Patches(uint64_t count) {
  return fmt::format("{} patch{}", WithCommas(count), count == 1 ? "" : "es");
}

std::string ProgramName(const VmAccount& vm, size_t index) {
  std::vector<std::string> ids;
  for (const ProducerId producer : vm.producers) ids.push_back(std::to_string(Raw(producer)));
  return fmt::format("program {} of {} {}", index, ids.size() == 1 ? "producer" : "producers",
                     ids.empty() ? "(none)" : Joined(ids));
}

/// Where and why runs ended so, the first few.
std::string FailuresText(const protovm::TraceVmFacts& facts, RunResult result) {
  constexpr size_t kMost = 3;
  std::vector<std::string> texts;
  for (size_t i = 0; i < facts.vms.size(); ++i) {
    for (const protovm::VmFailure& failure : facts.vms[i].failures) {
      if (failure.result != result || texts.size() == kMost) continue;
      texts.push_back(fmt::format(
          "{}, first at packet {} of the file, at {}: {}", ProgramName(facts.vms[i], i),
          WithCommas(failure.first.record.value_or(0)), failure.place, Describe(failure.reason)));
    }
  }
  return Joined(texts, "; ");
}

uint64_t Failures(const protovm::TraceVmFacts& facts, RunResult result) {
  uint64_t packets = 0;
  for (const VmAccount& vm : facts.vms)
    for (const protovm::VmFailure& failure : vm.failures)
      packets += failure.result == result ? failure.count.packets : 0;
  return packets;
}

/// The data source whose config has the program's limit; it has no other name in the trace.
std::optional<ConfigChange> LargerLimit(const Examiner& examiner, uint32_t limit_kb) {
  std::optional<ConfigChange> change;
  for (size_t i = 0; i < examiner.config.sources.size(); ++i) {
    if (examiner.config.sources[i].protovm_limit_kb != limit_kb) continue;
    if (change) return std::nullopt;  // it is not known which
    change = {fmt::format("data_sources[{}].config.protovm_config.memory_limit_kb", i),
              std::to_string(uint64_t{limit_kb} * 2), "the state needs more than its limit", true};
  }
  return change;
}

void ExamineLimits(Examiner& examiner) {
  const protovm::TraceVmFacts& facts = examiner.facts.programs;
  for (size_t i = 0; i < facts.vms.size(); ++i) {
    const VmAccount& vm = facts.vms[i];
    if (!vm.limit_reached) continue;
    Finding& finding =
        examiner.Add("protovm.limit", fmt::format("The state of {} is at its limit of {}.",
                                                  ProgramName(vm, i), HumanSize(vm.limit)));
    std::vector<std::string> dropped;
    if (vm.at_limit.packets > 0) dropped.push_back(Patches(vm.at_limit.packets));
    if (vm.dropped_elements > 0)
      dropped.push_back(Count(vm.dropped_elements, "element") + " of merges");
    finding.cause = fmt::format("It took {} more; {} did not fit, first in packet {} of the file.",
                                Patches(vm.folded.packets), Joined(dropped, " and "),
                                WithCommas(vm.limit_reached->record.value_or(0)));
    finding.proof = "The program, run over the patches of the trace as trace processor does.";
    finding.weight = vm.at_limit.packets + vm.dropped_elements;
    if (auto change = LargerLimit(examiner, vm.memory_limit_kb))
      finding.changes.push_back(*std::move(change));
  }
}

}  // namespace

void ExaminePrograms(Examiner& examiner) {
  const protovm::TraceVmFacts& facts = examiner.facts.programs;
  if (facts.registration_errors > 0) {
    Finding& finding = examiner.Add(
        "protovm.registration",
        fmt::format("{} of programs {} not in the trace's list of sequences.",
                    Count(facts.registration_errors, "producer"), Is(facts.registration_errors)));
    finding.cause = "Their patches stay patches: no program turns them into states.";
    finding.proof = "protovms and trace_provenance of the trace.";
    finding.weight = facts.registration_errors;
  }
  if (facts.aborts > 0) {
    Finding& finding = examiner.Add(
        "protovm.abort", fmt::format("Programs (ProtoVM) aborted at {}.", Patches(facts.aborts)));
    finding.where = FailuresText(facts, RunResult::kAbort);
    finding.proof = "The programs, run over the patches of the trace as trace processor does.";
    finding.weight = facts.aborts;
  }
  ExamineLimits(examiner);
  if (Failures(facts, RunResult::kCrash) > 0) {
    Finding& finding =
        examiner.Add("protovm.crash", "A program makes a state that trace processor cannot write.");
    finding.where = FailuresText(facts, RunResult::kCrash);
    finding.proof = "The programs, run over the patches of the trace.";
    finding.weight = Failures(facts, RunResult::kCrash);
  }
  if (facts.not_run > 0)
    examiner.Unknown(fmt::format(
        "What {} of the trace would do: with their limits, {} need more than the {} that doctor "
        "keeps for all states.",
        Count(facts.not_run, "program"), facts.not_run == 1 ? "it would" : "they would",
        HumanSize(protovm::TraceVms::kMaxMemory)));
  if (facts.gave_up || Failures(facts, RunResult::kTooLong) > 0)
    examiner.Unknown(
        "What the programs of the trace do with all its patches: they take too many "
        "steps.");
  uint64_t states = 0, errors = 0;
  for (const VmAccount& vm : facts.vms) states += vm.folded.packets, errors += vm.errors;
  if (facts.vms.empty()) return;
  if (facts.aborts == 0 && facts.registration_errors == 0 && facts.not_run == 0 && !facts.gave_up)
    examiner.Well(fmt::format("{} (ProtoVM) turn{} {} into states{}.",
                              Count(facts.vms.size(), "program"), facts.vms.size() == 1 ? "s" : "",
                              Patches(states),
                              errors == 0 ? ""
                                          : fmt::format("; {} end with an error, and stay "
                                                        "patches",
                                                        WithCommas(errors))));
}

}  // namespace ringscope
