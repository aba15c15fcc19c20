#ifndef RINGSCOPE_CORE_DOCTOR_CHANGED_CONFIG_H_
#define RINGSCOPE_CORE_DOCTOR_CHANGED_CONFIG_H_

#include <string>
#include <string_view>
#include <vector>

#include "core/doctor/finding.h"

namespace ringscope {

/// A trace config with changes, ready to use: each line that was changed or added has its reason in
/// a comment before it. Of two changes of one line, the first counts.
/// @param config in protobuf's text format with a field per line, as the protobuf library prints it
std::string ChangedConfig(std::string_view config, const std::vector<ConfigChange>& changes);

/// The changes of all findings, the worst finding's first; of each line only the first.
std::vector<ConfigChange> ChangesOf(const Diagnosis& diagnosis);

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_DOCTOR_CHANGED_CONFIG_H_
