#include "core/base/changed_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <sstream>

#include "core/base/text.h"

namespace ringscope {
namespace {

/// A field on the way to the line that is to be changed: the n-th of this name.
struct Step {
  std::string name;
  size_t index = 0;
};

/// "buffers[0].size_kb"
std::vector<Step> StepsOf(std::string_view path) {
  std::vector<Step> steps;
  while (!path.empty()) {
    const size_t end = std::min(path.find('.'), path.size());
    const std::string_view part = path.substr(0, end);
    path.remove_prefix(std::min(end + 1, path.size()));
    Step& step = steps.emplace_back();
    const size_t bracket = part.find('[');
    step.name = std::string(part.substr(0, bracket));
    if (bracket != std::string_view::npos)
      std::from_chars(part.data() + bracket + 1, part.data() + part.size(), step.index);
  }
  return steps;
}

std::string_view Trimmed(std::string_view line) {
  const size_t start = line.find_first_not_of(' ');
  return start == std::string_view::npos ? std::string_view() : line.substr(start);
}

std::vector<std::string_view> SplitLines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

bool IsField(std::string_view line, const std::string& name) {
  line = Trimmed(line);
  if (!line.starts_with(name)) return false;
  line.remove_prefix(name.size());
  return line.starts_with(':') || line.starts_with(" {");
}

class Lines {
 public:
  explicit Lines(std::string_view text) {
    for (const std::string_view line : SplitLines(text)) lines_.emplace_back(line);
  }

  void Change(const ConfigChange& change) {
    const std::vector<Step> steps = StepsOf(change.path);
    if (steps.empty()) return;
    size_t begin = 0, end = lines_.size();  // of the message that has the field
    size_t depth = 0;
    for (; depth + 1 < steps.size(); ++depth) {
      const auto found = Find(begin, end, steps[depth]);
      if (!found) break;
      begin = *found + 1;
      end = EndOf(*found);
    }
    std::optional<size_t> found;
    if (depth + 1 == steps.size()) found = Find(begin, end, steps.back());
    const std::string indent(2 * depth, ' ');
    if (found) {
      const std::string was(Trimmed(lines_[*found]));
      lines_[*found] = indent + steps.back().name + ": " + change.value;
      Insert(*found, Comment(fmt::format("changed, was {}: {}", was.substr(was.find(' ') + 1),
                                         Reason(change)),
                             indent));
      return;
    }
    std::vector<std::string> added = Comment("added: " + Reason(change), indent);
    for (size_t at = depth; at + 1 < steps.size(); ++at)
      added.push_back(std::string(2 * at, ' ') + steps[at].name + " {");
    added.push_back(std::string(2 * (steps.size() - 1), ' ') + steps.back().name + ": " +
                    change.value);
    for (size_t at = steps.size() - 1; at-- > depth;)
      added.push_back(std::string(2 * at, ' ') + "}");
    Insert(end, added);
  }

  std::string Text() const {
    std::string text;
    for (const std::string& line : lines_) text += line + "\n";
    return text;
  }

 private:
  static std::string Reason(const ConfigChange& change) {
    return change.reason + (change.is_estimate ? " (an estimate)" : "");
  }
  /// Lines of a comment.
  static std::vector<std::string> Comment(const std::string& text, const std::string& indent) {
    std::vector<std::string> lines;
    std::istringstream wrapped(Wrap(text, size_t{0}, kTextColumns - indent.size() - 2));
    for (std::string line; std::getline(wrapped, line);) lines.push_back(indent + "# " + line);
    return lines;
  }
  void Insert(size_t at, const std::vector<std::string>& added) {
    lines_.insert(lines_.begin() + static_cast<std::ptrdiff_t>(at), added.begin(), added.end());
  }
  /// The line that ends the message which begins on a line.
  size_t EndOf(size_t line) const {
    size_t depth = 0;
    for (; line < lines_.size(); ++line) {
      if (lines_[line].ends_with('{')) ++depth;
      if (Trimmed(lines_[line]) == "}" && --depth == 0) return line;
    }
    return lines_.size();
  }
  /// A field directly in the message that the lines are the content of.
  std::optional<size_t> Find(size_t begin, size_t end, const Step& step) const {
    size_t seen = 0;
    for (size_t line = begin; line < end; ++line) {
      if (IsField(lines_[line], step.name) && seen++ == step.index) return line;
      if (lines_[line].ends_with('{')) line = EndOf(line);
    }
    return std::nullopt;
  }

  std::vector<std::string> lines_;
};

}  // namespace

std::string ChangedConfig(std::string_view config, const std::vector<ConfigChange>& changes) {
  Lines lines(config);
  for (const ConfigChange& change : changes) lines.Change(change);
  return lines.Text();
}

std::string UnifiedDiff(std::string_view name, std::string_view before, std::string_view after) {
  const std::vector<std::string_view> a = SplitLines(before), b = SplitLines(after);
  // Lengths of the longest common rests.
  std::vector<std::vector<uint32_t>> common(a.size() + 1, std::vector<uint32_t>(b.size() + 1));
  for (size_t i = a.size(); i-- > 0;)
    for (size_t j = b.size(); j-- > 0;)
      common[i][j] =
          a[i] == b[j] ? common[i + 1][j + 1] + 1 : std::max(common[i + 1][j], common[i][j + 1]);
  struct Line {
    char mark;
    std::string_view text;
  };
  std::vector<Line> lines;
  for (size_t i = 0, j = 0; i < a.size() || j < b.size();) {
    if (i < a.size() && j < b.size() && a[i] == b[j]) {
      lines.push_back({' ', a[i++]});
      ++j;
    } else if (i < a.size() && (j == b.size() || common[i + 1][j] >= common[i][j + 1])) {
      lines.push_back({'-', a[i++]});
    } else {
      lines.push_back({'+', b[j++]});
    }
  }
  constexpr size_t kContext = 3;
  std::string diff;
  size_t line_a = 1, line_b = 1;
  for (size_t at = 0; at < lines.size();) {
    const auto is_changed = [](const Line& line) { return line.mark != ' '; };
    const auto first =
        std::find_if(lines.begin() + static_cast<std::ptrdiff_t>(at), lines.end(), is_changed);
    if (first == lines.end()) break;
    const size_t changed = static_cast<size_t>(first - lines.begin());
    const size_t begin = changed - std::min(changed - at, kContext);
    line_a += begin - at;
    line_b += begin - at;
    // Up to so many unchanged lines that the next change is no part of it.
    size_t end = changed, last = changed;
    for (; end < lines.size() && end - last <= 2 * kContext; ++end)
      if (is_changed(lines[end])) last = end;
    end = std::min(lines.size(), last + 1 + kContext);
    std::string text;
    size_t count_a = 0, count_b = 0;
    for (size_t i = begin; i < end; ++i) {
      count_a += lines[i].mark != '+' ? 1 : 0;
      count_b += lines[i].mark != '-' ? 1 : 0;
      text += lines[i].mark + std::string(lines[i].text) + "\n";
    }
    if (diff.empty()) diff = fmt::format("--- {0}\n+++ {0}\n", name);
    diff += fmt::format("@@ -{},{} +{},{} @@\n", count_a == 0 ? line_a - 1 : line_a, count_a,
                        count_b == 0 ? line_b - 1 : line_b, count_b) +
            text;
    line_a += count_a;
    line_b += count_b;
    at = end;
  }
  return diff;
}

}  // namespace ringscope
