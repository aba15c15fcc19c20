#ifndef RINGSCOPE_COMMANDS_SHELL_EMBEDDED_FILE_H_
#define RINGSCOPE_COMMANDS_SHELL_EMBEDDED_FILE_H_

#include <string_view>

/// Defines NAME(), the content of a file that the assembler copies into the program.
#define RS_EMBED_FILE(name, path)                                                                  \
  asm(".pushsection .rodata\n.global rs_embedded_" #name "\n.global rs_embedded_end_" #name        \
      "\nrs_embedded_" #name ":\n.incbin \"" path "\"\nrs_embedded_end_" #name                     \
      ":\n.popsection\n");                                                                         \
  extern "C" const char rs_embedded_##name[];                                                      \
  extern "C" const char rs_embedded_end_##name[];                                                  \
  static std::string_view name() {                                                                 \
    return {rs_embedded_##name, static_cast<size_t>(rs_embedded_end_##name - rs_embedded_##name)}; \
  }

#endif  // RINGSCOPE_COMMANDS_SHELL_EMBEDDED_FILE_H_
