#ifndef RINGSCOPE_CORE_TESTING_SMB_DSL_H_
#define RINGSCOPE_CORE_TESTING_SMB_DSL_H_

#include <cstdint>
#include <string_view>
#include <utility>

#include "core/log/op.h"
#include "core/perfetto/memory_picture.h"

namespace ringscope::testing {

/// Looks at a producer's memory of pages with one chunk each, drawn as a letter for each page:
/// "." free, "w" being written, "r" being read, "c" complete. Chunk i is writer i + 1's, chunk 0.
class LookDrawer {
 public:
  LookDrawer(ProducerId producer, size_t pages) : producer_(producer), last_(pages) {}

  SharedMemorySetUp SetUp() const {
    return {.producer = producer_, .size = last_.pages().size() * 4096, .page_size = 4096};
  }
  /// The next look. The first one is whole, and each after Whole().
  SharedMemoryLook Draw(std::string_view states) {
    smb::MemoryPicture now(last_.pages().size());
    for (size_t page = 0; page < states.size(); ++page) {
      const size_t state = std::string_view(".wrc").find(states[page]);
      if (state == 0) continue;
      now.SetBits(page, 1u << smb::PageBitmap::kLayoutShift | static_cast<uint32_t>(state));
      if (now.pages()[page].bitmap().HasHeader(0))
        now.SetHolder(page, 0, {WriterId{static_cast<uint16_t>(page + 1)}, ChunkId{0}});
    }
    SharedMemoryLook look{
        .producer = producer_, .number = number_++, .whole = std::exchange(whole_, false)};
    smb::AppendChanges(look.whole ? smb::MemoryPicture(last_.pages().size()) : last_, now,
                       look.pages);
    last_ = std::move(now);
    return look;
  }
  void Whole() { whole_ = true; }

 private:
  const ProducerId producer_;
  smb::MemoryPicture last_;
  uint64_t number_ = 0;
  bool whole_ = true;
};

}  // namespace ringscope::testing

#endif  // RINGSCOPE_CORE_TESTING_SMB_DSL_H_
