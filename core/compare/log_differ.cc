#include "core/compare/log_differ.h"

#include <algorithm>
#include <cstddef>
#include <deque>
#include <utility>
#include <variant>
#include <vector>

#include "core/compare/record_comparer.h"
#include "core/compare/side_replay.h"

namespace ringscope {
namespace {

constexpr size_t kBytesOfASection = size_t{512} << 10;
/// Sections that the sides have at most before they are compared, beside the one that is filled.
constexpr size_t kMostAhead = 3;

/// Whether an engine may end, as a plug-in in a process of its own does.
bool CanDie(const ReplayOptions& side) {
  const auto is_other = [](const BufferChoice& choice) {
    return choice.engine && !FindEngine(*choice.engine);
  };
  const auto& buffers = side.session.buffers;
  return side.session.make_engine || is_other(side.session.all) ||
         std::any_of(buffers.begin(), buffers.end(),
                     [&](const auto& buffer) { return is_other(buffer.second); });
}

}  // namespace

class LogDiffer::Impl {
 public:
  explicit Impl(DiffOptions options)
      : options_(std::move(options)),
        lock_step_(CanDie(options_.sides.a) || CanDie(options_.sides.b)),
        a_(Side::kA, options_.sides.a),
        b_(Side::kB, options_.sides.b),
        section_(std::make_unique<DiffSection>()),
        comparer_(options_) {
    if (options_.runner && !lock_step_)
      runner_ = options_.runner(
          [this](Side side, DiffSection& section) { (side == Side::kA ? a_ : b_).Run(section); });
  }

  Status Apply(const Op& op, uint64_t number) {
    if (comparer_.has_died() || !status_) return status_;
    section_->Add(op, number);
    // It returns all that a buffer holds: there is to be memory for one of these.
    if (std::holds_alternative<CloneRead>(op.body)) return CatchUp();
    if (lock_step_ || section_->records.size() >= options_.section_records ||
        section_->bytes.copied() >= kBytesOfASection)
      Put();
    return status_;
  }

  Status CatchUp() {
    if (is_comparing_) return status_;  // a callback asks
    if (section_->records.size() > 0 && status_) Put();
    while (!put_.empty() && status_) CompareOldest();
    return status_;
  }

  Result<LogDiff> Finish() {
    if (lock_step_) RS_RETURN_IF_ERROR(CatchUp());
    if (!comparer_.has_died() && status_) {
      section_->at_end = true;
      Put();
    }
    RS_RETURN_IF_ERROR(CatchUp());
    return comparer_.Finish(a_.replay(), b_.replay());
  }

 private:
  /// Has both sides replay the section, and compares what they have replayed by now.
  void Put() {
    DiffSection& section = *section_;
    put_.push_back(std::move(section_));
    if (empty_.empty()) {
      section_ = std::make_unique<DiffSection>();
    } else {
      section_ = std::move(empty_.back());
      empty_.pop_back();
    }
    if (runner_ != nullptr) {
      runner_->Put(section);
      if (put_.size() > kMostAhead) CompareOldest();
      return;
    }
    a_.Run(section);
    // Once a side has died, there is no end to read at.
    if (!section.at_end || !section.tapes.a.error) b_.Run(section);
    CompareOldest();
  }

  void CompareOldest() {
    if (runner_ != nullptr) runner_->Wait();
    std::unique_ptr<DiffSection> section = std::move(put_.front());
    put_.pop_front();
    is_comparing_ = true;
    if (status_) status_ = comparer_.Compare(*section);
    is_comparing_ = false;
    section->Clear();
    empty_.push_back(std::move(section));
  }

  const DiffOptions options_;
  /// A side may end at any record, and the other one's counters are to be those of that record.
  const bool lock_step_;
  SideReplay a_;
  SideReplay b_;
  std::unique_ptr<DiffSection> section_;          // that is filled
  std::deque<std::unique_ptr<DiffSection>> put_;  // not compared yet
  std::vector<std::unique_ptr<DiffSection>> empty_;
  RecordComparer comparer_;
  bool is_comparing_ = false;
  Status status_;                       // of what was compared
  std::unique_ptr<SideRunner> runner_;  // after all that it uses
};

LogDiffer::LogDiffer(DiffOptions options) : impl_(std::make_unique<Impl>(std::move(options))) {}
LogDiffer::~LogDiffer() = default;
Status LogDiffer::Apply(const Op& op, uint64_t number) { return impl_->Apply(op, number); }
Status LogDiffer::CatchUp() { return impl_->CatchUp(); }
Result<LogDiff> LogDiffer::Finish() { return impl_->Finish(); }

}  // namespace ringscope
