#ifndef RINGSCOPE_COMMANDS_BENCH_WORKLOADS_H_
#define RINGSCOPE_COMMANDS_BENCH_WORKLOADS_H_

#include <vector>

#include "commands/bench/bench_run.h"
#include "commands/shell/context.h"

namespace ringscope {

/// The standard workloads, the same everywhere: chunks of 5 to 15 packets of 50 to 500 bytes that
/// go around a ring three times, from one writer and from 1,000; a full buffer that is read, also
/// of packets of 20 to 60 bytes and of packets over 2 to 20 chunks; chunks that are patched.
std::vector<Workload> StandardWorkloads();

/// What the buffers of the logs' sessions had to do, one workload each, by log and buffer. Buffers
/// without operations are left out.
Result<std::vector<Workload>> LogWorkloads(const std::vector<std::string>& logs, Context& context);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_BENCH_WORKLOADS_H_
