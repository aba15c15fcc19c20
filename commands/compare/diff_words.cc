#include "commands/compare/diff_words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <vector>

#include "commands/replays/record_text.h"
#include "commands/shell/text.h"
#include "core/perfetto/commit_request.h"
#include "core/perfetto/data_loss.h"
#include "core/session/buffer_event.h"

namespace ringscope {
namespace {

std::string CommitText(const Commit& commit) {
  constexpr size_t kShown = 3;
  std::vector<std::string> parts;
  CommitRequestParser parser;
  parser.Parse(commit.request);
  for (const ChunkToMove& chunk : parser.chunks()) {
    const auto header = chunk.header();
    if (!header) continue;
    parts.push_back(
        fmt::format("{} of {} to buffer {}: {}", chunk.incomplete ? "scrape" : "commit",
                    ToString(ChunkName{{commit.producer, header->writer}, header->chunk}),
                    chunk.target_buffer.value_or(0), DescribeChunk(chunk)));
  }
  for (const ChunkToPatch& patch : parser.patches()) {
    parts.push_back(fmt::format("patch of {} in buffer {}: {}",
                                ToString(patch.NameFor(commit.producer)),
                                patch.target_buffer.value_or(0), DescribePatches(patch)));
  }
  if (parts.empty()) return fmt::format("commit of producer {}", Raw(commit.producer));
  const size_t more = parts.size() > kShown ? parts.size() - kShown : 0;
  parts.resize(parts.size() - more);
  std::string text = fmt::format("{}", fmt::join(parts, "; "));
  if (more > 0) text += fmt::format("; and {} more", more);
  return text;
}

}  // namespace

std::string OperationText(const Op& op) {
  if (const auto* commit = std::get_if<Commit>(&op.body)) return CommitText(*commit);
  const std::string what = DescribeRecord(op.body);
  return fmt::format("{}{}{}", OpKindName(op.body.index()), what.empty() ? "" : ": ", what);
}

std::string PlaceText(const DiffPlace& place) {
  std::string text =
      fmt::format("{}+{}", ToString(ChunkName{place.sequence, place.chunk}), place.offset);
  if (place.clone != 0) text += fmt::format(" (clone {})", place.clone);
  return text;
}

std::string TimeText(const LogMoment& moment, FirstTime first_time_ns) {
  if (!moment.time_ns || !first_time_ns || *moment.time_ns < *first_time_ns) return "";
  return HumanDuration(*moment.time_ns - *first_time_ns);
}

std::string MomentText(const LogMoment& moment, FirstTime first_time_ns) {
  const std::string time = TimeText(moment, first_time_ns);
  return fmt::format("record {}{}{}", WithCommas(moment.record.value_or(0)),
                     time.empty() ? "" : " at ", time);
}

std::string Heading(DifferenceKind kind) {
  constexpr std::array<const char*, kDifferenceKinds> kHeadings = {
      "Only in A",
      "Only in B",
      "Returned twice by A",
      "Returned twice by B",
      "Returned at a different moment",
      "In a different order within the sequence",
      "With different content",
      "With different loss bits",
      "With a different uid or pid",
      "Patch results",
      "Counters"};
  return kHeadings[static_cast<size_t>(kind)];
}

std::string ListHeading(DifferenceKind kind, uint64_t count, size_t listed, const char* noun) {
  return fmt::format(
      "{}: {}{}", Heading(kind), Count(count, noun),
      count > listed ? fmt::format(", of which the first {} (--limit)", WithCommas(listed)) : "");
}

std::string ViewText(const PacketView& view, FirstTime first_time_ns) {
  if (view.returned) {
    std::string text = "returned by " + MomentText(view.moment, first_time_ns);
    if (view.loss_bits != 0) text += ", loss bits " + LossBitsToString(view.loss_bits);
    if (!view.valid) text += ", invalid for the service";
    return text;
  }
  if (!view.why) return "not returned again";
  std::string text = Describe(*view.why);
  if (view.why->moment.record || view.why->moment.time_ns)
    text += fmt::format(" ({})", MomentText(view.why->moment, first_time_ns));
  return text;
}

std::string StateText(const SideState& state) {
  return fmt::format("{} held, {} of {} bytes; write cursor at {}; wrapped {}",
                     Count(state.held_chunks, "chunk"), WithCommas(state.held_bytes),
                     WithCommas(state.size), WithCommas(state.write_cursor),
                     Count(state.wraps, "time"));
}

std::string HeldChunkText(const HeldChunk& chunk) {
  std::string text = fmt::format("#{} at {}: {} bytes", Raw(chunk.chunk), WithCommas(chunk.offset),
                                 WithCommas(chunk.outer_size));
  if (chunk.incomplete) text += ", incomplete";
  if ((chunk.flags & kNeedsPatching) != 0) text += ", needs patching";
  return text;
}

}  // namespace ringscope
