#ifndef RINGSCOPE_CORE_PERFETTO_INCREMENTAL_STATE_H_
#define RINGSCOPE_CORE_PERFETTO_INCREMENTAL_STATE_H_

namespace ringscope {

/// Whether the packets of one sequence can be interpreted, by trace processor's rules: the state is
/// invalid from the start and after each loss, until a packet clears it.
class IncrementalState {
 public:
  /// Takes in a packet that was read. @param lost whether a loss is reported before it
  void Add(bool clears_state, bool lost) {
    if (clears_state)
      valid_ = true;
    else if (lost)
      valid_ = false;
  }
  bool valid() const { return valid_; }

 private:
  bool valid_ = false;
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_PERFETTO_INCREMENTAL_STATE_H_
