#ifndef RINGSCOPE_COMMANDS_PLUGIN_HOST_ANSWERS_H_
#define RINGSCOPE_COMMANDS_PLUGIN_HOST_ANSWERS_H_

#include <algorithm>
#include <cstdint>
#include <string>

#include "commands/plugin/host_messages.h"
#include "commands/plugin/host_ring.h"
#include "commands/plugin/plugin_structs.h"
#include "core/plugin/plugin_abi.h"

namespace ringscope {

/// What the process answers, in the order in which it happens.
class HostAnswers {
 public:
  explicit HostAnswers(HostMemory& memory)
      : ring_(memory.answers, memory.answer_bytes.data(), kAnswerRingBytes) {}

  void Send(HostAnswer answer, Bytes body) {
    const AnswerHead head{.size = static_cast<uint32_t>(body.size()), .answer = answer};
    Write(Bytes(reinterpret_cast<const uint8_t*>(&head), sizeof(head)));
    Write(body);
  }
  template <typename T>
  void SendStruct(HostAnswer answer, const T& body) {
    Send(answer, Bytes(reinterpret_cast<const uint8_t*>(&body), sizeof(body)));
  }
  void SendText(HostAnswer answer, const std::string& text) {
    Send(answer, Bytes(reinterpret_cast<const uint8_t*>(text.data()), text.size()));
  }
  /// Lets ringscope begin with what there is of many answers.
  void PublishIfMany() {
    if (ring_.unpublished() >= kManyBytes) ring_.Publish();
  }
  void Done(int64_t value) {
    SendStruct(HostAnswer::kDone, value);
    ring_.Publish();
  }

 private:
  void Write(Bytes bytes) {
    while (!bytes.empty()) {
      const uint32_t space = ring_.Space().value_or(0);
      if (space == 0) {
        ring_.Publish();
        ring_.WaitForSpace({});
        continue;
      }
      const size_t count = std::min<size_t>(space, bytes.size());
      ring_.Put(bytes.first(count));
      bytes = bytes.subspan(count);
    }
  }

  static constexpr uint32_t kManyBytes = kAnswerRingBytes / 4;

  RingWriter ring_;
};

/// What was committed to the plug-in's buffers: no packet, chunk or list is larger.
struct HostLimits {
  uint64_t committed_bytes = 0;
  uint64_t most_patches = 0;
};

/// Sends what a buffer reports.
class EventSender {
 public:
  EventSender(HostAnswers& answers, const HostLimits& limits) : answers_(answers), limits_(limits) {
    callbacks_ = {
        .struct_size = sizeof(ringscope_observer),
        .context = this,
        .committed = OnChunk<HostEvent::kCommitted>,
        .rewritten = OnChunk<HostEvent::kRewritten>,
        .relocated = OnChunk<HostEvent::kRelocated>,
        .discarded =
            [](void* self, const ringscope_commit* commit, uint32_t reason) {
              Of(self).Send({.event = HostEvent::kDiscarded, .value = reason}, {.commit = commit});
            },
        .evicting =
            [](void* self, const ringscope_chunk* chunk, const ringscope_commit* by) {
              Of(self).Send({.event = HostEvent::kEvicting}, {.chunk = chunk, .commit = by});
            },
        .erased = OnChunk<HostEvent::kErased>,
        .patched =
            [](void* self, const ringscope_chunk* chunk, const ringscope_patches* patches) {
              Of(self).Send({.event = HostEvent::kPatched}, {.chunk = chunk, .patches = patches});
            },
        .patch_missed =
            [](void* self, const ringscope_chunk* chunk, const ringscope_patches* patches,
               uint32_t miss) {
              Of(self).Send({.event = HostEvent::kPatchMissed, .value = miss},
                            {.chunk = chunk, .patches = patches});
            },
        .packet_given_up =
            [](void* self, ringscope_sequence sequence, const ringscope_place* place,
               uint32_t cause) {
              Of(self).Send({.event = HostEvent::kGivenUp, .value = cause, .sequence = sequence},
                            {.place = place});
            },
        .loss_bit =
            [](void* self, ringscope_sequence sequence, uint32_t chunk, uint32_t bit) {
              Of(self).Send({.event = HostEvent::kLossBit,
                             .chunk = chunk,
                             .value = bit,
                             .sequence = sequence});
            },
        .wrap = [](void* self) { Of(self).Send({.event = HostEvent::kWrap}); },
        .padding =
            [](void* self, uint64_t offset, uint32_t size) {
              Of(self).Send({.event = HostEvent::kPadding, .value = size, .offset = offset});
            },
        .stalled =
            [](void* self, ringscope_sequence sequence, uint32_t chunk, uint32_t reason) {
              Of(self).Send({.event = HostEvent::kStalled,
                             .chunk = chunk,
                             .value = reason,
                             .sequence = sequence});
            }};
  }
  EventSender(const EventSender&) = delete;
  EventSender& operator=(const EventSender&) = delete;

  const ringscope_observer* callbacks() const { return &callbacks_; }

  /// What an event is about; what is nullptr goes as such.
  struct About {
    const ringscope_chunk* chunk = nullptr;
    const ringscope_commit* commit = nullptr;
    const ringscope_patches* patches = nullptr;
    const ringscope_place* place = nullptr;
  };
  void SendAs(HostAnswer answer, EventBody event, const About& about) {
    const auto chunk = TakeStruct(about.chunk);
    const auto commit = TakeStruct(about.commit);
    const auto patches = TakeStruct(about.patches);
    event.has_chunk = chunk.has_value();
    event.has_commit = commit.has_value();
    event.has_patches = patches.has_value();
    event.patches_are_null = patches && patches->patches == nullptr;
    event.has_place = about.place != nullptr;
    if (chunk && chunk->payload.data != nullptr && chunk->payload.size <= limits_.committed_bytes)
      event.payload_bytes = chunk->payload.size;
    body_.Clear();
    body_.Add(event);
    if (chunk) {
      body_.Add(*chunk);
      body_.AddBytes({chunk->payload.data, static_cast<size_t>(event.payload_bytes)});
    }
    if (commit) body_.Add(*commit);
    if (patches) {
      ringscope_patches sent = *patches;
      sent.count = std::min(sent.count, limits_.most_patches);
      body_.Add(sent);
      for (uint64_t i = 0; !event.patches_are_null && i < sent.count; ++i)
        body_.Add(sent.patches[i]);
    }
    if (about.place != nullptr) body_.Add(*about.place);
    answers_.Send(answer, body_.bytes());
  }

 private:
  static EventSender& Of(void* self) { return *static_cast<EventSender*>(self); }
  template <HostEvent kEvent>
  static void OnChunk(void* self, const ringscope_chunk* chunk) {
    Of(self).Send({.event = kEvent}, {.chunk = chunk});
  }
  void Send(const EventBody& event) { Send(event, {}); }
  void Send(const EventBody& event, const About& about) {
    SendAs(HostAnswer::kEvent, event, about);
  }

  HostAnswers& answers_;
  const HostLimits& limits_;
  ringscope_observer callbacks_{};
  MessageBody body_;
};

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_PLUGIN_HOST_ANSWERS_H_
