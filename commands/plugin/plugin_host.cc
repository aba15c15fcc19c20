#include "commands/plugin/plugin_host.h"

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <charconv>
#include <map>
#include <thread>

#include "commands/plugin/host_answers.h"
#include "commands/plugin/host_messages.h"
#include "commands/plugin/host_ring.h"
#include "commands/plugin/plugin_library.h"
#include "commands/plugin/plugin_structs.h"

namespace ringscope {
namespace {

/// A buffer, and the first failure that the plug-in reports of it.
struct HostedBuffer {
  std::optional<std::string> failure;
  bool failure_sent = false;
  std::unique_ptr<PluginBuffer> buffer;

  static void Fail(void* host, const char* message) {
    auto& failure = static_cast<HostedBuffer*>(host)->failure;
    if (!failure) failure = message == nullptr ? "no reason given" : message;
  }
};

class PluginHost {
 public:
  explicit PluginHost(HostMemory& memory)
      : memory_(memory),
        calls_(memory.calls, memory.call_bytes.data(), kCallRingBytes),
        answers_(memory),
        events_(answers_, limits_) {}

  /// Never returns: the process ends with the one that uses it.
  [[noreturn]] void Run() {
    while (true) {
      CallHead head;
      Read(reinterpret_cast<uint8_t*>(&head), sizeof(head));
      body_.resize(head.size);
      Read(body_.data(), head.size);
      calls_.Release();
      memory_.record.store(head.record, std::memory_order_relaxed);
      memory_.call.store(static_cast<uint32_t>(head.call), std::memory_order_relaxed);
      const int64_t value = Do(head);
      memory_.call.store(0, std::memory_order_relaxed);
      if (head.wants_answer != 0) answers_.Done(value);
    }
  }

 private:
  void Read(uint8_t* to, size_t count) {
    while (count > 0) {
      const uint32_t available = calls_.Available().value_or(0);
      if (available == 0) {
        AwaitBytes();
        continue;
      }
      const auto part = static_cast<uint32_t>(std::min<size_t>(available, count));
      calls_.Take(to, part);
      to += part;
      count -= part;
      if (count > 0) calls_.Release();
    }
  }

  void AwaitBytes() {
    for (int left = spins_.Next(); left > 0; --left) {
      SpinPause();
      if (calls_.Available().value_or(0) == 0) continue;
      spins_.Succeeded();
      return;
    }
    spins_.Failed();
    calls_.Release();
    calls_.WaitForBytes({});
  }

  int64_t Do(const CallHead& head) {
    MessageReader body(body_);
    if (head.call == HostCall::kLoad) return Load(body.TakeRest());
    if (head.call == HostCall::kCreate) return Make(head, body.Take<CreateBody>());
    const auto found = buffers_.find(head.buffer);
    if (found == buffers_.end()) return 0;
    if (head.call == HostCall::kDestroy) {
      buffers_.erase(found);
      return 0;
    }
    HostedBuffer& hosted = *found->second;
    if (head.call == HostCall::kClone) return Make(head, body.Take<CreateBody>());
    // What has failed is not called again, as if the failure had been seen at once.
    int64_t value = 0;
    if (!hosted.failure) value = CallBuffer(head.call, hosted, body);
    if (head.wants_answer != 0) SendFailure(hosted);
    return value;
  }

  void SendFailure(HostedBuffer& hosted) {
    if (!hosted.failure || hosted.failure_sent) return;
    hosted.failure_sent = true;
    answers_.SendText(HostAnswer::kFailed, *hosted.failure);
  }

