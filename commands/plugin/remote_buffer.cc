#include "commands/plugin/remote_buffer.h"

#include <fmt/format.h>

#include <deque>
#include <utility>
#include <vector>

#include "commands/plugin/host_messages.h"

namespace ringscope {
namespace {

template <typename T>
Bytes StructBytes(const T& value) {
  return {reinterpret_cast<const uint8_t*>(&value), sizeof(value)};
}

/// What an event's message has, as the interface's structs.
struct TakenEvent {
  EventBody event;
  ringscope_chunk chunk{};
  ringscope_commit commit{};
  ringscope_patches patches{};
  ringscope_place place{};
  std::vector<ringscope_patch> list;

  /// @return whether it is a possible one
  bool Take(MessageReader& body) {
    event = body.Take<EventBody>();
    if (event.has_chunk != 0) {
      chunk = body.Take<ringscope_chunk>();
      chunk.struct_size = sizeof(chunk);
      const Bytes payload = body.TakeBytes(event.payload_bytes);
      chunk.payload = {payload.empty() ? nullptr : payload.data(), payload.size()};
    }
    if (event.has_commit != 0) {
      commit = body.Take<ringscope_commit>();
      commit.struct_size = sizeof(commit);
      commit.payload = {};
    }
    if (event.has_patches != 0) {
      patches = body.Take<ringscope_patches>();
      patches.struct_size = sizeof(patches);
      patches.patches = nullptr;
      if (event.patches_are_null == 0) {
        for (uint64_t i = 0; i < patches.count && body.is_sound(); ++i)
          list.push_back(body.Take<ringscope_patch>());
        patches.patches = list.data();
      }
    }
    if (event.has_place != 0) place = body.Take<ringscope_place>();
    return body.is_whole();
  }
  const ringscope_chunk* chunk_or_null() const { return event.has_chunk != 0 ? &chunk : nullptr; }
  const ringscope_commit* commit_or_null() const {
    return event.has_commit != 0 ? &commit : nullptr;
  }
  const ringscope_patches* patches_or_null() const {
    return event.has_patches != 0 ? &patches : nullptr;
  }
  const ringscope_place* place_or_null() const { return event.has_place != 0 ? &place : nullptr; }

  /// @return whether there is such an event
  bool ReportTo(const ringscope_observer& to) const {
    switch (event.event) {
      case HostEvent::kCommitted:
        to.committed(to.context, chunk_or_null());
        return true;
      case HostEvent::kRewritten:
        to.rewritten(to.context, chunk_or_null());
        return true;
      case HostEvent::kRelocated:
        to.relocated(to.context, chunk_or_null());
        return true;
      case HostEvent::kDiscarded:
        to.discarded(to.context, commit_or_null(), event.value);
        return true;
      case HostEvent::kEvicting:
        to.evicting(to.context, chunk_or_null(), commit_or_null());
        return true;
      case HostEvent::kErased:
        to.erased(to.context, chunk_or_null());
        return true;
      case HostEvent::kPatched:
        to.patched(to.context, chunk_or_null(), patches_or_null());
        return true;
      case HostEvent::kPatchMissed:
        to.patch_missed(to.context, chunk_or_null(), patches_or_null(), event.value);
        return true;
      case HostEvent::kGivenUp:
        to.packet_given_up(to.context, event.sequence, place_or_null(), event.value);
        return true;
      case HostEvent::kLossBit:
        to.loss_bit(to.context, event.sequence, event.chunk, event.value);
        return true;
      case HostEvent::kWrap:
        to.wrap(to.context);
        return true;
      case HostEvent::kPadding:
        to.padding(to.context, event.offset, event.value);
        return true;
      case HostEvent::kStalled:
        to.stalled(to.context, event.sequence, event.chunk, event.value);
        return true;
    }
    return false;
  }
};

class RemoteBuffer final : public PluginBuffer {
 public:
  RemoteBuffer(std::shared_ptr<HostProcess> host, const ringscope_config& config,
               const LogMoment* now)
      : host_(std::move(host)), config_(config), now_(now), number_(host_->NewBuffer()) {}
  ~RemoteBuffer() override {
    if (is_made_) {
      const std::lock_guard lock(host_->mutex());
      if (is_reading_) host_->Abandon();
      host_->Send(Head(HostCall::kDestroy), {});
    }
  }

