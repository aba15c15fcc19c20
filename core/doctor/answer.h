#ifndef RINGSCOPE_CORE_DOCTOR_ANSWER_H_
#define RINGSCOPE_CORE_DOCTOR_ANSWER_H_

#include <string>
#include <utility>
#include <vector>

#include "core/doctor/harm.h"

namespace ringscope {

/// One line of an answer: "Why", "overwritten before they were read".
struct AnswerLine {
  std::string label;
  std::string text;
};

/// What is wrong with a trace, or with a session of a log, in about ten lines: the most important
/// first.
struct Answer {
  Harm severity = Harm::kOk;
  std::string headline;  // one sentence
  std::vector<AnswerLine> lines;

  /// Adds a line, unless there is nothing to say.
  void Add(const char* label, std::string text) {
    if (!text.empty()) lines.push_back({label, std::move(text)});
  }
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_DOCTOR_ANSWER_H_