  int64_t Load(const std::string& text) {
    auto plugins = LoadPluginLibrary(text);
    if (!plugins) {
      const Error& error = plugins.error();
      MessageBody body;
      body.Add(static_cast<uint32_t>(error.code));
      body.AddText(error.message);
      body.AddText(error.hint);
      answers_.Send(HostAnswer::kError, body.bytes());
      return 0;
    }
    plugins_ = std::move(*plugins);
    for (const auto& plugin : plugins_) {
      const PluginFacts& facts = plugin->facts();
      MessageBody body;
      body.Add(PluginBody{.tells = facts.tells,
                          .abi_version = facts.abi_version,
                          .functions = (facts.clones ? 1u : 0u) | (facts.visits_writers ? 2u : 0u) |
                                       (facts.checks ? 4u : 0u) | (facts.visits_chunks ? 8u : 0u) |
                                       (facts.runs_programs ? 16u : 0u)});
      for (const std::string* part : {&facts.name, &facts.version, &facts.description, &facts.path})
        body.AddText(*part);
      answers_.Send(HostAnswer::kPlugin, body.bytes());
    }
    return 1;
  }

  int64_t Make(const CallHead& head, const CreateBody& create) {
    auto hosted = std::make_unique<HostedBuffer>();
    const ringscope_config config = {
        .struct_size = sizeof(ringscope_config),
        .policy = create.policy,
        .size = create.size,
        .fail = HostedBuffer::Fail,
        .host = hosted.get(),
        .observer = create.observed != 0 ? events_.callbacks() : nullptr};
    if (head.call == HostCall::kClone)
      hosted->buffer = buffers_.at(head.buffer)->buffer->Clone(config);
    else if (create.plugin < plugins_.size())
      hosted->buffer = std::move(*plugins_[create.plugin]->make_buffer()(config, nullptr));
    SendFailure(*hosted);
    if (hosted->buffer == nullptr) return 0;
    buffers_[create.made] = std::move(hosted);
    return 1;
  }

  int64_t CallBuffer(HostCall call, HostedBuffer& hosted, MessageReader& body) {
    PluginBuffer& buffer = *hosted.buffer;
    switch (call) {
      case HostCall::kCommit: {
        auto commit = body.Take<ringscope_commit>();
        const Bytes payload = body.TakeBytes(commit.payload.size);
        commit.payload.data = payload.data();
        limits_.committed_bytes += payload.size() + kChunkOverhead;
        buffer.Commit(commit);
        return 0;
      }
      case HostCall::kPatch: {
        auto patches = body.Take<ringscope_patches>();
        patches_.resize(patches.count);
        for (ringscope_patch& patch : patches_) patch = body.Take<ringscope_patch>();
        patches.patches = patches_.data();
        limits_.most_patches = std::max(limits_.most_patches, patches.count);
        return buffer.Patch(patches);
      }
      case HostCall::kBeginRead:
        buffer.BeginRead();
        return 0;
      case HostCall::kNextPacket:
        return NextPacket(buffer);
      case HostCall::kReadAll: {
        int64_t value = 0;
        while ((value = NextPacket(buffer)) == 1 && !hosted.failure) answers_.PublishIfMany();
        return value == 1 ? 0 : value;
      }
      case HostCall::kStats: {
        ringscope_stats stats{};
        stats.struct_size = sizeof(stats);
        buffer.Stats(stats);
        answers_.SendStruct(HostAnswer::kStats, stats);
        return 0;
      }
      case HostCall::kVisitWriters:
        buffer.VisitWriters(
            [](void* self, const ringscope_writer* writer) {
              if (const auto taken = TakeStruct(writer))
                static_cast<HostAnswers*>(self)->SendStruct(HostAnswer::kWriter, *taken);
            },
            &answers_);
        return 0;
      case HostCall::kCheck: {
        if (const char* const wrong = buffer.Check()) answers_.SendText(HostAnswer::kText, wrong);
        return 0;
      }
      case HostCall::kVisitChunks:
        return static_cast<int64_t>(buffer.VisitChunks(
            [](void* self, const ringscope_chunk* chunk) {
              static_cast<EventSender*>(self)->SendAs(HostAnswer::kChunk, {}, {.chunk = chunk});
            },
            &events_));
      case HostCall::kSetUpVm: {
        auto setup = body.Take<ringscope_vm_setup>();
        setup.data_source.data = body.TakeBytes(setup.data_source.size).data();
        setup.program.data = body.TakeBytes(setup.program.size).data();
        return buffer.SetUpVm(setup);
      }
      case HostCall::kVisitVms:
        buffer.VisitVms(
            [](void* self, const ringscope_vm* vm) { static_cast<PluginHost*>(self)->SendVm(vm); },
            this);
        return 0;
      default:
        return 0;
    }
  }

