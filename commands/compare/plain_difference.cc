#include "commands/compare/plain_difference.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/compare/explain.h"
#include "core/compare/recorded_calls.h"
#include "core/perfetto/page.h"

namespace ringscope {
namespace {

/// Payloads of a log that are kept to be minimized, bytes.
constexpr uint64_t kMostPayloadBytes = uint64_t{4} << 30;

/// `size` for a stream of `stream_size` where the session's was `base`: whole pages, if it is not
/// the session's.
uint64_t InProportion(uint64_t size, uint64_t base, uint64_t stream_size) {
  if (stream_size == base || base == 0) return size;
  const double wanted =
      static_cast<double>(size) / static_cast<double>(base) * static_cast<double>(stream_size);
  return std::max(PagesUp(static_cast<uint64_t>(wanted)), kPageBytes);
}

uint64_t SmallerSize(const Both<BufferSetting>& shapes) {
  return std::min(shapes.a.size, shapes.b.size);
}

/// The side with a buffer of its own, whatever the stream's is.
FuzzSide WithShape(FuzzSide side, Side which, const Both<BufferSetting>& shapes) {
  side.rules.reset();  // what differs is the buffer
  side.info.name = fmt::format("{} ({})", Letter(which), side.info.name);
  side.info.create = [create = side.info.create, own = shapes[which],
                      base = SmallerSize(shapes)](EngineConfig config) {
    config.size = InProportion(own.size, base, config.size);
    config.policy = own.policy;
    return create(config);
  };
  return side;
}

/// The operations of the buffer, as the session gives them to side A's.
Result<std::optional<PlainStream>> OperationsOn(BufferId buffer, const std::vector<StoredOp>& ops,
                                                ReplayOptions options) {
  const RecordedCalls calls(kMostPayloadBytes);
  options.session.make_engine = calls.Maker();
  {
    Replay replay(std::move(options), {});
    for (size_t i = 0; i < ops.size(); ++i) RS_RETURN_IF_ERROR(replay.Apply(ops[i].op(), i));
    RS_RETURN_IF_ERROR(replay.Finish());
  }
  if (calls.is_cut()) return std::nullopt;
  PlainStream stream;
  for (const RecordedCalls::Recorded& recorded : calls.streams())
    if (recorded.buffer == buffer) stream = recorded.stream;
  return stream;
}

}  // namespace

BufferSetting PlainDifference::ShapeOf(Side side, uint64_t stream_size) const {
  return {InProportion(shapes[side].size, SmallerSize(shapes), stream_size), shapes[side].policy};
}

bool PlainDifference::HasOneShape() const {
  return shapes.a.size == shapes.b.size && shapes.a.policy == shapes.b.policy;
}

Result<std::optional<PlainDifference>> FindPlainDifference(const std::vector<StoredOp>& ops,
                                                           const DiffArgs& args,
                                                           const SessionDiff& diff) {
  const LogDiff& result = diff.result;
  const auto& first = result.first ? result.first : result.first_counter;
  if (diff.clone || !result.same_reads || args.sides.a.pass_bytes != args.sides.b.pass_bytes ||
      result.died || !first || !first->buffer)
    return std::nullopt;
  const Both<ReplayOptions> sides = ToDiffOptions(args, diff.clone).sides;
  PlainDifference plain;
  const auto buffer = std::find_if(result.buffers.begin(), result.buffers.end(),
                                   [&](const BufferDiff& of) { return of.id == *first->buffer; });
  if (buffer == result.buffers.end()) return std::nullopt;
  for (const Side side : kSides) {
    const SideBuffer& own = buffer->sides[side];
    RS_ASSIGN_OR_RETURN(plain.engines[side], sides[side].session.find_engine(own.engine));
    plain.shapes[side] = {own.size, own.policy};
  }
  for (const Side side : kSides) {
    plain.plan.sides[side] = SideOf(*plain.engines[side]);
    if (!plain.HasOneShape())
      plain.plan.sides[side] = WithShape(std::move(plain.plan.sides[side]), side, plain.shapes);
  }
  RS_ASSIGN_OR_RETURN(auto stream, OperationsOn(*first->buffer, ops, sides.a));
  if (!stream) return std::nullopt;
  plain.stream = std::move(*stream);
  plain.stream.size = SmallerSize(plain.shapes);
  plain.stream.policy = plain.shapes.a.policy;
  // What is left shall show the same kind of difference, and the same counter.
  plain.plan.ignored.kinds.fill(true);
  plain.plan.ignored.kinds[static_cast<size_t>(first->kind)] = false;
  plain.plan.ignored.counters.fill(true);
  if (!first->counters.empty()) plain.plan.ignored.counters[first->counters.front()] = false;
  auto finding = FirstFinding(plain.plan, plain.stream);
  if (!finding) return std::nullopt;
  plain.finding = std::move(*finding);
  plain.finding.rules.clear();  // the kind decides, whichever rule explains it
  return plain;
}

void ShrinkPlain(PlainDifference& plain, const std::function<bool()>& stop) {
  plain.stream = Smallest(plain.plan, plain.finding, std::move(plain.stream), stop);
}

DiffArgs ArgsOfPlain(const DiffArgs& args, const PlainDifference& plain) {
  DiffArgs own = args;
  own.clone.reset();
  for (const Side side : kSides) {
    ReplayChoices& choices = own.sides[side];
    const BufferSetting shape = plain.ShapeOf(side, plain.stream.size);
    choices.session.buffers.clear();
    choices.session.all = {};
    choices.session.all.engine = plain.engines[side]->name;
    if (shape.size != plain.stream.size) choices.session.all.size = shape.size;
    if (shape.policy != plain.stream.policy) choices.session.all.policy = shape.policy;
    choices.reads = {};  // they are in the stream
    choices.pass_bytes.reset();
    choices.config.clear();
  }
  return own;
}

Result<std::optional<std::string>> CaseOfPlain(const PlainDifference& plain, CaseStyle style) {
  const auto shown = FirstFinding(plain.plan, plain.stream);
  if (!shown) return std::nullopt;
  TestCase test_case{.cause = shown->cause, .what = shown->mismatch.text, .stream = plain.stream};
  const BufferSetting of_a = plain.ShapeOf(Side::kA, plain.stream.size);
  test_case.stream.size = of_a.size;
  test_case.stream.policy = of_a.policy;
  if (!plain.HasOneShape()) test_case.buffer_of_b = plain.ShapeOf(Side::kB, plain.stream.size);
  RS_ASSIGN_OR_RETURN(std::string text, WriteTestCase(test_case, plain.engines, style));
  return text;
}

}  // namespace ringscope
