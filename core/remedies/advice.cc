#include "core/remedies/advice.h"

#include <algorithm>
#include <array>
#include <bit>

#include "core/perfetto/trace_config_facts.h"
#include "core/remedies/advice_plan.h"

namespace ringscope {
namespace {

constexpr uint64_t kMs = 1'000'000;

uint64_t Millionths(uint64_t part, uint64_t whole) {
  return whole == 0
             ? 0
             : static_cast<uint64_t>(static_cast<double>(part) * 1e6 / static_cast<double>(whole));
}

class Advisor {
 public:
  Advisor(const AdviceFacts& facts, const AdviceFindings& findings)
      : facts_(facts), findings_(findings) {}

  std::vector<Advice> Run() {
    for (const AdviceBuffer& buffer : facts_.buffers) AddSize(buffer);
    for (const AdviceBuffer& buffer : facts_.buffers) AddCrowding(buffer);
    for (const SplitOutcome& split : findings_.tried) AddSplit(split);
    for (const ReadPeriod& period : findings_.periods) AddReads(period);
    AddFlush();
    AddState();
    for (const AdviceProducer& producer : facts_.producers) AddSharedMemory(producer);
    for (const AdviceBuffer& buffer : facts_.buffers) AddPolicy(buffer);
    for (const TriedProgram& program : findings_.programs) AddProgram(program);
    return std::move(advice_);
  }

 private:
  Advice& Add(AdviceTopic topic, AdviceKind kind, bool to_do, const AdviceNumbers& numbers) {
    Advice& advice = advice_.emplace_back();
    advice.topic = topic;
    advice.kind = kind;
    advice.to_do = to_do;
    advice.numbers = numbers;
    return advice;
  }

  void AddSize(const AdviceBuffer& buffer) {
    const SweepRow* now = FindRow(findings_.now, buffer.id);
    if (now == nullptr || now->written.packets == 0) return;
    const auto planned =
        std::find_if(findings_.plan.begin(), findings_.plan.end(),
                     [&](const PlannedBuffer& other) { return other.id == buffer.id; });
    if (planned == findings_.plan.end()) return;
    // Of a buffer that is split, both parts count.
    uint64_t size = planned->size;
    uint64_t needed = planned->needed.value_or(0);
    for (const PlannedBuffer& other : findings_.plan) {
      if (other.made_from != buffer.id) continue;
      size += other.size;
    }
    for (const PlannedSplit& split : findings_.splits)
      if (split.from == buffer.id) needed = split.needed.value_or(0);
    AdviceKind kind = AdviceKind::kSizeNever;
    if (needed != 0) {
      kind = needed <= buffer.size ? AdviceKind::kSizeDoes
             : needed <= size      ? AdviceKind::kSizeTooSmall
                                   : AdviceKind::kSizeNotEnough;
    }
    if (kind == AdviceKind::kSizeDoes && planned->enough) kind = AdviceKind::kSizeTooLarge;
    const bool to_do = kind == AdviceKind::kSizeTooSmall || kind == AdviceKind::kSizeNotEnough;
    // Nothing is to be done about a size with which the plan loses nothing.
    Add(AdviceTopic::kSizes, kind, to_do && !(findings_.becomes_periodic && IsKept(buffer.id)),
        SizeNumbers{.size = buffer.size,
                    .history_ns = now->shortest_history_ns,
                    .written = now->written.packets,
                    .lost = now->lost_packets(),
                    .needed = needed,
                    .planned = size,
                    .still_lost = planned->still_lost,
                    .enough = planned->enough.value_or(0)})
        .buffer = buffer.id;
  }

  /// Whether the buffer lost packets, and loses none with the plan: nothing else need be done.
  bool IsKept(BufferId id) const {
    const SweepRow* now = FindRow(findings_.now, id);
    if (now == nullptr || now->full_packets() == 0) return false;
    uint64_t lost = 0;
    for (const SweepRow& row : findings_.then) {
      const auto planned = std::find_if(findings_.plan.begin(), findings_.plan.end(),
                                        [&](const PlannedBuffer& one) { return one.id == row.id; });
      if (planned != findings_.plan.end() && planned->made_from.value_or(planned->id) == id)
        lost += row.full_packets();
    }
    return lost == 0;
  }
  /// The same without a buffer more, or shorter reads: by its size.
  bool IsKeptBySize(BufferId id) const {
    const bool is_split = std::any_of(findings_.splits.begin(), findings_.splits.end(),
                                      [id](const PlannedSplit& split) { return split.from == id; });
    const bool reads_as_now =
        !findings_.becomes_periodic && findings_.period_ns == findings_.reads.period_ns;
    const bool grows = std::any_of(
        findings_.plan.begin(), findings_.plan.end(), [&](const PlannedBuffer& planned) {
          return planned.id == id && planned.size > facts_.Find(id)->size;
        });
    return grows && !is_split && reads_as_now && IsKept(id);
  }

