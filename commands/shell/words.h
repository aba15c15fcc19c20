#ifndef RINGSCOPE_COMMANDS_SHELL_WORDS_H_
#define RINGSCOPE_COMMANDS_SHELL_WORDS_H_

#include <span>

namespace ringscope {

/// A word of the outputs, and what it means.
struct Word {
  const char* word;
  const char* meaning;  // one or two sentences, with what to do about it
};
/// The words that the outputs use for the parts of tracing, from what people see down to the
/// buffer.
std::span<const Word> Words();

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_SHELL_WORDS_H_
