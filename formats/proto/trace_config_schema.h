#ifndef RINGSCOPE_FORMATS_PROTO_TRACE_CONFIG_SCHEMA_H_
#define RINGSCOPE_FORMATS_PROTO_TRACE_CONFIG_SCHEMA_H_

namespace ringscope {

/// TraceConfig and the messages that it can contain, and CloneSessionRequest, with their fields, as
/// a text:
///   MESSAGE: NUMBER NAME TYPE, NUMBER NAME TYPE, ...
/// A line that begins with spaces continues the one before. A type is u (unsigned), i (signed), z
/// (signed, zigzag), b (bool), s (string), y (bytes), d (double), f (float), or the name of a
/// message or an enum.
/// Source: Perfetto's trace config, as of v58.
extern const char* const kTraceConfigMessages;
/// The enums' values, likewise: ENUM: NUMBER NAME, NUMBER NAME, ...
extern const char* const kTraceConfigEnums;

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_PROTO_TRACE_CONFIG_SCHEMA_H_
