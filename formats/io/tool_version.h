#ifndef RINGSCOPE_FORMATS_IO_TOOL_VERSION_H_
#define RINGSCOPE_FORMATS_IO_TOOL_VERSION_H_

#include <string_view>

namespace ringscope {

// How the tool names itself in what it writes. A test compares the version with CMakeLists.txt.
inline constexpr std::string_view kToolName = "ringscope";
inline constexpr std::string_view kToolVersion = "0.1.0";

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_IO_TOOL_VERSION_H_