  void AddCrowding(const AdviceBuffer& buffer) {
    if (buffer.policy == FillPolicy::kDiscard || IsKeptBySize(buffer.id)) return;
    const auto split = FindSplit(facts_, buffer.id, buffer.id);
    if (!split) return;
    PacketCount lost, written;
    for (const AdviceSequence& sequence : facts_.sequences) {
      if (sequence.buffer != buffer.id ||
          std::find(split->rare.begin(), split->rare.end(), sequence.sequence) == split->rare.end())
        continue;
      lost += sequence.lost;
      written += sequence.written;
    }
    if (lost.packets == 0) return;
    Advice& advice =
        Add(AdviceTopic::kCrowding, AdviceKind::kCrowdedOut, true,
            CrowdingNumbers{.chatty = split->chatty.size(),
                            .chatty_share = Millionths(split->chatty_bytes, split->all_bytes),
                            .rare = split->rare.size(),
                            .rare_lost = lost.packets,
                            .rare_written = written.packets});
    advice.buffer = buffer.id;
    advice.sequences = split->rare;
  }

  void AddSplit(const SplitOutcome& split) {
    const bool is_planned =
        std::any_of(findings_.splits.begin(), findings_.splits.end(),
                    [&](const PlannedSplit& one) { return one.from == split.split.from; });
    if (!is_planned && IsKept(split.split.from)) return;
    Advice& advice = Add(AdviceTopic::kSplit, AdviceKind::kSplitHelps, true,
                         SplitNumbers{.to = Raw(split.split.to),
                                      .rest_size = split.rest_size,
                                      .chatty_size = split.chatty_size,
                                      .written = split.rare_after.written,
                                      .lost_before = split.rare_before.lost,
                                      .lost_after = split.rare_after.lost,
                                      .history_before_ns = split.rare_before.history_ns,
                                      .history_after_ns = split.rare_after.history_ns,
                                      .chatty_before_ns = split.chatty_before.history_ns,
                                      .chatty_after_ns = split.chatty_after.history_ns});
    advice.buffer = split.split.from;
    advice.sequences = split.split.chatty;
  }

  void AddReads(const ReadPeriod& period) {
    const SweepRow* now = FindRow(findings_.now, period.buffer);
    const AdviceBuffer* buffer = facts_.Find(period.buffer);
    if (now == nullptr || buffer == nullptr) return;
    const bool lost = now->full_packets() > 0;
    const auto add = [&](AdviceKind kind, bool to_do, const AdviceNumbers& numbers) {
      Add(AdviceTopic::kReads, kind, to_do, numbers).buffer = period.buffer;
    };
    const uint64_t now_ns = findings_.reads.period_ns;
    if (findings_.reads.periodic && !lost) {
      const uint64_t peak = buffer->rate.PeakIn(now_ns);
      if (peak > period.size / 5 * 4) {
        add(AdviceKind::kPeriodTight, true,
            ShorterPeriodNumbers{.size = period.size,
                                 .peak = peak,
                                 .now_ns = now_ns,
                                 .peak_then = period.peak_bytes,
                                 .period_ns = period.period_ns.value_or(0)});
        return;
      }
      add(AdviceKind::kPeriodDoes, false,
          PeriodNumbers{.size = period.size,
                        .peak = peak,
                        .period_ns = now_ns,
                        .share = Millionths(peak, period.size)});
    } else if (!period.period_ns) {
      if (IsKeptBySize(period.buffer)) return;
      add(AdviceKind::kPeriodNever, false,
          NewPeriodNumbers{.size = period.size, .peak = period.peak_bytes, .period_ns = 100 * kMs});
    } else if (findings_.reads.periodic) {
      add(AdviceKind::kPeriodTooLong, !IsKeptBySize(period.buffer),
          ShorterPeriodNumbers{.size = period.size,
                               .peak = buffer->rate.PeakIn(now_ns),
                               .now_ns = now_ns,
                               .peak_then = period.peak_bytes,
                               .period_ns = *period.period_ns});
    } else {
      add(AdviceKind::kPeriodWouldDo, findings_.becomes_periodic,
          NewPeriodNumbers{
              .size = period.size, .peak = period.peak_bytes, .period_ns = *period.period_ns});
    }
  }

