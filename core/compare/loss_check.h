#ifndef RINGSCOPE_CORE_COMPARE_LOSS_CHECK_H_
#define RINGSCOPE_CORE_COMPARE_LOSS_CHECK_H_

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/enum_names.h"
#include "core/compare/stored_ops.h"
#include "core/ledger/ledger.h"
#include "core/perfetto/chunk.h"
#include "core/perfetto/packet.h"
#include "core/session/replay.h"

namespace ringscope {

/// A fault that no buffer should have, whatever release it is of.
enum class LossFault : uint8_t {
  kLostWhole,    // a packet is lost though all of it was in the buffer
  kSilentLoss,   // something is lost, and no packet of the sequence shows that
  kFalseSign,    // a packet shows a loss where nothing is missing
  kWrongPacket,  // what is returned is not what a writer wrote there
};
template <>
inline constexpr std::array kEnumNames<LossFault> = {"lost_whole", "silent_loss", "false_sign",
                                                     "wrong_packet"};

struct FoundFault {
  LossFault fault{};
  std::string kind;  // a cause, or loss bits: equal for faults of one sort
  std::string text;  // which packet, in a line
};

/// Compares the packets that one buffer returns with those that were written, by the ledger's
/// accounts. A sequence whose writer broke a rule is left out. It listens before its ledger.
class LossCheck : public LedgerSink, public ReplayListener {
 public:
  /// @param signs_prove_loss false: the buffer flags packets where nothing is missing, as it is
  /// known to (EngineInfo::flags_first_of_sequence)
  explicit LossCheck(bool signs_prove_loss) : signs_prove_loss_(signs_prove_loss) {}

  bool WantsBufferEvents() const override { return true; }
  void OnChunk(BufferId, const ChunkCommit& commit, std::optional<Refusal>) override;
  void OnBufferEvent(const BufferEvent& event) override {
    if (event.sent != nullptr) AddPatches(*event.sent);
  }
  Status OnPacket(const SessionPacket& packet) override {
    NoteReturned(*packet.packet);
    return {};
  }
  void OnDrainPacket(BufferId, const Packet& packet) override { NoteReturned(packet); }
  void OnPacketFate(const PacketAccount& account) override;

  /// After the end: the first fault of each sort and kind, by sequence.
  std::vector<FoundFault> Faults() const;

  /// Packets of which the events do not show what became of them.
  uint64_t unexplained() const { return unexplained_; }

 private:
  /// A chunk as its writer handed it over last.
  struct Chunk {
    std::string bytes;                                      // of its fragments, before any patch
    std::vector<std::pair<uint64_t, std::string>> patches;  // offset, four bytes
    std::vector<std::pair<uint32_t, uint32_t>> fragments;   // offset, size of the content
    uint8_t flags = 0;
    bool complete = false;
    bool aborts = false;  // an abort marker follows the fragments

    /// The bytes of a fragment with all patches.
    std::string ContentOf(std::pair<uint32_t, uint32_t> fragment) const;
  };
  /// Steps from the sequence's first commit, and the offset of the size varint.
  using Place = std::pair<int64_t, uint32_t>;
  struct Returned {
    Place place;
    int64_t last_chunk = 0;
    uint64_t size = 0;
    uint64_t hash = 0;
    uint32_t loss_bits = 0;
    uint64_t record = 0;
    uint64_t order = 0;  // among all that were returned
  };
  struct Lost {
    Place place;
    uint64_t size = 0;
    Fate fate{};
    Cause cause{};
    uint32_t loss_bits = 0;
    bool own_fault = false;
    uint64_t record = 0;  // that decided it
  };
  struct Sequence {
    ChunkId first{};
    bool breaks_rules = false;
    std::map<int64_t, Chunk> chunks;
    std::vector<Returned> returned;
    std::vector<Lost> lost;

    int64_t StepsTo(ChunkId chunk) const;
  };

  void AddPatches(const ChunkPatches& patches);
  void NoteReturned(const Packet& packet);
  static bool KeepsRules(const Sequence& sequence);
  static void FindLostWhole(const Sequence& sequence, std::vector<FoundFault>& faults);
  static void FindSilentLosses(const Sequence& sequence, std::vector<FoundFault>& faults);
  static void FindFalseSigns(const Sequence& sequence, std::vector<FoundFault>& faults);
  static void FindWrongPackets(const Sequence& sequence, std::vector<FoundFault>& faults);

  const bool signs_prove_loss_;
  std::map<SequenceKey, Sequence> sequences_;
  uint64_t returned_ = 0;
  uint64_t unexplained_ = 0;
  uint64_t hash_ = 0;  // of the packet that was returned last
};

struct Accounts {
  std::string wrong;  // the sums that do not add up; empty: all do
  std::vector<FoundFault> faults;
};
/// Replays a stream with a ledger. @param engine of `options`, which reports events
Result<Accounts> CheckAccounts(const EngineInfo& engine, const ReplayOptions& options,
                               const std::vector<StoredOp>& ops);

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_COMPARE_LOSS_CHECK_H_
