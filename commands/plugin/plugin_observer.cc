#include "commands/plugin/plugin_observer.h"

#include <fmt/format.h>

#include <optional>
#include <vector>

#include "commands/plugin/plugin_structs.h"

namespace ringscope {

/// The observer's calls, in the plug-in's structs.
struct PluginObserver::Reports {
  PluginObserver& to;

  /// The C function that calls this member function of the observer that is its context.
  template <auto kReport>
  struct Callback;
  template <typename... Arguments, void (Reports::*kReport)(Arguments...) const>
  struct Callback<kReport> {
    static void Call(void* context, Arguments... arguments) {
      (Reports{*static_cast<PluginObserver*>(context)}.*kReport)(arguments...);
    }
  };

  void Complain(std::string text) const {
    if (to.complaint_.empty()) to.complaint_ = std::move(text);
  }
  void ComplainOfNothing(const char* callback) const {
    Complain(fmt::format("it called '{}' without what the call is about", callback));
  }
  /// The commit under way, if the plug-in names that one; otherwise nullptr, and a bad report is
  /// noted. (Only the name is taken from the plug-in: its pointers may dangle.)
  const ChunkCommit* UnderWay(const char* callback, const ringscope_commit* given) const {
    const ChunkCommit* const commit = to.input_.under_way;
    const auto meant = TakeStruct(given);
    if (commit == nullptr) {
      Complain(fmt::format("it called '{}' outside a commit", callback));
    } else if (!meant) {
      ComplainOfNothing(callback);
    } else if (ToKey(meant->sequence) == commit->sequence && meant->chunk == Raw(commit->chunk)) {
      return commit;
    } else {
      Complain(fmt::format(
          "it called '{}' for chunk {} of {}:{}, expected the commit under way, "
          "chunk {} of {}:{}",
          callback, meant->chunk, meant->sequence.producer, meant->sequence.writer,
          Raw(commit->chunk), Raw(commit->sequence.producer), Raw(commit->sequence.writer)));
    }
    return nullptr;
  }
  /// A value of one of our enumerations, whose last one is `last`.
  template <typename Enum>
  std::optional<Enum> ToEnum(const char* callback, uint32_t value, Enum last) const {
    if (value <= static_cast<uint32_t>(last)) return static_cast<Enum>(value);
    Complain(fmt::format("it called '{}' with {}, expected at most {}", callback, value,
                         static_cast<uint32_t>(last)));
    return std::nullopt;
  }
  /// A chunk, which must be there; nullopt also if reports about chunks are left out.
  std::optional<ObservedChunk> TakeChunk(const char* callback, const ringscope_chunk* given) const {
    if (!to.taken_.chunks) return std::nullopt;
    auto chunk = ToChunk(given);
    if (!chunk) ComplainOfNothing(callback);
    return chunk;
  }
  /// Calls `report` with the patches in our form.
  template <typename Report>
  void OnPatches(const char* callback, const ringscope_patches* given, Report report) const {
    const auto taken = TakeStruct(given);
    if (!taken || (taken->count > 0 && taken->patches == nullptr))
      return ComplainOfNothing(callback);
    std::vector<Patch> patches;
    for (uint64_t i = 0; i < taken->count; ++i)
      patches.push_back({.offset = taken->patches[i].offset, .data = taken->patches[i].data});
    report({.sequence = ToKey(taken->sequence),
            .chunk = ChunkId{taken->chunk},
            .patches = patches,
            .more = taken->more != 0});
  }

