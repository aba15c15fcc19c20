#ifndef RINGSCOPE_FORMATS_DESCRIPTORS_EMBEDDED_DESCRIPTORS_H_
#define RINGSCOPE_FORMATS_DESCRIPTORS_EMBEDDED_DESCRIPTORS_H_

#include "core/base/wire.h"

namespace ringscope {

/// The FileDescriptorSet that protoc made of core/perfetto's .proto files when ringscope was built.
Bytes EmbeddedDescriptorSet();

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_DESCRIPTORS_EMBEDDED_DESCRIPTORS_H_
