// Flushes, and what the service refused.

#include <fmt/format.h>

#include <vector>

#include "core/base/text.h"
#include "core/doctor/examiner.h"

namespace ringscope {
namespace {

void ExamineFlushes(Examiner& examiner) {
  const TraceFacts& facts = examiner.facts;
  const ServiceStats& service = facts.service;
  if (service.flushes_failed > 0) {
    Finding& finding = examiner.Add(
        "flush.failed",
        fmt::format("{} of {} {} not acknowledged in time.", WithCommas(service.flushes_failed),
                    service.flushes_requested == 1
                        ? std::string("1 flush")
                        : WithCommas(service.flushes_requested) + " flushes",
                    service.flushes_failed == 1 ? "was" : "were"));
    finding.proof = "flushes_failed of the service's statistics.";
    finding.cause = "A producer was busy, blocked, or disconnected meanwhile.";
    finding.weight = service.flushes_failed;
    finding.remedy = fmt::format(
        "A longer flush_timeout_ms (it is {} ms); look at the producers that were late.",
        examiner.config.flush_timeout_ms);
  }
  if (facts.final_flushes_failed > 0) {
    Finding& finding =
        examiner.Add("flush.final_failed", "The last flush before the end was not acknowledged.");
    finding.proof = "final_flush_outcome of the service's statistics.";
    finding.cause = "A producer was busy, blocked, or disconnected meanwhile.";
    finding.weight = facts.final_flushes_failed;
  }
  if (facts.stats_packets == 0) return;
  if (service.flushes_failed == 0 && facts.final_flushes_failed == 0 &&
      service.flushes_requested > 0)
    examiner.Well(
        service.flushes_requested == 1
            ? std::string("The flush of the session succeeded.")
            : fmt::format("All {} flushes succeeded.", WithCommas(service.flushes_requested)));
  if (facts.final_flushes_succeeded + facts.final_flushes_failed > 0) return;
  if (examiner.is_of_log())
    examiner.Unknown(
        "Whether the producers were flushed before the end: no record of the log shows it.");
  else
    examiner.Unknown(
        "Whether the producers were flushed before the end: the service did no final flush, which "
        "it leaves to a consumer that stops the session itself.");
}

void ExamineService(Examiner& examiner) {
  const ServiceStats& service = examiner.facts.service;
  const auto add = [&](const char* rule, uint64_t count, const char* one, const char* several,
                       const char* counter) {
    if (count == 0) return;
    Finding& finding = examiner.Add(
        rule,
        fmt::format("The service refused {} {}.", WithCommas(count), count == 1 ? one : several));
    finding.proof = fmt::format("{} of the service's statistics.", counter);
    finding.weight = count;
    finding.cause = "The counter belongs to the service, so that other sessions may be the cause.";
  };
  add("service.chunks_discarded", service.chunks_discarded, "chunk", "chunks", "chunks_discarded");
  add("service.patches_discarded", service.patches_discarded, "patch", "patches",
      "patches_discarded");
  if (service.invalid_packets > 0) {
    Finding& finding =
        examiner.Add("service.invalid_packets",
                     fmt::format("{} {} not valid, and {} not in the trace.",
                                 Count(service.invalid_packets, "packet"),
                                 Was(service.invalid_packets), Is(service.invalid_packets)));
    finding.proof = "invalid_packets of the service's statistics.";
    finding.weight = service.invalid_packets;
  }
}

}  // namespace

void ExamineSession(Examiner& examiner) {
  ExamineFlushes(examiner);
  ExamineService(examiner);
}

}  // namespace ringscope
