#include "core/reads/written_file.h"

#include <xxhash.h>

namespace ringscope {

uint64_t HashOfPacket(Bytes packet) { return XXH3_64bits(packet.data(), packet.size()); }

}  // namespace ringscope
