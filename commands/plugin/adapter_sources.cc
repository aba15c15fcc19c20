#include "commands/plugin/adapter_sources.h"

// The assembler copies the files into the program, so that it finds them wherever it is installed.
asm(".pushsection .rodata\n"
    ".global rs_adapter_source\n"
    ".global rs_adapter_source_end\n"
    ".global rs_plugin_header\n"
    ".global rs_plugin_header_end\n"
    "rs_adapter_source:\n"
    ".incbin \"" RS_ADAPTER_SOURCE
    "\"\n"
    "rs_adapter_source_end:\n"
    "rs_plugin_header:\n"
    ".incbin \"" RS_PLUGIN_HEADER
    "\"\n"
    "rs_plugin_header_end:\n"
    ".popsection\n");

extern "C" const char rs_adapter_source[];
extern "C" const char rs_adapter_source_end[];
extern "C" const char rs_plugin_header[];
extern "C" const char rs_plugin_header_end[];

namespace ringscope::adapter {

std::string_view AdapterSource() {
  return {rs_adapter_source, static_cast<size_t>(rs_adapter_source_end - rs_adapter_source)};
}

std::string_view PluginHeader() {
  return {rs_plugin_header, static_cast<size_t>(rs_plugin_header_end - rs_plugin_header)};
}

}  // namespace ringscope::adapter