  void AddFlush() {
    if (facts_.is_trace) return;
    const LateCommits& late = facts_.late;
    if (late.packets > 0) {
      Advice& advice = Add(
          AdviceTopic::kFlush, AdviceKind::kCommittedLate, true,
          LateNumbers{
              .packets = late.packets, .limit_ns = late.limit_ns, .longest_ns = late.longest_ns});
      if (late.sequence) advice.sequences = {*late.sequence};
    }
    if (facts_.unfinished > 0)
      Add(AdviceTopic::kFlush, AdviceKind::kFlushAtEnd, false,
          UnfinishedNumbers{.packets = facts_.unfinished});
    if (facts_.unfinished_before_flush > 0)
      Add(AdviceTopic::kFlush, AdviceKind::kFlushedInVain, false,
          UnfinishedNumbers{.packets = facts_.unfinished_before_flush});
  }

  void AddState() {
    uint64_t packets = 0, dropped = 0;
    std::vector<SequenceKey> sequences;
    for (const AdviceSequence& sequence : facts_.sequences) {
      if (sequence.unusable == 0) continue;
      packets += sequence.unusable;
      sequences.push_back(sequence.sequence);
    }
    for (const SweepRow& row : findings_.now) dropped += row.losses.incremental_sequences_dropped;
    if (packets == 0) return;
    // Nothing that is needed is lost any more.
    const bool lost_now = std::any_of(findings_.now.begin(), findings_.now.end(),
                                      [](const SweepRow& row) { return row.full_packets() > 0; });
    const bool loses = std::any_of(findings_.then.begin(), findings_.then.end(),
                                   [](const SweepRow& row) { return row.full_packets() > 0; });
    if (lost_now && !loses) return;
    // What a sequence that lost nothing reaches back to can be before its first packet.
    std::optional<uint64_t> shortest;
    for (const SweepRow& row : findings_.then) {
      if (row.read.packets + row.unread.packets == 0) continue;
      const uint64_t reach = row.history_ns == 0
                                 ? row.shortest_history_ns
                                 : std::min(row.history_ns, row.shortest_history_ns);
      shortest = std::min(shortest.value_or(reach), reach);
    }
    const uint64_t history = shortest.value_or(0);
    const uint64_t period = ClearPeriodFor(history);
    const std::optional<uint64_t> set = facts_.config.clear_period_ms;
    const bool does = set && *set > 0 && *set * kMs <= period;
    Advice& advice = Add(AdviceTopic::kState, AdviceKind::kClearState, !does,
                         StateNumbers{.sequences = sequences.size(),
                                      .dropped = dropped,
                                      .packets = packets,
                                      .history_ns = history,
                                      .period_ns = period});
    advice.sequences = std::move(sequences);
  }

  void AddSharedMemory(const AdviceProducer& producer) {
    const uint64_t lost = producer.aborted + producer.flagged;
    const uint64_t size = producer.smb_size.value_or(0);
    if (lost == 0 && (size == 0 || producer.rate.bytes() == 0)) return;
    const uint64_t peak_10 = producer.rate.PeakIn(10 * kMs);
    const uint64_t peak_100 = producer.rate.PeakIn(100 * kMs);
    SharedMemoryNumbers numbers{.smb_size = size,
                                .peak_10ms = peak_10,
                                .peak_100ms = peak_100,
                                .aborted = producer.aborted,
                                .flagged = producer.flagged,
                                .wanted = size};
    if (lost > 0) {
      numbers.wanted = std::bit_ceil(std::max({2 * size, peak_100, 4 * kPageBytes}));
    }
    Add(AdviceTopic::kSharedMemory,
        lost > 0 ? AdviceKind::kSharedMemoryTooSmall : AdviceKind::kSharedMemoryDoes, lost > 0,
        numbers)
        .producer = producer.id;
  }

