#include "core/compare/mutate.h"

#include <algorithm>

#include "core/perfetto/commit_request.h"
#include "core/perfetto/page.h"

namespace ringscope {
namespace {

using StepKind = StreamStep::Kind;

class Mutation {
 public:
  explicit Mutation(const Dice& dice) : dice_(dice) {}

  PlainStream Of(const PlainStream& source, uint32_t operations) {
    const auto all = static_cast<uint32_t>(source.steps.size());
    const uint32_t count = std::min(all, operations);
    const auto begin = source.steps.begin() + static_cast<std::ptrdiff_t>(Below(all - count + 1));
    PlainStream stream;
    stream.policy = OneIn(6) ? FillPolicy::kDiscard : source.policy;
    stream.size = SizeFor({begin, begin + static_cast<std::ptrdiff_t>(count)});
    const uint32_t one_in = 2 + Below(30);  // operations, one is changed
    for (auto at = begin; stream.steps.size() < count && at != source.steps.end(); ++at) {
      if (!OneIn(one_in)) {
        stream.steps.push_back(*at);
        continue;
      }
      switch (Below(8)) {
        case 0:  // left out
          break;
        case 1:  // twice
          stream.steps.push_back(*at);
          stream.steps.push_back(*at);
          break;
        case 2:  // after the next one
          if (at + 1 != source.steps.end()) {
            stream.steps.push_back(at[1]);
            stream.steps.push_back(*at);
            ++at;
          }
          break;
        case 3:
          stream.steps.push_back(Scraped(**at));
          stream.steps.push_back(*at);
          break;
        case 4:
        case 5:
          stream.steps.push_back(*at);
          stream.steps.push_back(Read());
          break;
        default:
          stream.steps.push_back(Changed(**at));
      }
    }
    return stream;
  }

 private:
  uint32_t Below(uint32_t n) { return n == 0 ? 0 : dice_() % n; }
  bool OneIn(uint32_t n) { return Below(n) == n - 1; }

  /// A buffer that the operations fill about once to eight times.
  uint64_t SizeFor(const PlainSteps& steps) {
    uint64_t bytes = 0;
    for (const auto& step : steps)
      bytes += step->step.kind == StepKind::kCommit
                   ? OuterSize(static_cast<uint32_t>(step->payload.size()))
                   : 0;
    const uint64_t pages = std::max<uint64_t>(1, (bytes >> Below(4)) / kPageBytes);
    return kPageBytes * std::min<uint64_t>(pages, 4096);
  }

  std::shared_ptr<const PlainStep> Read() {
    auto read = std::make_shared<PlainStep>();
    read->step.kind = OneIn(5) ? StepKind::kClone : StepKind::kRead;
    if (OneIn(3)) read->step.max_packets = Below(20);
    return read;
  }

  /// The chunk before its writer had finished it, with some of its fragments.
  std::shared_ptr<const PlainStep> Scraped(const PlainStep& step) {
    auto scraped = std::make_shared<PlainStep>(step);
    ChunkCommit& commit = scraped->step.commit;
    commit.complete = false;
    commit.fragments = static_cast<uint16_t>(Below(commit.fragments + 1u));
    if (commit.fragments < step.step.commit.fragments) commit.flags &= kFirstContinues;
    return scraped;
  }

  std::shared_ptr<const PlainStep> Changed(const PlainStep& step) {
    auto changed = std::make_shared<PlainStep>(step);
    StreamStep& to = changed->step;
    if (to.kind == StepKind::kPatch) {
      to.patches.more = OneIn(2);
      for (auto& [offset, bytes] : changed->patches)
        if (OneIn(2)) offset = OneIn(8) ? UINT64_MAX - Below(8) : Below(600);
      return changed;
    }
    if (to.kind != StepKind::kCommit) return changed;
    switch (Below(6)) {
      case 0:
        to.commit.chunk = ChunkId{Raw(to.commit.chunk) + Below(9) - 4};
        break;
      case 1:
        to.commit.flags = static_cast<uint8_t>(Below(8));
        break;
      case 2:
        to.commit.fragments = static_cast<uint16_t>(Below(to.commit.fragments + 3u));
        break;
      case 3:
        changed->payload.resize(Below(static_cast<uint32_t>(changed->payload.size()) + 1));
        break;
      case 4:
        for (char& byte : changed->payload)
          if (OneIn(40)) byte = static_cast<char>(dice_());
        break;
      default:
        changed->payload.append(Below(600), static_cast<char>(Below(256)));
        changed->payload.resize(std::min(changed->payload.size(), kMaxChunkPayload));
    }
    return changed;
  }

  const Dice& dice_;
};

}  // namespace

PlainStream Mutate(const PlainStream& source, const Dice& dice, uint32_t operations) {
  return Mutation(dice).Of(source, operations);
}

}  // namespace ringscope
