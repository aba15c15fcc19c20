#include "core/gaps/gap_filter.h"

#include <algorithm>

namespace ringscope {
namespace {

template <typename T>
bool IsIn(const std::vector<T>& list, T value) {
  return list.empty() || std::find(list.begin(), list.end(), value) != list.end();
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

bool GapFilter::KeepsSequence(SequenceKey sequence) const {
  return buffers.empty() && IsIn(sequences, sequence);
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

}  // namespace ringscope
