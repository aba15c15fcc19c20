#include "commands/view/markdown.h"

#include <cctype>

namespace ringscope {
namespace {

constexpr std::string_view kMarkup = "\\`*[]<>|~";
constexpr std::string_view kBlockMarks = "#-+";  // with a space after them

bool IsWord(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

}  // namespace

std::string MarkdownText(std::string_view text) {
  std::string shown;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    // Within a word an underscore is no markup: chunks_read.
    const bool in_word = i > 0 && i + 1 < text.size() && IsWord(text[i - 1]) && IsWord(text[i + 1]);
    const bool is_markup = c == '_' ? !in_word : kMarkup.find(c) != std::string_view::npos;
    const bool begins_block =
        i == 0 && kBlockMarks.find(c) != std::string_view::npos && text.substr(1, 1) == " ";
    if (is_markup || begins_block) shown += '\\';
    shown += c == '\n' ? ' ' : c;
  }
  return shown;
}

}  // namespace ringscope
