#include "formats/descriptors/descriptors.h"
#include "formats/io/embedded_file.h"

namespace ringscope {
std::string_view DescriptorSet();
}

RS_EMBED_FILE(DescriptorSet, RS_DESCRIPTOR_SET)

ringscope::Bytes ringscope::EmbeddedDescriptorSet() { return wire::AsBytes(DescriptorSet()); }
