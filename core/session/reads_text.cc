#include "core/session/reads_text.h"

#include <fmt/format.h>

#include <vector>

#include "core/base/text.h"

namespace ringscope {

std::string ReadsText(const ReadsUsed& used) {
  const bool is_like = used.mode == ReadsMode::kRecorded && !used.like.empty();
  const std::string text =
      is_like ? "like " + Printable(used.like.substr(used.like.rfind('/') + 1))
              : fmt::format(fmt::runtime(RowOf(used.mode).text), HumanDuration(used.period_ns));
  return text + (used.assumed ? " (assumed)" : "");
}

std::string ReadsName(const ReadsUsed& used) {
  return std::string(Name(used.mode)) + (used.assumed ? " (assumed)" : "");
}

std::string ReadsNotes(const ReadsUsed& used) {
  std::vector<std::string> notes;
  const auto add = [&notes](std::string text) { notes.push_back(std::move(text)); };
  if (used.alignment_assumed)
    add("The log has no clock snapshot, so where the periods begin is assumed.");
  if (used.added_passes > 0)
    add(fmt::format("Reads were continued by {}, until nothing was left, as the service does{}",
                    used.added_passes == 1 ? "1 pass" : WithCommas(used.added_passes) + " passes",
                    used.recorded_end_unknown
                        ? "; the log does not show that the recorded last read left nothing."
                        : ": the recorded ones left nothing, either."));
  if (used.empty_reads > 0)
    add(
        fmt::format("{} returned nothing, as in the service, because the session is written into a "
                    "file, is only cloned, or waits for a trigger.",
                    Count(used.empty_reads, "consumer read")));
  if (used.seen_in_file > 0)
    add(fmt::format("{} {} seen by the recorder as the service's file grew.",
                    Count(used.seen_in_file, "read"), used.seen_in_file == 1 ? "was" : "were"));
  if (used.exceeded_file_bytes > 0)
    add(
        fmt::format("The service ends its file within a read, before it has max_file_size_bytes "
                    "({}). The replay "
                    "continues: which of its last packets are not in the file is not known.",
                    Count(used.exceeded_file_bytes, "byte")));
  if (used.left_out > 0)
    add(fmt::format(
        "{} of the log came after the first assumed one, and were left out: use --reads "
        "recorded.",
        Count(used.left_out, "read")));
  if (used.like_explained < used.like_packets)
    add(fmt::format("No choice of reads explains more than the first {} of {} of {}.",
                    WithCommas(used.like_explained), Count(used.like_packets, "packet"),
                    Printable(used.like)));
  if (!used.not_applied.empty())
    add("No replay can apply these settings of the config: " + Joined(used.not_applied) + ".");
  return Joined(notes, " ");
}

}  // namespace ringscope