  /// What is too large, or not there, goes as a struct without what it has: it is refused.
  void SendVm(const ringscope_vm* given) {
    const auto vm = TakeStruct(given);
    if (!vm) return;
    const bool is_sound = IsPossibleVm(*vm);
    MessageBody body;
    body.Add(VmBody{.vm = *vm, .is_sound = is_sound ? 1u : 0u});
    if (is_sound) {
      for (const ringscope_slice& part : {vm->data_source, vm->program, vm->state})
        body.AddBytes({part.data, static_cast<size_t>(part.size)});
      for (uint64_t i = 0; i < vm->producer_count; ++i) body.Add(vm->producers[i]);
    }
    answers_.Send(HostAnswer::kVm, body.bytes());
  }

  HostSlices SlicesOf(const ringscope_packet& packet) const {
    if (packet.slice_count > 0 && packet.slices == nullptr) return HostSlices::kNull;
    uint64_t left = limits_.committed_bytes;
    if (packet.slice_count > left) return HostSlices::kImpossible;
    for (uint64_t i = 0; i < packet.slice_count; ++i) {
      if (packet.slices[i].size > left) return HostSlices::kImpossible;
      left -= packet.slices[i].size;
    }
    return HostSlices::kSent;
  }

  int64_t NextPacket(PluginBuffer& buffer) {
    ringscope_packet packet{};
    packet.struct_size = sizeof(packet);
    const int value = buffer.NextPacket(packet);
    if (value != 1) return value;
    packet_.Clear();
    packet_.Add(packet);
    const HostSlices slices = SlicesOf(packet);
    packet_.Add(slices);
    for (uint64_t i = 0; slices == HostSlices::kSent && i < packet.slice_count; ++i) {
      const ringscope_slice& slice = packet.slices[i];
      packet_.Add(SliceBody{.size = slice.size, .is_null = slice.data == nullptr});
      if (slice.data != nullptr) packet_.AddBytes({slice.data, static_cast<size_t>(slice.size)});
    }
    answers_.Send(HostAnswer::kPacket, packet_.bytes());
    return value;
  }

  static constexpr uint64_t kChunkOverhead = 32;  // header and alignment

  HostMemory& memory_;
  RingReader calls_;
  SpinLimit spins_{20};
  HostAnswers answers_;
  HostLimits limits_;
  EventSender events_;
  std::vector<uint8_t> body_;
  std::vector<ringscope_patch> patches_;
  MessageBody packet_;
  std::vector<std::shared_ptr<const Plugin>> plugins_;
  std::map<uint64_t, std::unique_ptr<HostedBuffer>> buffers_;
};

}  // namespace

std::optional<int> RunAsPluginHost(const std::vector<std::string>& args) {
  if (args.size() != 3 || args[0] != kPluginHostArgument) return std::nullopt;
  int fds[2] = {-1, -1};
  for (size_t i = 0; i < 2; ++i) {
    const std::string& text = args[i + 1];
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), fds[i]);
    if (error != std::errc() || end != text.data() + text.size()) return 2;
  }
  const rlimit no_core = {0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  void* const mapped =
      ::mmap(nullptr, sizeof(HostMemory), PROT_READ | PROT_WRITE, MAP_SHARED, fds[0], 0);
  if (mapped == MAP_FAILED) return 2;
  ::close(fds[0]);
  // Whatever the plug-in does: the process does not outlive ringscope, which has the other end.
  std::thread([fd = fds[1]] {
    char byte = 0;
    while (::read(fd, &byte, 1) < 0 && errno == EINTR) continue;
    ::_exit(0);
  }).detach();
  PluginHost(*static_cast<HostMemory*>(mapped)).Run();
}

}  // namespace ringscope
