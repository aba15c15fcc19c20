#include "commands/plugin_observer.h"

#include <fmt/format.h>

#include <optional>
#include <vector>

#include "commands/plugin_structs.h"

namespace ringscope {
namespace {

std::optional<ObservedChunk> ToChunk(const ringscope_chunk* given) {
  const auto chunk = TakeStruct(given);
  if (!chunk) return std::nullopt;
  return ObservedChunk{.sequence = ToKey(chunk->sequence),
                       .chunk = ChunkId{chunk->chunk},
                       .offset = chunk->offset,
                       .outer_size = chunk->outer_size,
                       .payload_size = chunk->payload_size,
                       .payload_avail = chunk->payload_avail,
                       .flags = chunk->flags,
                       .incomplete = chunk->incomplete != 0,
                       .payload = Bytes(chunk->payload.data, chunk->payload.size)};
}

std::optional<ChunkCommit> ToCommit(const ringscope_commit* given) {
  const auto commit = TakeStruct(given);
  if (!commit) return std::nullopt;
  return ChunkCommit{.sequence = ToKey(commit->sequence),
                     .identity = {commit->uid, commit->pid},
                     .chunk = ChunkId{commit->chunk},
                     .fragments = commit->fragments,
                     .flags = commit->flags,
                     .complete = commit->complete != 0,
                     .payload = Bytes(commit->payload.data, commit->payload.size)};
}

std::vector<Patch> ToPatches(const ringscope_patches& given) {
  std::vector<Patch> patches;
  for (uint64_t i = 0; i < given.count; ++i)
    patches.push_back({.offset = given.patches[i].offset, .data = given.patches[i].data});
  return patches;
}

}  // namespace

/// Each takes the plug-in's words apart and puts them in ours.
struct PluginObserver::Reports {
  static PluginObserver& Self(void* context) { return *static_cast<PluginObserver*>(context); }

  static void Complain(void* context, std::string text) {
    std::string& complaint = Self(context).complaint_;
    if (complaint.empty()) complaint = std::move(text);
  }
  static void ComplainOfNothing(void* context, const char* callback) {
    Complain(context, fmt::format("it called '{}' without what the call is about", callback));
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
    const auto commit = ToCommit(given);
    if (!commit) return ComplainOfNothing(context, "discarded");
    if (const auto reason = ToEnum(context, "discarded", value, DiscardReason::kBadRecommit))
      Self(context).observer_.OnDiscarded(*commit, *reason);
  }
  static void Evicting(void* context, const ringscope_chunk* given, const ringscope_commit* by) {
    const auto chunk = ToChunk(given);
    const auto commit = ToCommit(by);
    if (!chunk || !commit) return ComplainOfNothing(context, "evicting");
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
    if (place == nullptr) return ComplainOfNothing(context, "packet_given_up");
    Self(context).observer_.OnPacketGivenUp(ToKey(sequence),
                                            {.first_chunk = ChunkId{place->first_chunk},
                                             .first_offset = place->first_offset,
                                             .last_chunk = ChunkId{place->last_chunk}},
                                            cause);
  }
  static void LossBit(void* context, ringscope_sequence sequence, uint32_t chunk, uint32_t bit) {
    Self(context).observer_.OnLossBit(ToKey(sequence), ChunkId{chunk}, bit);
  }
  static void Wrap(void* context) { Self(context).observer_.OnWrap(); }
  static void Padding(void* context, uint64_t offset, uint32_t size) {
    Self(context).observer_.OnPadding(offset, size);
  }
  static void Stalled(void* context, ringscope_sequence sequence, uint32_t chunk, uint32_t value) {
    if (const auto reason = ToEnum(context, "stalled", value, StallReason::kIncomplete))
      Self(context).observer_.OnStalled(ToKey(sequence), ChunkId{chunk}, *reason);
  }
};

PluginObserver::PluginObserver(EngineObserver& observer) : observer_(observer) {
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
