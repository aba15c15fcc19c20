#include "commands/plugin/plugin_observer.h"

#include <fmt/format.h>

#include <optional>
#include <vector>

#include "commands/plugin/plugin_structs.h"

namespace ringscope {
namespace {

std::vector<Patch> ToPatches(const ringscope_patches& given) {
  std::vector<Patch> patches;
  for (uint64_t i = 0; i < given.count; ++i)
    patches.push_back({.offset = given.patches[i].offset, .data = given.patches[i].data});
  return patches;
}

}  // namespace

/// Each converts the plug-in's structs to ours.
struct PluginObserver::Reports {
  static PluginObserver& Self(void* context) { return *static_cast<PluginObserver*>(context); }

  static void Complain(void* context, std::string text) {
    std::string& complaint = Self(context).complaint_;
    if (complaint.empty()) complaint = std::move(text);
  }
  static void ComplainOfNothing(void* context, const char* callback) {
    Complain(context, fmt::format("it called '{}' without what the call is about", callback));
  }
  /// The commit under way, if the plug-in names that one; otherwise nullptr, and a bad report is
  /// noted. (Only the name is taken from the plug-in: its pointers may dangle.)
  static const ChunkCommit* UnderWay(void* context, const char* callback,
                                     const ringscope_commit* given) {
    const ChunkCommit* const commit = Self(context).input_.under_way;
    if (commit == nullptr) {
      Complain(context, fmt::format("it called '{}' outside a commit", callback));
      return nullptr;
    }
    const auto meant = TakeStruct(given);
    if (!meant) {
      ComplainOfNothing(context, callback);
      return nullptr;
    }
    if (ToKey(meant->sequence) == commit->sequence && meant->chunk == Raw(commit->chunk))
      return commit;
    Complain(context,
             fmt::format("it called '{}' for chunk {} of {}:{}, expected the commit under way, "
                         "chunk {} of {}:{}",
                         callback, meant->chunk, meant->sequence.producer, meant->sequence.writer,
                         Raw(commit->chunk), Raw(commit->sequence.producer),
                         Raw(commit->sequence.writer)));
    return nullptr;
  }
  /// A value of one of our enumerations, whose last one is `last`.
  template <typename Enum>
  static std::optional<Enum> ToEnum(void* context, const char* callback, uint32_t value,
                                    Enum last) {
    if (value <= static_cast<uint32_t>(last)) return static_cast<Enum>(value);
    Complain(context, fmt::format("it called '{}' with {}, expected at most {}", callback, value,
                                  static_cast<uint32_t>(last)));
    return std::nullopt;
  }

