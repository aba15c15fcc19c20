#include "formats/descriptors/descriptors.h"

// The assembler copies the file into the program: a compiler would need seconds for such an array.
asm(".pushsection .rodata\n"
    ".global rs_descriptor_set\n"
    ".global rs_descriptor_set_end\n"
    "rs_descriptor_set:\n"
    ".incbin \"" RS_DESCRIPTOR_SET
    "\"\n"
    "rs_descriptor_set_end:\n"
    ".popsection\n");

extern "C" const uint8_t rs_descriptor_set[];
extern "C" const uint8_t rs_descriptor_set_end[];

namespace ringscope {

Bytes EmbeddedDescriptorSet() {
  return {rs_descriptor_set, static_cast<size_t>(rs_descriptor_set_end - rs_descriptor_set)};
}

}  // namespace ringscope
