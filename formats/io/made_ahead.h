#ifndef RINGSCOPE_FORMATS_IO_MADE_AHEAD_H_
#define RINGSCOPE_FORMATS_IO_MADE_AHEAD_H_

#include <condition_variable>
#include <deque>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "formats/io/byte_stream.h"

namespace ringscope {

/// Makes items one after the other in a thread of its own, while those before them are being used.
template <typename Item>
class MadeAhead {
 public:
  /// The size of an item, which the limit is for, and a mark of the last one.
  struct Made {
    size_t size = 1;
    bool last = false;
  };

  /// @param make fills an item, which may have been used before
  /// @param limit no further item is begun while items of this size wait or are in use
  MadeAhead(size_t limit, std::function<Made(Item&)> make) : limit_(limit), make_(std::move(make)) {
    try {
      thread_ = std::thread([this] { Run(); });
    } catch (const std::system_error&) {
      // The system has no more threads: items are made when they are asked for.
    }
  }
  ~MadeAhead() {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable()) thread_.join();
  }

  /// Returns the next item, valid until the next call. The last one stays.
  Item& Next() {
    if (current_ && current_->made.last) return current_->item;
    if (!thread_.joinable()) {
      if (!current_) current_ = std::make_unique<Slot>();
      current_->made = make_(current_->item);
      return current_->item;
    }
    std::unique_lock lock(mutex_);
    if (current_) {
      held_ -= current_->made.size;
      // A large item's memory is not kept: the next one may be allocated already.
      if (current_->made.size < limit_) spare_.push_back(std::move(current_));
      current_.reset();
      changed_.notify_all();
    }
    changed_.wait(lock, [this] { return !ready_.empty(); });
    current_ = std::move(ready_.front());
    ready_.pop_front();
    return current_->item;
  }

 private:
  struct Slot {
    Item item;
    Made made;
  };

  void Run() {
    for (bool last = false; !last;) {
      std::unique_ptr<Slot> slot;
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return stop_ || held_ < limit_; });
        if (stop_) return;
        if (!spare_.empty()) {
          slot = std::move(spare_.back());
          spare_.pop_back();
        }
      }
      if (!slot) slot = std::make_unique<Slot>();
      slot->made = make_(slot->item);
      last = slot->made.last;
      {
        const std::lock_guard lock(mutex_);
        held_ += slot->made.size;
        ready_.push_back(std::move(slot));
      }
      changed_.notify_all();
    }
  }

  const size_t limit_;
  const std::function<Made(Item&)> make_;
  std::unique_ptr<Slot> current_;  // what Next returned last

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::unique_ptr<Slot>> ready_;
  std::vector<std::unique_ptr<Slot>> spare_;
  size_t held_ = 0;  // sizes of current_ and ready_
  bool stop_ = false;
  std::thread thread_;  // the last member: it uses all others
};

/// Returns true for files that are not small. Elsewhere a read may never end.
inline bool PaysToReadAhead(std::optional<uint64_t> size) {
  constexpr uint64_t kSmall = uint64_t{512} << 10;
  return size.value_or(0) > kSmall;
}

/// Reads a source in a thread of its own, a few blocks in advance. Memory: at most 8 MiB.
std::unique_ptr<ByteSource> MakeReadAheadSource(std::unique_ptr<ByteSource> source);

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_IO_MADE_AHEAD_H_