  void Committed(const ringscope_chunk* given) const {
    if (const auto chunk = TakeChunk("committed", given)) to.observer_.OnCommitted(*chunk);
  }
  void Rewritten(const ringscope_chunk* given) const {
    if (const auto chunk = TakeChunk("rewritten", given)) to.observer_.OnRewritten(*chunk);
  }
  void Relocated(const ringscope_chunk* given) const {
    if (const auto chunk = TakeChunk("relocated", given)) to.observer_.OnRelocated(*chunk);
  }
  void Erased(const ringscope_chunk* given) const {
    if (const auto chunk = TakeChunk("erased", given)) to.observer_.OnErased(*chunk);
  }
  void Discarded(const ringscope_commit* given, uint32_t value) const {
    const ChunkCommit* const commit = UnderWay("discarded", given);
    if (commit == nullptr) return;
    if (const auto reason = ToEnum("discarded", value, DiscardReason::kUnknown))
      to.observer_.OnDiscarded(*commit, *reason);
  }
  void Evicting(const ringscope_chunk* given, const ringscope_commit* by) const {
    const auto chunk = TakeChunk("evicting", given);
    if (!chunk) return;
    if (const ChunkCommit* const commit = UnderWay("evicting", by))
      to.observer_.OnEvicting(*chunk, *commit);
  }
  void Patched(const ringscope_chunk* given_chunk, const ringscope_patches* given) const {
    const auto chunk = TakeChunk("patched", given_chunk);
    if (!chunk) return;
    OnPatches("patched", given,
              [&](const ChunkPatches& patches) { to.observer_.OnPatched(*chunk, patches); });
  }
  void PatchMissed(const ringscope_chunk* given_chunk, const ringscope_patches* given,
                   uint32_t value) const {
    const auto miss = ToEnum("patch_missed", value, PatchMiss::kOutOfBounds);
    if (!miss) return;
    const auto chunk = ToChunk(given_chunk);
    OnPatches("patch_missed", given, [&](const ChunkPatches& patches) {
      to.observer_.OnPatchMissed(chunk ? &*chunk : nullptr, patches, *miss);
    });
  }
  void PacketGivenUp(ringscope_sequence sequence, const ringscope_place* place,
                     uint32_t cause) const {
    if (!to.taken_.abandoned) return;
    if (place == nullptr) return ComplainOfNothing("packet_given_up");
    const PacketPlace taken = ToPlace(*place);
    if (to.input_.CanHold(taken))
      return to.observer_.OnPacketAbandoned(ToKey(sequence), taken, cause);
    Complain(
        fmt::format("it called 'packet_given_up' with chunks {} to {}, expected no more than "
                    "were committed",
                    place->first_chunk, place->last_chunk));
  }
  void LossBit(ringscope_sequence sequence, uint32_t chunk, uint32_t bit) const {
    to.observer_.OnLossBit(ToKey(sequence), ChunkId{chunk}, bit);
  }
  void Wrap() const { to.observer_.OnWrap(); }
  void Padding(uint64_t offset, uint32_t size) const { to.observer_.OnPadding(offset, size); }
  void Stalled(ringscope_sequence sequence, uint32_t chunk, uint32_t value) const {
    if (!to.taken_.stalls) return;
    if (const auto reason = ToEnum("stalled", value, StallReason::kIncomplete))
      to.observer_.OnStalled(ToKey(sequence), ChunkId{chunk}, *reason);
  }
};

PluginObserver::PluginObserver(EngineObserver& observer, const PluginInput& input,
                               EngineReports taken)
    : observer_(observer), input_(input), taken_(taken) {
  callbacks_ = {.struct_size = sizeof(ringscope_observer),
                .reserved = 0,
                .context = this,
                .committed = Reports::Callback<&Reports::Committed>::Call,
                .rewritten = Reports::Callback<&Reports::Rewritten>::Call,
                .relocated = Reports::Callback<&Reports::Relocated>::Call,
                .discarded = Reports::Callback<&Reports::Discarded>::Call,
                .evicting = Reports::Callback<&Reports::Evicting>::Call,
                .erased = Reports::Callback<&Reports::Erased>::Call,
                .patched = Reports::Callback<&Reports::Patched>::Call,
                .patch_missed = Reports::Callback<&Reports::PatchMissed>::Call,
                .packet_given_up = Reports::Callback<&Reports::PacketGivenUp>::Call,
                .loss_bit = Reports::Callback<&Reports::LossBit>::Call,
                .wrap = Reports::Callback<&Reports::Wrap>::Call,
                .padding = Reports::Callback<&Reports::Padding>::Call,
                .stalled = Reports::Callback<&Reports::Stalled>::Call};
}

}  // namespace ringscope