  void AddPolicy(const AdviceBuffer& buffer) {
    const SweepRow* now = FindRow(findings_.now, buffer.id);
    if (now == nullptr) return;
    if (buffer.policy == FillPolicy::kDiscard) {
      const uint64_t lost = now->discarded.packets;
      if (lost == 0 && findings_.reads.periodic)
        Add(AdviceTopic::kPolicy, AdviceKind::kDiscardWillSeal, true,
            DiscardRiskNumbers{.size = buffer.size, .bytes = buffer.rate.bytes()})
            .buffer = buffer.id;
      if (!buffer.first_refused_ns || lost == 0) return;
      const bool streamed = findings_.reads.periodic;
      Add(AdviceTopic::kPolicy, streamed ? AdviceKind::kDiscardStreamed : AdviceKind::kDiscardFull,
          streamed || !IsKeptBySize(buffer.id),
          DiscardNumbers{.at_ns = *buffer.first_refused_ns,
                         .duration_ns = facts_.duration_ns,
                         .lost = lost,
                         .written = now->written.packets})
          .buffer = buffer.id;
      return;
    }
    if (IsKept(buffer.id)) return;
    // What is written only in the first tenth is lost once the ring buffer wraps.
    uint64_t lost = 0, bytes = 0, until = 0;
    std::vector<SequenceKey> early;
    for (const AdviceSequence& sequence : facts_.sequences) {
      if (sequence.buffer != buffer.id || sequence.lost.packets == 0 ||
          sequence.last_ns > facts_.duration_ns / 10)
        continue;
      early.push_back(sequence.sequence);
      lost += sequence.lost.packets;
      bytes += sequence.space_bytes;
      until = std::max(until, sequence.last_ns);
    }
    if (early.empty()) return;
    Advice& advice = Add(
        AdviceTopic::kPolicy, AdviceKind::kRingForStart, true,
        RingNumbers{.sequences = early.size(), .packets = lost, .bytes = bytes, .until_ns = until});
    advice.buffer = buffer.id;
    advice.sequences = std::move(early);
  }

  void AddProgram(const TriedProgram& program) {
    const protovm::VmAccount& vm = program.now;
    AdviceKind kind = AdviceKind::kProgramDoes;
    if (program.is_idle) {
      if (!program.enough || program.lost_then >= program.lost) return;
      kind = AdviceKind::kProgramWithoutMemory;
    } else if (vm.at_limit.packets + vm.dropped_elements > 0) {
      kind = program.enough ? AdviceKind::kProgramAtLimit : AdviceKind::kProgramNeverEnough;
    }
    const bool to_do =
        kind == AdviceKind::kProgramWithoutMemory || kind == AdviceKind::kProgramAtLimit;
    Advice& advice = Add(AdviceTopic::kPrograms, kind, to_do,
                         ProgramNumbers{.folded = vm.in_trace.packets,
                                        .too_late = vm.folded.packets - vm.in_trace.packets,
                                        .dropped = vm.at_limit.packets,
                                        .elements = vm.dropped_elements,
                                        .failed = vm.errors + vm.aborted,
                                        .state_bytes = vm.state_bytes,
                                        .peak = vm.peak_memory,
                                        .limit = vm.limit,
                                        .enough = program.enough.value_or(0),
                                        .lost = program.lost,
                                        .lost_without = program.lost_without,
                                        .lost_then = program.lost_then});
    advice.buffer = program.buffer;
    advice.data_source = vm.data_source;
  }

  const AdviceFacts& facts_;
  const AdviceFindings& findings_;
  std::vector<Advice> advice_;
};

}  // namespace

std::vector<std::pair<const char*, uint64_t>> ListNumbers(const AdviceNumbers& numbers) {
  std::vector<std::pair<const char*, uint64_t>> list;
  std::visit(
      [&]<typename Numbers>(const Numbers& of) {
        constexpr size_t kCount = std::size(Numbers::kNames);
        const auto values = std::bit_cast<std::array<uint64_t, kCount>>(of);
        for (size_t i = 0; i < kCount; ++i) list.emplace_back(Numbers::kNames[i], values[i]);
      },
      numbers);
  return list;
}

std::vector<Advice> MakeAdvice(const AdviceFacts& facts, const AdviceFindings& findings) {
  return Advisor(facts, findings).Run();
}

bool AnyToDo(const std::vector<Advice>& advice) {
  return std::any_of(advice.begin(), advice.end(), [](const Advice& one) { return one.to_do; });
}

}  // namespace ringscope
