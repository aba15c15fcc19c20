// What a patch costs a VM.

#include <benchmark/benchmark.h>

#include <vector>

#include "core/protovm/proto_vm.h"
#include "core/testing/protovm_dsl.h"

namespace ringscope::protovm {
namespace {

using namespace testing::vm;  // NOLINT: programs

/// One element of so many is merged, by its key.
void BM_ProtoVmMergesByKey(benchmark::State& state) {
  const auto elements = static_cast<uint64_t>(state.range(0));
  const std::string program = ElementsProgram();
  ProtoVm vm(kProtoVm57, wire::AsBytes(program), uint64_t{64} << 20);
  std::vector<std::string> patches;
  for (uint64_t n = 0; n < elements; ++n)
    patches.push_back(Sub(2, Element(n * 7919 % elements, n)));
  for (const std::string& patch : patches) vm.Run(wire::AsBytes(patch));
  size_t next = 0;
  for (auto _ : state) {
    const RunOutcome outcome = vm.Run(wire::AsBytes(patches[next]));
    if (outcome.result != RunResult::kOk) state.SkipWithError("a patch was not taken");
    next = next + 1 == patches.size() ? 0 : next + 1;
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_ProtoVmMergesByKey)->Arg(1)->Arg(100)->Arg(10'000)->Arg(100'000);

void BM_ProtoVmSetsAField(benchmark::State& state) {
  const std::string program = ProgramOf({SelectSrc({Field(1)}, {SelectDst({Field(2)}, {Set()})})});
  ProtoVm vm(kProtoVm57, wire::AsBytes(program), uint64_t{1} << 20);
  const std::string patch = Sub(1, std::string(static_cast<size_t>(state.range(0)), 'x'));
  for (auto _ : state) vm.Run(wire::AsBytes(patch));
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_ProtoVmSetsAField)->Arg(16)->Arg(1024);

void BM_ProtoVmSerializes(benchmark::State& state) {
  const std::string program = ElementsProgram();
  ProtoVm vm(kProtoVm57, wire::AsBytes(program), uint64_t{64} << 20);
  for (uint64_t n = 0; n < static_cast<uint64_t>(state.range(0)); ++n)
    vm.Run(wire::AsBytes(Sub(2, Element(n, n))));
  for (auto _ : state) benchmark::DoNotOptimize(vm.SerializeState());
}
BENCHMARK(BM_ProtoVmSerializes)->Arg(10'000);

}  // namespace
}  // namespace ringscope::protovm
