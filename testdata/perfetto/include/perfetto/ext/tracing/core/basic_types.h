#ifndef STANDIN_BASIC_TYPES_H_
#define STANDIN_BASIC_TYPES_H_

#include <sys/types.h>

#include <cstddef>
#include <cstdint>

namespace perfetto {

using ProducerID = uint16_t;
using WriterID = uint16_t;
using BufferID = uint16_t;
using ChunkID = uint32_t;
using MachineID = uint32_t;
using ProducerAndWriterID = uint32_t;

static constexpr MachineID kDefaultMachineID = 0;
static constexpr WriterID kMaxWriterID = 32767;

inline ProducerAndWriterID MkProducerAndWriterID(ProducerID producer, WriterID writer) {
  return static_cast<ProducerAndWriterID>(producer) << 16 | writer;
}
inline void GetProducerAndWriterID(ProducerAndWriterID both, ProducerID* producer,
                                   WriterID* writer) {
  *producer = static_cast<ProducerID>(both >> 16);
  *writer = static_cast<WriterID>(both);
}

}  // namespace perfetto

#endif  // STANDIN_BASIC_TYPES_H_
