#ifndef RINGSCOPE_COMMANDS_PLUGIN_ADAPTER_SOURCES_H_
#define RINGSCOPE_COMMANDS_PLUGIN_ADAPTER_SOURCES_H_

#include <string_view>

namespace ringscope::adapter {

/// What is installed as share/ringscope/perfetto_adapter.cc.
std::string_view AdapterSource();
/// What is installed as ringscope/plugin_abi.h.
std::string_view PluginHeader();

}  // namespace ringscope::adapter

#endif  // RINGSCOPE_COMMANDS_PLUGIN_ADAPTER_SOURCES_H_
