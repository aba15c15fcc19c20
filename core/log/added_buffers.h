#ifndef RINGSCOPE_CORE_LOG_ADDED_BUFFERS_H_
#define RINGSCOPE_CORE_LOG_ADDED_BUFFERS_H_

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/log/op.h"
#include "core/perfetto/commit_request.h"
#include "core/perfetto/trace_config_facts.h"

namespace ringscope {

/// Config and buffers of a log that was recorded without the consumer that asked for them.
struct UnrecordedBuffers {
  std::string trace_config;              // a TraceConfig message; empty: not known
  std::vector<ConfiguredBuffer> config;  // in order, which the service's ids have, too
  std::map<BufferId, uint64_t> sizes;    // bytes, by id

  bool empty() const { return config.empty() && sizes.empty() && trace_config.empty(); }
};

/// Adds to a session's records its config, before the first buffer or commit, and its buffers,
/// before the first commit, if the log lacks them. Ids begin with the lowest that writers name.
class AddedBuffers : public OpSource {
 public:
  /// @param source outlives this; it is at the session's first record
  AddedBuffers(OpSource& source, UnrecordedBuffers buffers);
  /// Owns its source.
  AddedBuffers(std::unique_ptr<OpSource> source, UnrecordedBuffers buffers);

  Result<std::optional<Op>> Next() override;

 private:
  void AddBefore(const Op& op);
  void SetUpBefore(const Op& commit);

  std::unique_ptr<OpSource> owned_;
  OpSource& source_;
  UnrecordedBuffers buffers_;  // empty: nothing is to be set up
  std::optional<BufferId> lowest_;
  std::deque<Op> pending_;
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_LOG_ADDED_BUFFERS_H_
