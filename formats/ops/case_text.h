#ifndef RINGSCOPE_FORMATS_OPS_CASE_TEXT_H_
#define RINGSCOPE_FORMATS_OPS_CASE_TEXT_H_

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

#include "formats/ops/case_answers.h"
#include "formats/ops/test_case.h"

namespace ringscope {

// What tests in C++ have in common, in whosever words they are.

/// Bytes of a fragment that are listed in a line.
inline constexpr size_t kMostListedBytes = 12;

/// A fragment's bytes in a chunk, with its size in front.
size_t WithSizeVarint(size_t bytes);

/// The letter of FragmentBytes that these bytes are of; 0: they are not.
char LetterOf(std::string_view bytes);

/// "0x05, 0x61"
std::string ByteList(std::string_view bytes);

/// A string literal of any bytes, in several lines if it is long.
std::string CppLiteral(std::string_view bytes);

/// "[u]" of a number's literal: none where it fits into an int.
const char* UnsignedSuffix(uint64_t number);

/// A test being written: its lines, its name, and the comment above it.
class CaseText {
 public:
  CaseText(const TestCase& test_case, const Both<const EngineInfo*>& engines,
           const Both<Answers>& answers)
      : case_(test_case), engines_(engines), answers_(answers) {
    for (const auto& step : case_.stream.steps)
      has_identities_ |= step->step.commit.identity != Identity{};
  }

 protected:
  template <typename... Args>
  void Line(fmt::format_string<Args...> format, Args&&... args) {
    text_ += fmt::format(format, std::forward<Args>(args)...) + "\n";
  }
  /// "RelocatesCompletedChunk", of the cause.
  std::string CauseName() const;
  /// What the case is about, its chunks, and both buffers.
  void Comment();
  /// Calls `visit` (StatField, value) for each counter that moved, or that the engines do not agree
  /// on.
  template <typename Visit>
  void VisitCounters(Visit visit) const {
    for (const StatField& field : kStatFields) {
      const uint64_t a = answers_.a.stats.*field.value, b = answers_.b.stats.*field.value;
      if (field.value != &BufferStats::buffer_size && (a != 0 || a != b)) visit(field, a);
    }
  }

  const TestCase& case_;
  const Both<const EngineInfo*>& engines_;
  const Both<Answers>& answers_;
  bool has_identities_ = false;
  std::string text_;

 private:
  void CommentLine(std::string_view content);
};

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_OPS_CASE_TEXT_H_
