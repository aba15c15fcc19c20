#include "commands/gaps/gap_filter_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <vector>

#include "commands/shell/options.h"
#include "commands/shell/text.h"
#include "commands/shell/values.h"

namespace ringscope {
namespace {

Result<Fate> ParseFate(std::string_view text) {
  const std::optional<Fate> fate = FromName<Fate>(text);
  if (fate && (IsLoss(*fate) || *fate == Fate::kFolded)) return *fate;
  const std::vector<std::string> names = FilterFates();
  return Fail(ErrorCode::kUsage, fmt::format("'{}' is not a fate of a lost packet", text), {},
              DidYouMean(text, names, fmt::format("they are {}", fmt::join(names, ", "))));
}

Result<Cause> ParseCause(std::string_view text) {
  if (const std::optional<Cause> cause = FromName<Cause>(text)) return *cause;
  return Fail(ErrorCode::kUsage, fmt::format("there is no cause '{}'", text), {},
              "ringscope-gaps(1) lists them");
}

Result<uint32_t> ParseContent(std::string_view text) {
  if (const std::optional<uint32_t> content = ContentFromName(text)) return *content;
  return Fail(ErrorCode::kUsage, fmt::format("there is no kind of content '{}'", text), {},
              "give a name such as track_event, or the number of the packet's field");
}

}  // namespace

std::vector<std::string> FilterFates() {
  std::vector<std::string> names;
  for (size_t i = 0; i < kFates; ++i)
    if (IsLoss(static_cast<Fate>(i))) names.emplace_back(Name(static_cast<Fate>(i)));
  names.emplace_back(Name(Fate::kFolded));
  return names;
}

void AddGapFilter(CLI::App& app, GapFilter& filter) {
  AddSelection(app, filter, "packets written");
  AddParsedList(
      app, "--fate", filter.fates, ParseFate, "FATE",
      fmt::format("Only gaps with packets of this fate: {}; folded, with --packets: those that "
                  "were overwritten, but are folded into a state (ProtoVM)",
                  fmt::join(FilterFates(), ", ")));
  AddParsedList(app, "--cause", filter.causes, ParseCause, "CAUSE",
                "Only gaps with packets lost for this cause, such as evicted, sealed, aborted, "
                "never_committed, read_gap");
  AddParsedList(app, "--content", filter.contents, ParseContent, "CONTENT",
                "Only gaps with packets of this kind, such as track_event, or a field's number");
}

}  // namespace ringscope
