#include "core/log/added_buffers.h"

#include <algorithm>
#include <utility>

namespace ringscope {

void AddedBuffers::Change(Op op) {
  const auto* const setup = std::get_if<BufferSetUp>(&op.body);
  const bool is_commit = std::holds_alternative<Commit>(op.body);
  if (std::holds_alternative<TraceConfigRecord>(op.body)) buffers_.trace_config.clear();
  if ((setup != nullptr || is_commit) && !buffers_.trace_config.empty()) {
    TraceConfigRecord config{.config = std::exchange(buffers_.trace_config, {}), .session = {}};
    if (setup != nullptr) config.session = setup->session;
    Add({.time_ns = op.time_ns, .body = std::move(config)});
  }
  if (const auto* writer = std::get_if<WriterRegistered>(&op.body))
    lowest_ = std::min(lowest_.value_or(writer->buffer), writer->buffer);
  if (is_commit) SetUpBefore(op);
  if (setup != nullptr) buffers_ = {};  // the log knows them
  Add(std::move(op));
}

void AddedBuffers::SetUpBefore(const Op& commit) {
  CommitRequestParser parser;
  static_cast<void>(parser.Parse(std::get<Commit>(commit.body).request));
  for (const ChunkToMove& chunk : parser.chunks())
    if (chunk.target_buffer && *chunk.target_buffer <= UINT16_MAX) {
      const BufferId id{static_cast<uint16_t>(*chunk.target_buffer)};
      lowest_ = std::min(lowest_.value_or(id), id);
    }
  std::map<BufferId, BufferSetUp> setups;
  for (uint32_t i = 0; i < buffers_.config.size(); ++i) {
    const ConfiguredBuffer& buffer = buffers_.config[i];
    const BufferId id{static_cast<uint16_t>(Raw(lowest_.value_or(BufferId{1})) + i)};
    setups[id] = {.id = id,
                  .index = i,
                  .size = buffer.size_kb * 1024,
                  .policy = buffer.policy,
                  .engine = buffer.engine()};
  }
  for (const auto& [id, size] : buffers_.sizes)
    setups.try_emplace(id, BufferSetUp{.id = id, .index = {}, .size = size, .engine = {}});
  for (auto& [id, setup] : setups) Add({.time_ns = commit.time_ns, .body = std::move(setup)});
  buffers_ = {};
}

}  // namespace ringscope
