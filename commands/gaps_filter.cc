#include "commands/gaps_filter.h"

#include <fmt/format.h>

#include <algorithm>

#include "commands/options.h"
#include "commands/suggest.h"

namespace ringscope {
namespace {

template <typename T>
bool IsIn(const std::vector<T>& list, T value) {
  return list.empty() || std::find(list.begin(), list.end(), value) != list.end();
}

/// Names of the fates that are losses.
std::vector<std::string> LossNames() {
  std::vector<std::string> names;
  for (size_t i = 0; i < kFates; ++i)
    if (IsLoss(static_cast<Fate>(i))) names.emplace_back(Name(static_cast<Fate>(i)));
  return names;
}

Result<Fate> ParseFate(std::string_view text) {
  const std::optional<Fate> fate = FateFromName(text);
  if (fate && IsLoss(*fate)) return *fate;
  const std::vector<std::string> names = LossNames();
  return Fail(ErrorCode::kUsage, fmt::format("'{}' is no fate of a lost packet", text), {},
              DidYouMean(text, names, fmt::format("they are {}", fmt::join(names, ", "))));
}

Result<Cause> ParseCause(std::string_view text) {
  if (const std::optional<Cause> cause = CauseFromName(text)) return *cause;
  return Fail(ErrorCode::kUsage, fmt::format("there is no cause '{}'", text), {},
              "ringscope-gaps(1) lists them");
}

Result<uint32_t> ParseContent(std::string_view text) {
  if (const std::optional<uint32_t> content = ContentFromName(text)) return *content;
  return Fail(ErrorCode::kUsage, fmt::format("there is no kind of content '{}'", text), {},
              "give a name such as track_event, or the number of the packet's field");
}

bool IsInTime(const GapFilter& filter, std::optional<uint64_t> first, std::optional<uint64_t> last,
              uint64_t start_ns) {
  if (filter.from && !(last && *last >= filter.from->Absolute(start_ns))) return false;
  return !filter.to || (first && *first <= filter.to->Absolute(start_ns));
}

}  // namespace

bool GapFilter::Keeps(BufferId buffer, SequenceKey sequence) const {
  return IsIn(buffers, buffer) && IsIn(sequences, sequence);
}

bool GapFilter::Keeps(const Gap& gap, uint64_t start_ns) const {
  const auto has_cause = [&](const CauseCount& count) {
    return IsIn(fates, count.fate) && IsIn(causes, count.cause);
  };
  const auto has_content = [&](const ContentCount& count) { return IsIn(contents, count.content); };
  return Keeps(gap.buffer, gap.sequence) &&
         std::any_of(gap.causes.begin(), gap.causes.end(), has_cause) &&
         std::any_of(gap.contents.begin(), gap.contents.end(), has_content) &&
         IsInTime(*this, gap.written.first.time_ns, gap.written.last.time_ns, start_ns);
}

bool GapFilter::Keeps(const PacketAccount& account, uint64_t start_ns) const {
  return Keeps(account.buffer, account.sequence) && IsIn(fates, account.fate) &&
         IsIn(causes, account.cause) && IsIn(contents, account.facts.content) &&
         IsInTime(*this, account.written.time_ns, account.written.time_ns, start_ns);
}

void AddGapFilter(CLI::App& app, GapFilter& filter) {
  AddParsedList(app, "--seq", filter.sequences, ParseSequence, "PRODUCER:WRITER",
                "Only this sequence; repeat it for more");
  AddParsedList(app, "--buffer", filter.buffers, ParseBuffer, "ID", "Only this buffer");
  AddParsed(app, "--from", filter.from, ParseTimePoint, "TIME",
            "Only packets written from here on: an offset from the session's start like 1.5s, or "
            "absolute nanoseconds");
  AddParsed(app, "--to", filter.to, ParseTimePoint, "TIME", "Up to here, as with --from");
  AddParsedList(
      app, "--fate", filter.fates, ParseFate, "FATE",
      fmt::format("Only gaps with packets of this fate: {}", fmt::join(LossNames(), ", ")));
  AddParsedList(app, "--cause", filter.causes, ParseCause, "CAUSE",
                "Only gaps with packets lost for this cause, such as evicted, sealed, aborted, "
                "never_committed, read_gap");
  AddParsedList(app, "--content", filter.contents, ParseContent, "CONTENT",
                "Only gaps with packets of this kind, such as track_event, or a field's number");
}

}  // namespace ringscope
