#ifndef RINGSCOPE_FORMATS_IO_EMBEDDED_FILE_H_
#define RINGSCOPE_FORMATS_IO_EMBEDDED_FILE_H_

#include <string_view>

/// Defines ringscope::NAME(), which is declared before: the content of a file that the assembler
/// copies into the program.
#define RS_EMBED_FILE(name, path)                                                                  \
  asm(".pushsection .rodata\n.global rs_embedded_" #name "\n.global rs_embedded_end_" #name        \
      "\nrs_embedded_" #name ":\n.incbin \"" path "\"\nrs_embedded_end_" #name                     \
      ":\n.popsection\n");                                                                         \
  extern "C" const char rs_embedded_##name[];                                                      \
  extern "C" const char rs_embedded_end_##name[];                                                  \
  std::string_view ringscope::name() {                                                             \
    return {rs_embedded_##name, static_cast<size_t>(rs_embedded_end_##name - rs_embedded_##name)}; \
  }

#endif  // RINGSCOPE_FORMATS_IO_EMBEDDED_FILE_H_
