#include "formats/descriptors/changed_config.h"

#include <fmt/format.h>

#include <charconv>
#include <sstream>

#include "core/base/text.h"
#include "formats/descriptors/descriptors.h"

namespace ringscope {
namespace {

constexpr size_t kIndent = 2;  // of a message's fields

/// "buffers[0].size_kb"
std::vector<TextStep> StepsOf(std::string_view path) {
  std::vector<TextStep> steps;
  while (!path.empty()) {
    const size_t end = std::min(path.find('.'), path.size());
    const std::string_view part = path.substr(0, end);
    path.remove_prefix(std::min(end + 1, path.size()));
    TextStep& step = steps.emplace_back();
    const size_t bracket = part.find('[');
    step.name = std::string(part.substr(0, bracket));
    if (bracket != std::string_view::npos)
      std::from_chars(part.data() + bracket + 1, part.data() + part.size(), step.index);
  }
  return steps;
}

/// Returns the beginning of the line of a place.
size_t LineStart(const std::string& text, size_t at) {
  return at == 0 ? 0 : text.rfind('\n', at - 1) + 1;  // npos + 1 is 0
}
std::string IndentOf(const std::string& text, size_t line_start) {
  const size_t end = std::min(text.find_first_not_of(" \t", line_start), text.size());
  return text.substr(line_start, end - line_start);
}
void AppendLines(std::string& text, const std::string& lines) {
  if (!text.empty() && text.back() != '\n') text += '\n';
  text += lines;
}

std::string CommentLines(const std::string& text, const std::string& indent) {
  std::string lines;
  const size_t taken = std::min(indent.size() + 2, kTextColumns / 2);
  std::istringstream wrapped(Wrap(text, size_t{0}, kTextColumns - taken));
  for (std::string line; std::getline(wrapped, line);) lines += indent + "# " + line + "\n";
  return lines;
}

std::string ReasonOf(const ConfigChange& change) {
  return change.reason + (change.is_estimate ? " (an estimate)" : "");
}

/// "name: value" inside its messages, on lines of their own.
std::string AddedLines(const std::vector<TextStep>& steps, size_t from, const std::string& value,
                       const std::string& indent) {
  std::string open, close;
  std::string own = indent;
  for (size_t at = from; at + 1 < steps.size(); ++at) {
    open += own + steps[at].name + " {\n";
    close.insert(0, own + "}\n");
    own += std::string(kIndent, ' ');
  }
  return open + own + steps.back().name + ": " + value + "\n" + close;
}

/// The value of a field, "name: value" in the text.
std::string ValueAt(const TextPlace& place, std::string_view config) {
  const std::string_view field = config.substr(place.begin, place.end - place.begin);
  const size_t value = field.find_first_not_of(" \t\n", field.find(':') + 1);
  return std::string(field.substr(std::min(value, field.size())));
}

void Apply(const ConfigChange& change, std::string& config) {
  const std::vector<TextStep> steps = StepsOf(change.path);
  const auto place = descriptors::FindInText("TraceConfig", config, steps);
  if (!place)  // of a trace: its config is not that of the known fields
    return AppendLines(config, CommentLines(fmt::format("to be changed: {}: {}; {}", change.path,
                                                        change.value, ReasonOf(change)),
                                            ""));
  if (place->steps == steps.size()) {
    const std::string was = ValueAt(*place, config);
    if (was == change.value) return;
    config.replace(place->begin, place->end - place->begin,
                   steps.back().name + ": " + change.value);
    const size_t line = LineStart(config, place->begin);
    config.insert(line, CommentLines(fmt::format("changed, was {}: {}", was, ReasonOf(change)),
                                     IndentOf(config, line)));
    return;
  }
  const std::string comment = change.reason.empty() ? "added" : "added: " + ReasonOf(change);
  if (place->steps == 0)
    return AppendLines(config, CommentLines(comment, "") + AddedLines(steps, 0, change.value, ""));
  const size_t brace = place->end - 1;  // that ends the message
  const size_t line = LineStart(config, brace);
  const std::string indent = IndentOf(config, line);
  if (line + indent.size() >= brace) {  // it is the first in its line
    const std::string own = indent + std::string(kIndent, ' ');
    config.insert(line,
                  CommentLines(comment, own) + AddedLines(steps, place->steps, change.value, own));
    return;
  }
  // A message that ends in the line of its last field.
  std::string added = AddedLines(steps, place->steps, change.value, "");
  std::ranges::replace(added, '\n', ' ');
  config.insert(brace, (config[brace - 1] == ' ' ? "" : " ") + added);
  config.insert(line, CommentLines(comment, indent));
}

}  // namespace

std::string ReusableConfig(Bytes config) {
  std::istringstream text(descriptors::Text("TraceConfig", config));
  std::string kept;
  for (std::string line; std::getline(text, line);)
    if (!line.starts_with("trace_uuid_msb:") && !line.starts_with("trace_uuid_lsb:"))
      kept += line + "\n";
  return kept;
}

std::string ChangedConfig(std::string_view config, const std::vector<ConfigChange>& changes) {
  std::string text(config);
  for (const ConfigChange& change : changes) Apply(change, text);
  return text;
}

void SetPresentValues(std::string_view config, std::vector<ConfigChange>& changes) {
  for (ConfigChange& change : changes) {
    const std::vector<TextStep> steps = StepsOf(change.path);
    const auto place = descriptors::FindInText("TraceConfig", config, steps);
    if (place && place->steps == steps.size()) change.was = ValueAt(*place, config);
  }
}

}  // namespace ringscope
