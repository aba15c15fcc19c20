#ifndef RINGSCOPE_CORE_TRACE_OWN_TRACES_H_
#define RINGSCOPE_CORE_TRACE_OWN_TRACES_H_

#include <string_view>

namespace ringscope {

// How a file that ringscope wrote is known by its SystemInfo, where that of a service has the
// service's version: "ringscope 0.1.0 (lost packets)".

/// What begins the version.
inline constexpr std::string_view kOwnVersionStart = "ringscope ";
/// What ends it where the file has the packets that a session lost, in place of those in its trace.
inline constexpr std::string_view kLostPacketsMark = " (lost packets)";

/// Whether this is the version in a file of lost packets.
inline bool IsLostTrace(std::string_view version) {
  return version.starts_with(kOwnVersionStart) && version.ends_with(kLostPacketsMark);
}

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_TRACE_OWN_TRACES_H_