  /// The calls that are about one chunk.
  template <void (EngineObserver::*kCall)(const ObservedChunk&)>
  static void OnChunk(void* context, const char* callback, const ringscope_chunk* given) {
    if (!Self(context).taken_.chunks) return;
    if (const auto chunk = ToChunk(given))
      (Self(context).observer_.*kCall)(*chunk);
    else
      ComplainOfNothing(context, callback);
  }
  static void Committed(void* context, const ringscope_chunk* chunk) {
    OnChunk<&EngineObserver::OnCommitted>(context, "committed", chunk);
  }
  static void Rewritten(void* context, const ringscope_chunk* chunk) {
    OnChunk<&EngineObserver::OnRewritten>(context, "rewritten", chunk);
  }
  static void Relocated(void* context, const ringscope_chunk* chunk) {
    OnChunk<&EngineObserver::OnRelocated>(context, "relocated", chunk);
  }
  static void Erased(void* context, const ringscope_chunk* chunk) {
    OnChunk<&EngineObserver::OnErased>(context, "erased", chunk);
  }
  static void Discarded(void* context, const ringscope_commit* given, uint32_t value) {
    const ChunkCommit* const commit = UnderWay(context, "discarded", given);
    if (commit == nullptr) return;
    if (const auto reason = ToEnum(context, "discarded", value, DiscardReason::kUnknown))
      Self(context).observer_.OnDiscarded(*commit, *reason);
  }
  static void Evicting(void* context, const ringscope_chunk* given, const ringscope_commit* by) {
    if (!Self(context).taken_.chunks) return;
    const auto chunk = ToChunk(given);
    if (!chunk) return ComplainOfNothing(context, "evicting");
    const ChunkCommit* const commit = UnderWay(context, "evicting", by);
    if (commit == nullptr) return;
    Self(context).observer_.OnEvicting(*chunk, *commit);
  }
  /// Calls `report` with the patches in our form.
  template <typename Report>
  static void OnPatches(void* context, const char* callback, const ringscope_patches* given,
                        Report report) {
    const auto taken = TakeStruct(given);
    if (!taken || (taken->count > 0 && taken->patches == nullptr))
      return ComplainOfNothing(context, callback);
    const std::vector<Patch> patches = ToPatches(*taken);
    report({.sequence = ToKey(taken->sequence),
            .chunk = ChunkId{taken->chunk},
            .patches = patches,
            .more = taken->more != 0});
  }
  static void Patched(void* context, const ringscope_chunk* given_chunk,
                      const ringscope_patches* given) {
    if (!Self(context).taken_.chunks) return;
    const auto chunk = ToChunk(given_chunk);
    if (!chunk) return ComplainOfNothing(context, "patched");
    OnPatches(context, "patched", given, [&](const ChunkPatches& patches) {
      Self(context).observer_.OnPatched(*chunk, patches);
    });
  }
  static void PatchMissed(void* context, const ringscope_chunk* given_chunk,
                          const ringscope_patches* given, uint32_t value) {
    const auto miss = ToEnum(context, "patch_missed", value, PatchMiss::kOutOfBounds);
    if (!miss) return;
    const auto chunk = ToChunk(given_chunk);
    OnPatches(context, "patch_missed", given, [&](const ChunkPatches& patches) {
      Self(context).observer_.OnPatchMissed(chunk ? &*chunk : nullptr, patches, *miss);
    });
  }
  static void PacketGivenUp(void* context, ringscope_sequence sequence,
                            const ringscope_place* place, uint32_t cause) {
    if (!Self(context).taken_.abandoned) return;
    if (place == nullptr) return ComplainOfNothing(context, "packet_given_up");
    const PacketPlace taken = ToPlace(*place);
    if (!Self(context).input_.CanHold(taken)) {
      return Complain(context,
                      fmt::format("it called 'packet_given_up' with chunks {} to {}, expected no "
                                  "more than were committed",
                                  place->first_chunk, place->last_chunk));
    }
    Self(context).observer_.OnPacketAbandoned(ToKey(sequence), taken, cause);
  }
  static void LossBit(void* context, ringscope_sequence sequence, uint32_t chunk, uint32_t bit) {
    Self(context).observer_.OnLossBit(ToKey(sequence), ChunkId{chunk}, bit);
  }
  static void Wrap(void* context) { Self(context).observer_.OnWrap(); }
  static void Padding(void* context, uint64_t offset, uint32_t size) {
    Self(context).observer_.OnPadding(offset, size);
  }
  static void Stalled(void* context, ringscope_sequence sequence, uint32_t chunk, uint32_t value) {
    if (!Self(context).taken_.stalls) return;
    if (const auto reason = ToEnum(context, "stalled", value, StallReason::kIncomplete))
      Self(context).observer_.OnStalled(ToKey(sequence), ChunkId{chunk}, *reason);
  }
};

PluginObserver::PluginObserver(EngineObserver& observer, const PluginInput& input,
                               EngineReports taken)
    : observer_(observer), input_(input), taken_(taken) {
  callbacks_ = {.struct_size = sizeof(ringscope_observer),
                .reserved = 0,
                .context = this,
                .committed = Reports::Committed,
                .rewritten = Reports::Rewritten,
                .relocated = Reports::Relocated,
                .discarded = Reports::Discarded,
                .evicting = Reports::Evicting,
                .erased = Reports::Erased,
                .patched = Reports::Patched,
                .patch_missed = Reports::PatchMissed,
                .packet_given_up = Reports::PacketGivenUp,
                .loss_bit = Reports::LossBit,
                .wrap = Reports::Wrap,
                .padding = Reports::Padding,
                .stalled = Reports::Stalled};
}

}  // namespace ringscope
