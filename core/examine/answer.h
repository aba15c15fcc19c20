#ifndef RINGSCOPE_CORE_EXAMINE_ANSWER_H_
#define RINGSCOPE_CORE_EXAMINE_ANSWER_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/sentence.h"
#include "core/findings/finding.h"

namespace ringscope {

/// One line of an answer: "Why", "overwritten before they were read".
struct AnswerLine {
  std::string label;
  std::string text;
};

/// The problems of a trace or of a session of a log in about ten lines, the most important first.
struct Answer {
  Harm severity = Harm::kOk;
  std::string headline = {};  // one sentence
  /// The change that helps most: "buffers[0].size_kb 256 -> 6544, which keeps everything"; may be
  /// empty.
  std::string change = {};
  uint64_t more_changes = 0;  // that would help, too: advise has them
  uint64_t packets = 0;       // of producers that are left
  uint64_t usable = 0;        // of these, those that the UI can show
  std::vector<AnswerLine> lines;
  Figures figures = {};  // of all these texts

  /// Adds a line, unless there is nothing to say.
  void Add(const char* label, const Sentence& sentence) {
    if (!sentence.empty()) lines.push_back({label, Keep(sentence)});
  }
  /// Adds a sentence's numbers. @return its text
  const std::string& Keep(const Sentence& sentence) {
    AddFigures(figures, sentence);
    return sentence.text;
  }
  /// Returns true if it names a change of the config, or a remedy that is none.
  bool has_change() const;
};

struct Examination;

/// Words the answer of an examination that has all but that.
Answer AnswerOf(const Examination& examination);

/// "Only the last 101.7 ms of 3.710 s are left": of a ring; empty if its reach is not known.
/// @param buffer its index in the config
Sentence LeftText(const Examination& examination, uint32_t buffer);
/// "a, b, 4 further lines": the first texts, as many as two lines of an answer hold.
std::string ShortList(const std::vector<std::string>& texts, std::string_view further,
                      std::string_view between = ", ");

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_EXAMINE_ANSWER_H_
