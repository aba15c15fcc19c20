#ifndef RINGSCOPE_CORE_PROTOVM_PROTOVM_RULES_H_
#define RINGSCOPE_CORE_PROTOVM_PROTOVM_RULES_H_

#include <array>
#include <cstdint>

namespace ringscope::protovm {

/// Differences between the releases of ProtoVM. One interpreter; each release is its predecessor
/// plus named changes. Source: observed behaviour of the released service.
struct ProtoVmRules {
  /// merge.skip_submessages has an effect.
  bool knows_skip_submessages = false;
  /// merge.del_if_src_empty has an effect.
  bool knows_del_if_src_empty = false;
  /// With both flags, an empty source field deletes a message; else the message is skipped.
  bool deletes_before_skipping = false;
  /// A field that occurs several times in one merge becomes repeated; else its last occurrence
  /// wins, unless it was repeated before.
  bool joins_occurrences = false;
  /// A merge charges the node of a source field before it decides whether to skip the field.
  bool charges_before_skipping = false;
  /// Nodes and map entries count 48 bytes each against the limit; else 56.
  bool has_small_nodes = false;
  /// A deletion that would leave a dangling cursor, and the use of a cursor after a deletion, are
  /// aborts; else they crash the service.
  bool checks_deleted_cursors = false;

  uint64_t node_bytes() const { return has_small_nodes ? 48 : 56; }
  uint64_t entry_bytes() const { return has_small_nodes ? 48 : 56; }
  friend bool operator==(const ProtoVmRules&, const ProtoVmRules&) = default;
};

inline constexpr ProtoVmRules kProtoVm54{};

inline constexpr ProtoVmRules kProtoVm55 = [] {
  ProtoVmRules r = kProtoVm54;
  r.knows_skip_submessages = true;
  r.charges_before_skipping = true;
  return r;
}();

inline constexpr ProtoVmRules kProtoVm56 = [] {
  ProtoVmRules r = kProtoVm55;
  r.knows_del_if_src_empty = true;
  r.joins_occurrences = true;
  r.charges_before_skipping = false;
  r.has_small_nodes = true;
  r.checks_deleted_cursors = true;
  return r;
}();

inline constexpr ProtoVmRules kProtoVm57 = [] {
  ProtoVmRules r = kProtoVm56;
  r.deletes_before_skipping = true;
  return r;
}();

/// Bytes of a limit in KiB, as the service computes them: in 32 bits.
constexpr uint64_t LimitBytes(uint64_t kib) { return static_cast<uint32_t>(kib * 1024); }

struct ProtoVmRelease {
  uint32_t release;  // of the service: 54 for v54
  ProtoVmRules rules;
};

/// All releases that have ProtoVM, oldest first. v58 has the rules of v57.
inline constexpr std::array kProtoVmReleases = {
    ProtoVmRelease{54, kProtoVm54}, ProtoVmRelease{55, kProtoVm55}, ProtoVmRelease{56, kProtoVm56},
    ProtoVmRelease{57, kProtoVm57}, ProtoVmRelease{58, kProtoVm57}};

/// The rules of a release; those of the newest one for a release beyond it, nullptr before v54.
constexpr const ProtoVmRules* FindProtoVmRules(uint32_t release) {
  const ProtoVmRules* found = nullptr;
  for (const ProtoVmRelease& known : kProtoVmReleases)
    if (known.release <= release) found = &known.rules;
  return found;
}

}  // namespace ringscope::protovm

#endif  // RINGSCOPE_CORE_PROTOVM_PROTOVM_RULES_H_
