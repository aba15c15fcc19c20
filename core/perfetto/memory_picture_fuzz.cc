// Applies any bytes as the changes of looks, one after the other, to a small memory: what is
// accepted is written again and must give the same picture.

#include <algorithm>
#include <cstdlib>

#include "core/base/wire.h"
#include "core/perfetto/memory_picture.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace ringscope;  // NOLINT: a fuzz target is a program of its own
  constexpr size_t kPages = 9;
  smb::MemoryPicture picture(kPages);
  // The first byte of each look is its length.
  for (Bytes rest(data, size); !rest.empty();) {
    const size_t length = std::min<size_t>(rest[0], rest.size() - 1);
    smb::MemoryPicture next = picture;
    if (smb::ApplyChanges(rest.subspan(1, length), next)) {
      std::string changes;
      smb::AppendChanges(picture, next, changes);
      smb::MemoryPicture again = picture;
      if (!smb::ApplyChanges(wire::AsBytes(changes), again) || again != next) std::abort();
      static_cast<void>(next.Count());
      picture = next;
    }
    rest = rest.subspan(1 + length);
  }
  return 0;
}
