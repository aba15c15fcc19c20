// A ring that returns whole packets once, in the order of their commits: enough to see that a
// plug-in works.

#include <cstring>
#include <deque>

#include "src/tracing/service/standin_store.h"

namespace standin {
namespace {

class SmallRing final : public Store {
 public:
  explicit SmallRing(size_t size) : memory_(size) {}

  void Add(const Commit& commit) override {
    const size_t outer = (16 + commit.size + 15) / 16 * 16;
    if (outer > memory_.size()) {
      ++violations_;
      return;
    }
    if (cursor_ + outer > memory_.size()) {
      cursor_ = 0;
      ++wraps_;
    }
    while (!chunks_.empty() && chunks_.front().at.offset < cursor_ + outer &&
           cursor_ < chunks_.front().at.offset + chunks_.front().at.outer)
      chunks_.pop_front();
    const auto size = static_cast<uint32_t>(commit.size);
    chunks_.push_back({commit,
                       {uint32_t{commit.producer} << 16 | commit.writer, commit.chunk, cursor_,
                        static_cast<uint32_t>(outer), size, size, commit.flags}});
    if (commit.size > 0) memcpy(memory_.data() + cursor_ + 16, commit.bytes, commit.size);
    cursor_ += outer;
    used_ = used_ < cursor_ ? cursor_ : used_;
    bytes_ += outer;
    ++written_;
  }
  bool Patch(const Patches&) override { return false; }
  void BeginRead() override {}
  bool Next(Packet* packet) override {
    for (Held& held : chunks_) {
      const uint32_t begin = held.at.payload - held.at.unread;
      if (held.at.unread == 0) continue;
      const uint8_t* const bytes = memory_.data() + held.at.offset + 16 + begin;
      const uint32_t size = bytes[0] < held.at.unread ? bytes[0] : held.at.unread - 1;
      held.at.unread -= 1 + size;
      packet->producer = held.commit.producer;
      packet->writer = held.commit.writer;
      packet->uid = held.commit.uid;
      packet->pid = held.commit.pid;
      packet->slices.emplace_back(bytes + 1, size);
      return true;
    }
    return false;
  }
  std::unique_ptr<Store> Clone() override { return std::make_unique<SmallRing>(*this); }
  void Count(perfetto::protos::gen::TraceStats_BufferStats* stats) override {
    stats->set_buffer_size(memory_.size());
    stats->set_chunks_written(written_);
    stats->set_bytes_written(bytes_);
    stats->set_write_wrap_count(wraps_);
    stats->set_abi_violations(violations_);
  }
  void VisitWriters(const std::function<void(const Writer&)>&) override {}
  /// Chunks that were read are padding.
  size_t VisitChunks(const std::function<void(const Chunk&)>& visit) override {
    // In order of offsets they begin where the ring starts over.
    size_t first = 0;
    for (size_t i = 1; i < chunks_.size(); ++i)
      if (chunks_[i].at.offset < chunks_[i - 1].at.offset) first = i;
    size_t end = 0;
    const auto pad_to = [&](size_t offset) {
      if (offset > end) visit({0, 0, end, static_cast<uint32_t>(offset - end), 0, 0, 0});
    };
    for (size_t i = 0; i < chunks_.size(); ++i) {
      Chunk next = chunks_[(first + i) % chunks_.size()].at;
      if (next.unread == 0) next.sequence = 0;
      pad_to(next.offset);
      visit(next);
      end = next.offset + next.outer;
    }
    pad_to(used_);
    return cursor_;
  }
  uint8_t* memory() override { return memory_.data(); }

 private:
  struct Held {
    Commit commit;
    Chunk at;
  };
  std::vector<uint8_t> memory_;
  std::deque<Held> chunks_;
  size_t cursor_ = 0, used_ = 0;
  uint64_t written_ = 0, bytes_ = 0, wraps_ = 0, violations_ = 0;
};

}  // namespace

std::unique_ptr<Store> MakeStore(int, size_t size, bool) {
  return std::make_unique<SmallRing>(size);
}

}  // namespace standin
