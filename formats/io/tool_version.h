#ifndef RINGSCOPE_FORMATS_IO_TOOL_VERSION_H_
#define RINGSCOPE_FORMATS_IO_TOOL_VERSION_H_

#include <string_view>

namespace ringscope {

// The tool's name and version in its outputs. A test compares the version with CMakeLists.txt.
inline constexpr std::string_view kToolName = "ringscope";
inline constexpr std::string_view kToolVersion = "0.2.0";

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_IO_TOOL_VERSION_H_