  /// @param from the buffer that it is a clone of; nullptr: none
  bool Make(uint64_t plugin, RemoteBuffer* from) {
    const CreateBody body{.plugin = plugin,
                          .made = number_,
                          .size = config_.size,
                          .policy = config_.policy,
                          .observed = config_.observer != nullptr ? 1u : 0u};
    CallHead head = Head(from == nullptr ? HostCall::kCreate : HostCall::kClone);
    if (from != nullptr) head.buffer = from->number_;
    const std::lock_guard lock(host_->mutex());
    is_made_ = Call(head, {StructBytes(body)}) == 1;
    return is_made_;
  }

  void Commit(const ringscope_commit& commit) override {
    const Bytes payload(commit.payload.data, static_cast<size_t>(commit.payload.size));
    const std::lock_guard lock(host_->mutex());
    if (config_.observer == nullptr)
      host_->Send(Head(HostCall::kCommit), {StructBytes(commit), payload});
    else
      Call(Head(HostCall::kCommit), {StructBytes(commit), payload});
  }
  int Patch(const ringscope_patches& patches) override {
    const std::lock_guard lock(host_->mutex());
    return static_cast<int>(
        Call(Head(HostCall::kPatch),
             {StructBytes(patches),
              Bytes(reinterpret_cast<const uint8_t*>(patches.patches),
                    static_cast<size_t>(patches.count) * sizeof(ringscope_patch))}));
  }
  void ExpectWholePass() override { expects_whole_pass_ = true; }
  void BeginRead() override {
    const std::lock_guard lock(host_->mutex());
    for (ringscope_packet left{}; is_reading_ && NextOfPass(left) == 1;) continue;
    Call(Head(HostCall::kBeginRead), {});
    if (!std::exchange(expects_whole_pass_, false)) return;
    is_reading_ = true;
    host_->Begin(Head(HostCall::kReadAll), [this] { KeepAnswers(); });
  }
  int NextPacket(ringscope_packet& packet) override {
    const std::lock_guard lock(host_->mutex());
    if (is_reading_) return NextOfPass(packet);
    bool taken = false;
    const int64_t value =
        Call(Head(HostCall::kNextPacket), {}, [&](HostAnswer answer, MessageReader& body) {
          taken = answer == HostAnswer::kPacket && TakePacket(body, packet);
          return taken;
        });
    // A packet is there exactly if the function says so.
    return value == 1 && !taken ? 0 : static_cast<int>(value);
  }
  void Stats(ringscope_stats& stats) override {
    const std::lock_guard lock(host_->mutex());
    Call(Head(HostCall::kStats), {}, [&](HostAnswer answer, MessageReader& body) {
      if (answer != HostAnswer::kStats) return false;
      stats = body.Take<ringscope_stats>();
      return body.is_whole();
    });
  }
  std::unique_ptr<PluginBuffer> Clone(const ringscope_config& config) override {
    auto clone = std::make_unique<RemoteBuffer>(host_, config, now_);
    if (!clone->Make(0, this)) return nullptr;
    return clone;
  }
  void VisitWriters(ringscope_writer_visitor visit, void* context) override {
    const std::lock_guard lock(host_->mutex());
    Call(Head(HostCall::kVisitWriters), {}, [&](HostAnswer answer, MessageReader& body) {
      if (answer != HostAnswer::kWriter) return false;
      auto writer = body.Take<ringscope_writer>();
      writer.struct_size = sizeof(writer);
      if (body.is_whole()) visit(context, &writer);
      return body.is_whole();
    });
  }
  const char* Check() override {
    const std::lock_guard lock(host_->mutex());
    std::optional<std::string> wrong;
    Call(Head(HostCall::kCheck), {}, [&](HostAnswer answer, MessageReader& body) {
      if (answer != HostAnswer::kText) return false;
      wrong = body.TakeRest();
      return true;
    });
    wrong_ = wrong.value_or("");
    return wrong ? wrong_.c_str() : nullptr;
  }
  uint64_t VisitChunks(ringscope_chunk_visitor visit, void* context) override {
    const std::lock_guard lock(host_->mutex());
    return static_cast<uint64_t>(
        Call(Head(HostCall::kVisitChunks), {}, [&](HostAnswer answer, MessageReader& body) {
          TakenEvent chunk;
          if (answer != HostAnswer::kChunk || !chunk.Take(body)) return false;
          visit(context, chunk.chunk_or_null());
          return true;
        }));
  }
  int SetUpVm(const ringscope_vm_setup& setup) override {
    const std::lock_guard lock(host_->mutex());
    return static_cast<int>(
        Call(Head(HostCall::kSetUpVm),
             {StructBytes(setup),
              Bytes(setup.data_source.data, static_cast<size_t>(setup.data_source.size)),
              Bytes(setup.program.data, static_cast<size_t>(setup.program.size))}));
  }
  void VisitVms(ringscope_vm_visitor visit, void* context) override {
    const std::lock_guard lock(host_->mutex());
    Call(Head(HostCall::kVisitVms), {}, [&](HostAnswer answer, MessageReader& body) {
      if (answer != HostAnswer::kVm) return false;
      const auto taken = body.Take<VmBody>();
      ringscope_vm vm = taken.vm;
      vm.struct_size = sizeof(vm);
      if (taken.is_sound == 0) {
        vm.state = {nullptr, UINT64_MAX};  // is refused
        visit(context, &vm);
        return body.is_whole();
      }
      for (ringscope_slice* const part : {&vm.data_source, &vm.program, &vm.state})
        part->data = body.TakeBytes(part->size).data();
      std::vector<uint16_t> producers;
      for (uint64_t i = 0; i < vm.producer_count && body.is_sound(); ++i)
        producers.push_back(body.Take<uint16_t>());
      vm.producers = producers.data();
      if (body.is_whole()) visit(context, &vm);
      return body.is_whole();
    });
  }
  const PluginDeath* death() const override { return host_->death(); }

