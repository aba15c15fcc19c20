#ifndef RINGSCOPE_FORMATS_OPS_CASE_ANSWERS_H_
#define RINGSCOPE_FORMATS_OPS_CASE_ANSWERS_H_

#include <string>
#include <vector>

#include "core/compare/plain_stream.h"
#include "core/engine/catalogue.h"

namespace ringscope {

/// A packet, as the test expects it.
struct ExpectedPacket {
  std::vector<std::string> slices;
  Identity identity;
  SequenceKey sequence;
  uint32_t dropped = 0;
};

/// What an engine gave for one step.
struct CaseAnswer {
  bool patched = false;
  std::vector<ExpectedPacket> packets;
  bool at_end = false;  // the read ended as there was no packet left
};

/// All that an engine gave for a stream.
struct Answers {
  std::vector<CaseAnswer> steps;
  CaseAnswer last_read;
  BufferStats stats;  // in the end
  std::string map;    // of the buffer before the last read
};

/// Puts the stream through an engine, and reads all that is left at the end.
/// Fails as the engine does.
Result<Answers> AnswersOf(const EngineInfo& info, const PlainStream& stream);

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_OPS_CASE_ANSWERS_H_
