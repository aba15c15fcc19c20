#include "commands/shell/embedded_files.h"

#include "formats/io/embedded_file.h"

RS_EMBED_FILE(ReportPage, RS_SOURCE_DIR "/commands/report/page.html")
RS_EMBED_FILE(BashScript, RS_SOURCE_DIR "/commands/shell/completions/ringscope.bash")
RS_EMBED_FILE(ZshScript, RS_SOURCE_DIR "/commands/shell/completions/ringscope.zsh")
RS_EMBED_FILE(FishScript, RS_SOURCE_DIR "/commands/shell/completions/ringscope.fish")
RS_EMBED_FILE(BuildPluginScript, RS_SOURCE_DIR "/share/ringscope/build_plugin.sh")
RS_EMBED_FILE(AdapterSource, RS_SOURCE_DIR "/share/ringscope/perfetto_adapter.cc")
RS_EMBED_FILE(PluginHeader, RS_SOURCE_DIR "/include/ringscope/plugin_abi.h")