 private:
  CallHead Head(HostCall call) const {
    const bool has_record = now_ != nullptr && now_->record;
    return {.call = call, .buffer = number_, .record = has_record ? *now_->record + 1 : 0};
  }

  /// A call whose answers are events and failures, and what `take` takes.
  int64_t Call(const CallHead& head, std::initializer_list<Bytes> parts,
               const HostProcess::TakeAnswer& take = {}) {
    return host_->Call(head, parts, [&](HostAnswer answer, MessageReader& body) {
      return TakeReport(answer, body).value_or(false) || (take && take(answer, body));
    });
  }

  /// Takes an event or a failure. @return whether it is possible; nullopt: it is something else
  std::optional<bool> TakeReport(HostAnswer answer, MessageReader& body) {
    if (answer == HostAnswer::kFailed) {
      config_.fail(config_.host, body.TakeRest().c_str());
      return true;
    }
    if (answer != HostAnswer::kEvent) return std::nullopt;
    TakenEvent event;
    return config_.observer != nullptr && event.Take(body) && event.ReportTo(*config_.observer);
  }

  /// The next packet of a pass that the process reads by itself.
  int NextOfPass(ringscope_packet& packet) {
    while (true) {
      std::optional<HostProcess::Answer> answer;
      if (kept_.empty()) {
        answer = host_->NextAnswer();
        if (!answer) break;
      } else {
        current_ = std::move(kept_.front());
        kept_.pop_front();
        answer = HostProcess::Answer{current_.first, current_.second};
      }
      MessageReader body(answer->body);
      if (answer->answer == HostAnswer::kDone) {
        is_reading_ = false;
        const auto value = body.Take<int64_t>();
        if (body.is_whole() && value != 1) return static_cast<int>(value);
      } else if (answer->answer == HostAnswer::kPacket) {
        if (TakePacket(body, packet)) return 1;
      } else if (TakeReport(answer->answer, body).value_or(false)) {
        continue;
      }
      host_->DieOfNonsense(fmt::format("an answer of kind {} that is not possible in a read",
                                       static_cast<uint32_t>(answer->answer)));
      break;
    }
    is_reading_ = false;
    return 0;
  }
  /// Takes all answers of the pass, as another call comes before they are asked for.
  void KeepAnswers() {
    uint64_t bytes = 0;
    while (const auto answer = host_->NextAnswer()) {
      bytes += answer->body.size();
      if (bytes > kMostKeptBytes + 2 * host_->sent_bytes())
        return host_->DieOfNonsense("a read pass without an end");
      kept_.emplace_back(answer->answer,
                         std::vector<uint8_t>(answer->body.begin(), answer->body.end()));
      if (answer->answer == HostAnswer::kDone) return;
    }
  }

