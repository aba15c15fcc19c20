#include "commands/smb/memory_reading.h"

#include <algorithm>

namespace ringscope {

void MemoryReading::Add(const Op& op, uint64_t record) {
  records_ += IsDamage(op.body) ? 0 : 1;
  if (op.time_ns) {
    if (!start_ns_) start_ns_ = op.time_ns;
    last_ns_ = std::max(last_ns_.value_or(*op.time_ns), *op.time_ns);
  }
  if (watch_ && watch_->Passes(op, {.record = record, .time_ns = op.time_ns})) KeepNow();
  if (const auto* connected = std::get_if<ProducerConnected>(&op.body))
    producers_[connected->producer] = {connected->name, connected->smb_size_hint,
                                       connected->page_size_hint};
  story_.Add(op);
  const auto* look = std::get_if<SharedMemoryLook>(&op.body);
  if (look == nullptr || !keeps_fullest_ || !Wants(look->producer)) return;
  const smb::MemoryFollower* const memory = story_.Of(look->producer);
  if (memory == nullptr || !memory->seen()) return;
  auto& fullest = kept_[look->producer];
  if (!fullest || fullest->seen()->counts.used() < memory->seen()->counts.used())
    fullest = std::make_unique<const smb::MemoryFollower>(*memory);
}

void MemoryReading::Finish() {
  if (watch_ && !watch_->has_passed()) KeepNow();
}

void MemoryReading::KeepNow() {
  for (const auto& [id, producer] : producers_) {
    const smb::MemoryFollower* const memory = story_.Of(id);
    if (memory != nullptr && memory->seen() && Wants(id))
      kept_[id] = std::make_unique<const smb::MemoryFollower>(*memory);
  }
}

std::vector<const smb::MemoryFollower*> MemoryReading::Memories() const {
  std::vector<const smb::MemoryFollower*> memories = story_.Memories();
  std::erase_if(memories,
                [&](const smb::MemoryFollower* memory) { return !Wants(memory->use().producer); });
  return memories;
}

std::vector<const smb::MemoryFollower*> MemoryReading::Pictures() const {
  std::vector<const smb::MemoryFollower*> pictures;
  for (const auto& [id, memory] : kept_) pictures.push_back(memory.get());
  return pictures;
}

}  // namespace ringscope
