#ifndef RINGSCOPE_CORE_FINDINGS_SOURCE_ACCOUNT_H_
#define RINGSCOPE_CORE_FINDINGS_SOURCE_ACCOUNT_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "core/base/enum_names.h"
#include "core/base/sentence.h"
#include "core/perfetto/trace_config_facts.h"
#include "core/trace/trace_facts.h"

namespace ringscope {

/// What became of a data source of a trace's config.
enum class SourceState : uint8_t {
  kDelivered,       // packets of it are in the trace
  kUnknown,         // the trace does not show which packets are its
  kUnknownName,     // no data source has this name
  kNotRegistered,   // no producer had registered it
  kNotStarted,      // the service was waiting for it
  kNothingAsked,    // its config asks for nothing
  kNoEvents,        // it was started, and there was nothing to write
  kNothingWritten,  // nothing came to its buffer
  kLost,            // its buffer lost data
  kSilent,          // nothing shows why
};
struct SourceStateRow {
  SourceState value;
  const char* name;
  const char* text;  // in a table
};
template <>
inline constexpr auto kEnumRows<SourceState> = EnumTable<SourceStateRow>({
    {SourceState::kDelivered, "delivered", "delivered"},
    {SourceState::kUnknown, "unknown", "not known"},
    {SourceState::kUnknownName, "unknown_name", "unknown name"},
    {SourceState::kNotRegistered, "not_registered", "not registered"},
    {SourceState::kNotStarted, "not_started", "not started"},
    {SourceState::kNothingAsked, "nothing_asked", "asked for nothing"},
    {SourceState::kNoEvents, "no_events", "had no event"},
    {SourceState::kNothingWritten, "nothing_written", "wrote nothing"},
    {SourceState::kLost, "lost", "lost"},
    {SourceState::kSilent, "silent", "nothing came"},
});

/// The account of one data source of a trace's config.
struct SourceAccount {
  std::string name;
  uint32_t buffer = 0;  // index of its target
  SourceState state = SourceState::kDelivered;
  uint64_t sequences = 0;
  Amount amount = {};     // of its packets; the span is of events
  uint64_t unusable = 0;  // of these packets
  uint64_t places = 0;    // at which packets are missing, by flags and by the kernel's marks
  Sentence why = {};      // what the trace proves, where nothing was delivered
  Sentence change = {};   // what to do about it
};

/// Returns the data source whose packets a sequence has, by their fields; empty: not known.
std::string SourceOf(const TraceSequence& sequence, const TraceConfigFacts& config);

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_FINDINGS_SOURCE_ACCOUNT_H_