  bool TakePacket(MessageReader& body, ringscope_packet& packet) {
    packet = body.Take<ringscope_packet>();
    packet.struct_size = sizeof(packet);
    packet.slices = nullptr;
    const auto sent = body.Take<HostSlices>();
    bytes_.assign(1, 0);
    slices_.clear();
    if (sent == HostSlices::kImpossible) {
      // Stands for slices that are too large, and is refused like them.
      slices_.push_back({bytes_.data(), UINT64_MAX});
      packet.slice_count = 1;
    }
    std::vector<size_t> offsets;
    for (uint64_t i = 0; sent == HostSlices::kSent && i < packet.slice_count; ++i) {
      const auto slice = body.Take<SliceBody>();
      const Bytes bytes = body.TakeBytes(slice.is_null != 0 ? 0 : slice.size);
      if (!body.is_sound()) return false;
      offsets.push_back(slice.is_null != 0 ? kNoBytes : bytes_.size());
      slices_.push_back({nullptr, slice.size});
      bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    }
    for (size_t i = 0; i < offsets.size(); ++i)
      if (offsets[i] != kNoBytes) slices_[i].data = bytes_.data() + offsets[i];
    if (sent != HostSlices::kNull) packet.slices = slices_.data();
    return body.is_whole();
  }

  static constexpr size_t kNoBytes = SIZE_MAX;
  static constexpr uint64_t kMostKeptBytes = uint64_t{64} << 20;

  std::shared_ptr<HostProcess> host_;
  const ringscope_config config_;
  const LogMoment* const now_;
  const uint64_t number_;
  bool is_made_ = false;
  bool expects_whole_pass_ = false;
  bool is_reading_ = false;                                       // a whole pass
  std::deque<std::pair<HostAnswer, std::vector<uint8_t>>> kept_;  // answers of it
  std::pair<HostAnswer, std::vector<uint8_t>> current_;
  // The last packet's.
  std::vector<uint8_t> bytes_;
  std::vector<ringscope_slice> slices_;
  std::string wrong_;
};

}  // namespace

std::unique_ptr<PluginBuffer> CreateRemoteBuffer(std::shared_ptr<HostProcess> host, uint64_t plugin,
                                                 const ringscope_config& config,
                                                 const LogMoment* now) {
  auto buffer = std::make_unique<RemoteBuffer>(std::move(host), config, now);
  if (!buffer->Make(plugin, nullptr)) return nullptr;
  return buffer;
}

}  // namespace ringscope
