#ifndef RINGSCOPE_CORE_LOG_ADDED_BUFFERS_H_
#define RINGSCOPE_CORE_LOG_ADDED_BUFFERS_H_

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/log/changed_source.h"
#include "core/log/op.h"
#include "core/perfetto/commit_request.h"
#include "core/perfetto/trace_config_facts.h"

namespace ringscope {

/// Config and buffers of a log that was recorded without the consumer that asked for them.
struct UnrecordedBuffers {
  std::string trace_config;              // a TraceConfig message, if it is known
  std::vector<ConfiguredBuffer> config;  // in order, which the service's ids have, too
  std::map<BufferId, uint64_t> sizes;    // bytes, by id

  bool empty() const { return config.empty() && sizes.empty() && trace_config.empty(); }
};

/// Adds to a session's records its config, before the first buffer or commit, and its buffers,
/// before the first commit, if the log lacks them. Ids begin with the lowest that writers name.
class AddedBuffers : public ChangedSource {
 public:
  template <typename Source>
  AddedBuffers(Source&& source, UnrecordedBuffers buffers)
      : ChangedSource(std::forward<Source>(source)), buffers_(std::move(buffers)) {}

 private:
  bool HasChanges() const override { return !buffers_.empty(); }
  void Change(Op op) override;
  void SetUpBefore(const Op& commit);

  UnrecordedBuffers buffers_;  // that are still to be set up
  std::optional<BufferId> lowest_;
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_LOG_ADDED_BUFFERS_H_
