#include "core/doctor/writer_shares.h"

#include <algorithm>
#include <map>
#include <utility>

#include "core/doctor/examiner.h"
#include "core/perfetto/trusted_fields.h"

namespace ringscope {

WriterShares WriterSharesOf(const TraceFacts& facts) {
  const Examiner examiner(facts);
  WriterShares shares;
  const auto counts_all = [&](const WriterAccount& writer) {
    const auto& buffers = examiner.config.buffers;
    return writer.buffer < buffers.size() && buffers[writer.buffer].is_v2;
  };
  const bool has_discarded = std::ranges::any_of(
      facts.buffers, [](const TraceBuffer& buffer) { return buffer.stats.chunks_discarded > 0; });
  shares.of_all =
      !facts.writers.empty() && !has_discarded && std::ranges::all_of(facts.writers, counts_all);
  std::map<uint32_t, WriterShare> by_id;
  for (const TraceSequence& sequence : facts.sequences) {
    if (sequence.id == 0 || sequence.id == kServiceSequenceId || sequence.machine != 0) continue;
    WriterShare& share = by_id[sequence.id];
    share.name = WriterName(examiner, sequence);
    share.buffer = sequence.buffer;
    share.packets_left = sequence.all.packets;
    share.unusable = sequence.skipped;
    if (!shares.of_all) share.bytes = sequence.all.bytes;
  }
  if (shares.of_all)
    for (const WriterAccount& writer : facts.writers) {
      WriterShare& share = by_id[writer.sequence];
      share.buffer = writer.buffer;
      share.bytes += writer.bytes;
    }
  for (auto& [id, share] : by_id) {
    share.sequence = id;
    shares.bytes += share.bytes;
    shares.writers.push_back(std::move(share));
  }
  std::ranges::stable_sort(shares.writers, std::ranges::greater(), &WriterShare::bytes);
  return shares;
}

}  // namespace ringscope
