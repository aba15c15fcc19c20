#include "formats/trace/packets_ahead.h"

#include <system_error>
#include <utility>

#include "core/base/wire.h"

namespace ringscope {

PacketsAhead::PacketsAhead(TraceReader& reader, bool keeps_file, ReadAhead ahead)
    : reader_(reader), keeps_file_(keeps_file) {
  if (ahead == ReadAhead::kNo) return;
  try {
    thread_ = std::thread([this] { FillBlocks(); });
  } catch (const std::system_error&) {
  }
}

PacketsAhead::~PacketsAhead() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

Result<std::optional<PacketsAhead::Packet>> PacketsAhead::Next() {
  while (block_ == nullptr || next_ == block_->items.size()) {
    if (block_ != nullptr && block_->is_last) {
      RS_RETURN_IF_ERROR(block_->status);
      return std::nullopt;
    }
    TakeBlock();
  }
  const Item& item = block_->items[next_++];
  Packet packet{.offset = item.offset,
                .brief = nullptr,
                .brief_bytes = item.brief_bytes,
                .in_file = item.in_file,
                .whole = item.whole};
  if (item.whole == nullptr) packet.brief = &item.brief;
  return packet;
}

void PacketsAhead::TakeBlock() {
  next_ = 0;
  if (!thread_.joinable()) {
    if (block_ == nullptr) block_ = std::make_unique<Block>();
    return FillBlock(*block_);
  }
  std::unique_lock lock(mutex_);
  if (block_ != nullptr) spare_.push_back(std::move(block_));
  changed_.wait(lock, [this] { return !filled_.empty(); });
  block_ = std::move(filled_.front());
  filled_.pop_front();
  large_ahead_ -= block_->large_bytes;
  changed_.notify_all();
}

void PacketsAhead::FillBlocks() {
  while (true) {
    std::unique_ptr<Block> block;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] {
        return stop_ || (filled_.size() < kBlocksAhead && large_ahead_ <= kBlockBytes);
      });
      if (stop_) return;
      if (!spare_.empty()) {
        block = std::move(spare_.back());
        spare_.pop_back();
      }
    }
    if (block == nullptr) block = std::make_unique<Block>();
    FillBlock(*block);
    const bool is_last = block->is_last;
    {
      const std::lock_guard lock(mutex_);
      large_ahead_ += block->large_bytes;
      filled_.push_back(std::move(block));
    }
    changed_.notify_all();
    if (is_last) return;
  }
}

void PacketsAhead::FillBlock(Block& block) {
  block.Clear();
  while (block.items.size() < kBlockPackets && block.bytes.size() < kBlockBytes &&
         block.large_bytes == 0) {
    const Result<bool> more = reader_.Next(read_);
    if (!more || !*more) {
      block.is_last = true;
      if (!more) block.status = tl::unexpected<Error>(more.error());
      return;
    }
    Item& item = block.items.emplace_back();
    item.offset = read_.offset;
    if (read_.is_brief) {
      item.brief = read_.brief;
      if (keeps_file_ && read_.in_file)
        item.in_file = read_.in_file;
      else
        item.brief_bytes = block.Copy(read_.bytes.first(read_.brief.content_size));
      continue;
    }
    TracePacket& whole = block.wholes.emplace_back(read_.whole);
    whole.offset = read_.offset;
    whole.in_file = keeps_file_ ? read_.in_file : std::nullopt;
    whole.bytes = block.Copy(read_.bytes);
    whole.content = whole.bytes.first(read_.whole.content.size());
    whole.packed_packets = {};
    item.whole = &whole;
  }
}

Bytes PacketsAhead::Block::Copy(Bytes packet) {
  if (bytes.capacity() < kBlockBytes) bytes.reserve(kBlockBytes);
  if (packet.size() > kBlockBytes - bytes.size()) {
    large_bytes += packet.size();
    return wire::AsBytes(large.emplace_back(wire::AsText(packet)));
  }
  const size_t start = bytes.size();
  bytes += wire::AsText(packet);
  return wire::AsBytes(bytes).subspan(start);
}

void PacketsAhead::Block::Clear() {
  items.clear();
  wholes.clear();
  bytes.clear();
  large.clear();
  large_bytes = 0;
  is_last = false;
  status = {};
}

}  // namespace ringscope
