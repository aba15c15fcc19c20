#include "commands/shell/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace ringscope {

std::string Shortened(std::string_view text, size_t columns) {
  if (DisplayWidth(text) <= columns) return std::string(text);
  size_t end = 0;
  for (size_t column = 0; end < text.size(); ++end)
    if ((static_cast<uint8_t>(text[end]) & 0xC0) != 0x80 && ++column == columns) break;
  return std::string(text.substr(0, end)) + "…";
}

std::string ShellWord(std::string_view text) {
  const bool is_plain = !text.empty() && std::ranges::all_of(text, [](unsigned char c) {
    return std::isalnum(c) != 0 ||
           std::string_view("/._-+=:,@%").find(static_cast<char>(c)) != std::string_view::npos;
  });
  if (is_plain) return std::string(text);
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::optional<std::string> Nearest(std::string_view word, std::span<const std::string> candidates) {
  const std::vector<std::string_view> views(candidates.begin(), candidates.end());
  if (const auto nearest = NearestName(word, views)) return std::string(*nearest);
  // "comp" for "completions", if it can mean nothing else.
  const std::string* longer = nullptr;
  for (const std::string& candidate : candidates) {
    if (word.size() < 2 || !candidate.starts_with(word)) continue;
    if (longer != nullptr) return std::nullopt;
    longer = &candidate;
  }
  return longer == nullptr ? std::nullopt : std::optional(*longer);
}

std::string DidYouMean(std::string_view word, std::span<const std::string> candidates,
                       std::string otherwise) {
  const std::optional<std::string> nearest = Nearest(word, candidates);
  return nearest ? fmt::format("did you mean '{}'?", *nearest) : std::move(otherwise);
}

}  // namespace ringscope
