// Any bytes imported as a trace: no crash, and a replay with at most as many packets.

#include <cstdlib>

#include "core/base/wire.h"
#include "core/session/replay.h"
#include "formats/trace/perfetto_trace.h"
#include "formats/trace/trace_import.h"

namespace {

using namespace ringscope;

class Counter : public ReplayListener {
 public:
  Status OnPacket(const SessionPacket& packet) override {
    if (!packet.valid) std::abort();
    ++packets;
    return {};
  }
  uint64_t packets = 0;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  auto reader = TraceReader::Open(MakeMemorySource(std::string(wire::AsText({data, size}))),
                                  TraceReader::OnDamage::kSkip);
  if (!reader) return 0;
  TraceImport import(
      {.name = "fuzz", .sorter = {.folder = "/tmp", .run_bytes = 4096, .merge_bytes = 1 << 16}});
  RawPacket packet;
  while (true) {
    const auto more = (*reader)->Next(packet);
    if (!more) std::abort();  // damage is no error here
    if (!*more) break;
    if (!import.Add(packet, ViewTracePacket(packet.bytes))) return 0;
  }
  Counter counter;
  ReplayOptions options;
  options.session.all = {
      .engine = "v2", .size = uint64_t{64} << 10, .policy = FillPolicy::kDiscard};
  Replay replay(options, counter);
  const Status written = import.Write([&](const Op& op) { return replay.Apply(op); });
  if (!written || !replay.Finish()) return 0;
  if (counter.packets > import.report().packets) std::abort();
  return 0;
}
