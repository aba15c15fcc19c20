#ifndef RINGSCOPE_FORMATS_DESCRIPTORS_CHANGED_CONFIG_H_
#define RINGSCOPE_FORMATS_DESCRIPTORS_CHANGED_CONFIG_H_

#include "core/base/wire.h"
#include "core/perfetto/trace_config_facts.h"

namespace ringscope {

/// A trace's config as text, without the uuid of its session: a new session must not have it.
std::string ReusableConfig(Bytes config);

/// Returns a config with changes, the last one of a line: each changed or added line has its reason
/// in a comment before it. @param config in protobuf's text format
std::string ChangedConfig(std::string_view config, const std::vector<ConfigChange>& changes);

/// Sets ConfigChange::was of the lines that the config has.
void SetPresentValues(std::string_view config, std::vector<ConfigChange>& changes);

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_DESCRIPTORS_CHANGED_CONFIG_H_
