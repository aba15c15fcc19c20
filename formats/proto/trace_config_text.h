#ifndef RINGSCOPE_FORMATS_PROTO_TRACE_CONFIG_TEXT_H_
#define RINGSCOPE_FORMATS_PROTO_TRACE_CONFIG_TEXT_H_

#include <string>

#include "core/base/ids.h"

namespace ringscope {

/// A TraceConfig in protobuf's text format, one field to a line, as `perfetto --txt -c` reads it.
/// Fields that are not known have their numbers as names; what cannot be parsed ends the text with
/// a comment that says so.
std::string TraceConfigText(Bytes config);
/// The same of a DataSourceConfig.
std::string DataSourceConfigText(Bytes config);
/// The same of a CloneSessionRequest.
std::string CloneSessionText(Bytes request);

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_PROTO_TRACE_CONFIG_TEXT_H_
