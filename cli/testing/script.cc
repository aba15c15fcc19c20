#include "cli/testing/script.h"

#include <fstream>

#include "cli/app.h"
#include "commands/testing/memory_run.h"

namespace ringscope {
namespace {

/// The first lines of a text, as `head -N` would print them.
std::string FirstLines(const std::string& text, size_t count) {
  size_t end = 0;
  while (count-- > 0 && end != std::string::npos) {
    end = text.find('\n', end);
    if (end != std::string::npos) ++end;
  }
  return text.substr(0, end);
}

/// Runs one part of a pipe. @param input what the part before it printed
ScriptResult RunPart(const std::vector<std::string>& words, const std::string& input) {
  if (words.size() == 2 && words[0] == "head")
    return {FirstLines(input, std::stoul(words[1].substr(1))), "", 0};
  if (words.empty() || words[0] != "ringscope")
    return {"", "a script can run ringscope and head -N alone\n", 127};
  MemoryRun memory(input);
  const int status = RunApp(std::span(words).subspan(1), memory.streams);
  return {memory.out.text, memory.err.text, status};
}

}  // namespace

std::vector<std::string> SplitWords(const std::string& line) {
  std::vector<std::string> words;
  std::string word;
  bool has_word = false;
  char quote = 0;
  const auto finish = [&] {
    if (has_word) words.push_back(word);
    word.clear();
    has_word = false;
  };
  for (const char c : line) {
    if (quote != 0) {
      if (c == quote) {
        quote = 0;
      } else {
        word += c;
      }
    } else if (c == '\'' || c == '"') {
      quote = c;
      has_word = true;
    } else if (c == ' ') {
      finish();
    } else if (c == '|' || c == '>') {
      finish();
      words.emplace_back(1, c);
    } else {
      word += c;
      has_word = true;
    }
  }
  finish();
  return words;
}

ScriptResult RunScriptLine(const std::string& line) {
  ScriptResult result;
  std::vector<std::string> part;
  std::string file;
  std::string messages;
  const std::vector<std::string> words = SplitWords(line);
  for (size_t i = 0; i <= words.size(); ++i) {
    if (i == words.size() || words[i] == "|") {
      result = RunPart(part, result.out);
      messages += result.err;
      part.clear();
    } else if (words[i] == ">" && i + 1 < words.size()) {
      file = words[++i];
    } else {
      part.push_back(words[i]);
    }
  }
  result.err = messages;
  if (!file.empty()) {
    std::ofstream(file, std::ios::binary) << result.out;
    result.out.clear();
  }
  return result;
}

}  // namespace ringscope
