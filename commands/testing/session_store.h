#ifndef RINGSCOPE_COMMANDS_TESTING_SESSION_STORE_H_
#define RINGSCOPE_COMMANDS_TESTING_SESSION_STORE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/engine/engine.h"
#include "core/log/op.h"
#include "core/session/session.h"

namespace ringscope::testing {

/// The buffers of one tracing session, in the service: takes in what its producers may write, and
/// returns packets as they go into the trace.
class SessionStore {
 public:
  SessionStore();

  struct NewBuffer {
    BufferId id{};
    uint32_t index = 0;  // in the trace config
    uint64_t size = 0;   // bytes
    FillPolicy policy = FillPolicy::kRingBuffer;
    std::string engine;                       // "v1" or "v2"
    std::shared_ptr<Engine> content = {};     // of a clone; absent: it is empty
    std::vector<ProtoVmSetUp> programs = {};  // of a clone, with their states
  };
  Status SetUp(NewBuffer buffer);
  bool Has(BufferId id) const { return engines_.contains(id); }

  /// What the service knows of producers: who is connected and may write where.
  void Apply(const OpBody& fact);
  /// Chunks and patches for these buffers, chunks with their bytes.
  void Commit(ProducerId producer, Bytes request, Origin origin);

  struct Pass {
    std::vector<std::string> packets;  // with trusted fields
    bool at_limit = false;             // there may be more
  };
  /// One pass over all buffers.
  Pass Read(uint64_t max_bytes);

  /// A copy of the buffer as it is, to be read.
  Result<std::shared_ptr<Engine>> Copy(BufferId id) const;
  /// The buffer itself; an empty one takes its place.
  Result<std::shared_ptr<Engine>> Take(BufferId id);
  /// The buffer's programs with their states of now, for each producer.
  std::vector<ProtoVmSetUp> Programs(BufferId id) const;
  bool HoldsData(BufferId id) const;
  void Clear(BufferId id);

  /// A TraceStats message of these buffers.
  /// @param service counters of the service itself
  std::string TraceStats(const ServiceStats& service);
  const ServiceStats& stats() const { return session_->stats(); }

 private:
  class Collector;

  std::map<BufferId, std::shared_ptr<Engine>> engines_;
  std::set<BufferId> observed_;      // because programs are fed
  std::shared_ptr<Engine> content_;  // of the buffer that is being set up
  std::shared_ptr<Collector> collector_;
  std::unique_ptr<Session> session_;
};

}  // namespace ringscope::testing

#endif  // RINGSCOPE_COMMANDS_TESTING_SESSION_STORE_H_
