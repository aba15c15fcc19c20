#include "core/session/session_notes.h"

namespace ringscope {

void SessionNotes::OnRecord(const Op& op, const LogMoment&) {
  if (!start_ns_) start_ns_ = op.time_ns;
  if (const auto* connected = std::get_if<ProducerConnected>(&op.body))
    producers_[connected->producer] = {connected->name, connected->smb_size};
  if (const auto* memory = std::get_if<SharedMemorySetUp>(&op.body))
    producers_[memory->producer].smb_size = memory->size;
}

std::string SessionNotes::ProducerOf(SequenceKey sequence) const {
  const auto producer = producers_.find(sequence.producer);
  return producer == producers_.end() ? "" : producer->second.name;
}

std::optional<uint64_t> SessionNotes::SharedMemoryOf(SequenceKey sequence) const {
  const auto producer = producers_.find(sequence.producer);
  return producer == producers_.end() ? std::nullopt : producer->second.smb_size;
}

}  // namespace ringscope
