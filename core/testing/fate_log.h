#ifndef RINGSCOPE_CORE_TESTING_FATE_LOG_H_
#define RINGSCOPE_CORE_TESTING_FATE_LOG_H_

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "core/ledger/ledger.h"

namespace ringscope::testing {

/// Keeps what a ledger reports, by buffer, sequence, first chunk and offset in it; a correct ledger
/// has one entry per place and kind of fate.
class FateLog : public LedgerSink {
 public:
  void OnPacketFate(const PacketAccount& account) override;

  std::map<std::tuple<BufferId, SequenceKey, uint64_t, uint32_t>, std::vector<PacketAccount>>
      accounts;
  std::map<Fate, uint64_t> fates;
  std::map<Cause, uint64_t> causes;
};

/// Also reads all packets as they are written.
class CuriousFateLog : public FateLog {
 public:
  void OnChunkWritten(BufferId, WrittenCommit& written) override;
};

}  // namespace ringscope::testing

#endif  // RINGSCOPE_CORE_TESTING_FATE_LOG_H_
