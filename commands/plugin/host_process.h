#ifndef RINGSCOPE_COMMANDS_PLUGIN_HOST_PROCESS_H_
#define RINGSCOPE_COMMANDS_PLUGIN_HOST_PROCESS_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "commands/plugin/host_messages.h"
#include "commands/plugin/host_ring.h"
#include "commands/plugin/plugin_buffer.h"
#include "commands/plugin/plugin_run.h"
#include "commands/record/child_process.h"
#include "commands/record/unique_fd.h"
#include "core/base/result.h"

namespace ringscope {

/// A process in which plug-ins run, and the calls to it. It may do whatever it likes: crash, not
/// answer, use up memory, answer nonsense. Then it is ended, and death() has what was the matter;
/// calls do nothing from then on.
class HostProcess {
 public:
  /// Takes an answer. @return whether it is a possible one
  using TakeAnswer = std::function<bool(HostAnswer answer, MessageReader& body)>;

  static Result<std::unique_ptr<HostProcess>> Start(const PluginRun& run);
  ~HostProcess();
  HostProcess(const HostProcess&) = delete;
  HostProcess& operator=(const HostProcess&) = delete;

  /// Sends a call that has no answer; it may wait there until one that has is sent.
  /// @param head its size and wants_answer are set here
  void Send(CallHead head, std::initializer_list<Bytes> parts);
  /// Sends a call and takes what is answered.
  /// @return what the plug-in's function returned; 0: the process is dead
  int64_t Call(CallHead head, std::initializer_list<Bytes> parts, const TakeAnswer& take);
  /// Sends a call whose answers are taken one by one, by NextAnswer, until kDone.
  /// @param keep called if another call is made before: takes all answers that are left
  void Begin(CallHead head, std::function<void()> keep);
  /// The next answer; its body is valid until the next call. nullopt: the process is dead
  struct Answer {
    HostAnswer answer{};
    Bytes body;
  };
  std::optional<Answer> NextAnswer();
  /// Nobody takes the answers to what was begun: ends the process.
  void Abandon();

  /// nullptr: it is alive.
  const PluginDeath* death() const { return death_ ? &*death_ : nullptr; }
  /// Ends it, as what it answered cannot be.
  void DieOfNonsense(const std::string& what);
  /// Looks whether it has ended, without a call.
  bool IsAlive();
  uint64_t NewBuffer() { return ++last_buffer_; }
  /// Held during calls: a buffer and its clones may be used on several threads.
  std::mutex& mutex() { return mutex_; }
  /// Bytes that were sent as payloads: no answer is much larger.
  uint64_t sent_bytes() const { return sent_bytes_; }

 private:
  using Clock = std::chrono::steady_clock;

  explicit HostProcess(const PluginRun& run) : run_(run) {}
  Status Launch();
  /// @return whether it is sent
  bool SendParts(CallHead& head, std::initializer_list<Bytes> parts);
  std::optional<Answer> TakeAnswerFromRing();
  bool Write(Bytes bytes);
  bool Read(uint8_t* to, size_t count);
  /// Waits until `ready`, as long as the process is alive and within its limits.
  template <typename Ready, typename Sleep>
  bool Await(Ready ready, Sleep sleep);
  void ReadOutput();
  bool IsWithinLimits();
  uint64_t MemoryInUse() const;
  /// It ended, or is ended here: `how`.
  void Die(const std::string& how);
  std::string CallUnderWay() const;
  std::string DeathDetails() const;

  struct Unmap {
    void operator()(HostMemory* memory) const;
  };

  const PluginRun run_;
  std::mutex mutex_;
  std::unique_ptr<HostMemory, Unmap> memory_;
  std::optional<RingWriter> calls_;
  std::optional<RingReader> answers_;
  UniqueFd lifeline_;  // closed: the process ends
  UniqueFd output_;
  std::unique_ptr<ChildProcess> child_;
  std::string last_output_;
  std::optional<PluginDeath> death_;
  Clock::time_point deadline_;
  uint64_t last_buffer_ = 0;
  uint64_t last_record_ = 0;  // of the last call that was sent, as CallHead has it
  uint64_t sent_bytes_ = 0;
  uint64_t unchecked_bytes_ = 0;  // sent since the limits were looked at
  uint64_t answers_taken_ = 0;
  SpinLimit spins_{60};
  std::function<void()> keep_;  // of what was begun; empty: nothing is
  std::vector<uint8_t> body_;
};

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_PLUGIN_HOST_PROCESS_H_
