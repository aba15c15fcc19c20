#ifndef RINGSCOPE_CORE_LEDGER_LEDGER_SINKS_H_
#define RINGSCOPE_CORE_LEDGER_LEDGER_SINKS_H_

#include <utility>
#include <vector>

#include "core/ledger/ledger.h"

namespace ringscope {

/// Hands the ledger's entries to several sinks, in this order. They are not owned.
class LedgerSinks : public LedgerSink {
 public:
  explicit LedgerSinks(std::vector<LedgerSink*> sinks) : sinks_(std::move(sinks)) {}

  void OnChunkWritten(BufferId buffer, WrittenCommit& commit) override {
    for (LedgerSink* sink : sinks_) sink->OnChunkWritten(buffer, commit);
  }
  void OnPacketFate(const PacketAccount& account) override {
    for (LedgerSink* sink : sinks_) sink->OnPacketFate(account);
  }
  void OnDuplicate(const PacketAccount& account) override {
    for (LedgerSink* sink : sinks_) sink->OnDuplicate(account);
  }
  void OnChunkForgotten(BufferId buffer, SequenceKey sequence, uint64_t chunk) override {
    for (LedgerSink* sink : sinks_) sink->OnChunkForgotten(buffer, sequence, chunk);
  }

 private:
  const std::vector<LedgerSink*> sinks_;
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_LEDGER_LEDGER_SINKS_H_
