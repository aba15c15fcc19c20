#include "commands/shell/embedded_files.h"

// Defines NAME(), the content of a file that the assembler copies into the program.
#define RS_EMBED_FILE(name, path)                                                                  \
  asm(".pushsection .rodata\n.global rs_embedded_" #name "\n.global rs_embedded_end_" #name        \
      "\nrs_embedded_" #name ":\n.incbin \"" path "\"\nrs_embedded_end_" #name                     \
      ":\n.popsection\n");                                                                         \
  extern "C" const char rs_embedded_##name[];                                                      \
  extern "C" const char rs_embedded_end_##name[];                                                  \
  std::string_view ringscope::name() {                                                             \
    return {rs_embedded_##name, static_cast<size_t>(rs_embedded_end_##name - rs_embedded_##name)}; \
  }

RS_EMBED_FILE(ReportPage, RS_SOURCE_DIR "/commands/report/page.html")
RS_EMBED_FILE(BashScript, RS_SOURCE_DIR "/commands/shell/completions/ringscope.bash")
RS_EMBED_FILE(ZshScript, RS_SOURCE_DIR "/commands/shell/completions/ringscope.zsh")
RS_EMBED_FILE(FishScript, RS_SOURCE_DIR "/commands/shell/completions/ringscope.fish")
RS_EMBED_FILE(AdapterSource, RS_SOURCE_DIR "/share/ringscope/perfetto_adapter.cc")
RS_EMBED_FILE(PluginHeader, RS_SOURCE_DIR "/core/plugin/plugin_abi.h")
