#include "core/perfetto/chunk_packer.h"

#include <algorithm>

namespace ringscope {
namespace {

constexpr size_t kWideSize = 4;         // bytes of a fragment's size where it may be patched
constexpr size_t kSmallestWide = 0x80;  // the least size that takes more than one byte
constexpr uint8_t kMoreBytesFollow = 0x80;

/// A varint of four bytes, whatever the value.
void AppendWideSize(std::string& out, size_t size) {
  for (size_t i = 0; i + 1 < kWideSize; ++i, size >>= 7)
    out.push_back(static_cast<char>((size & 0x7F) | kMoreBytesFollow));
  out.push_back(static_cast<char>(size));
}

}  // namespace

bool ChunkPacker::AddFragment(Bytes& packet) {
  // A fragment at the front of a chunk that continues a packet has a wide size.
  const bool is_first_fragment = !(continues_ && fragments_ == 0);
  const size_t size = std::min(packet.size(), Space() - kWideSize);
  const bool is_whole = is_first_fragment && size == packet.size();
  if (is_whole && size < kSmallestWide)
    payload_.push_back(static_cast<char>(size));
  else
    AppendWideSize(payload_, size);
  payload_ += wire::AsText(packet.first(size));
  packet = packet.subspan(size);
  ++fragments_;
  return !packet.empty();
}

}  // namespace ringscope
