#ifndef RINGSCOPE_COMMANDS_PLUGIN_HOST_MESSAGES_H_
#define RINGSCOPE_COMMANDS_PLUGIN_HOST_MESSAGES_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "core/base/enum_names.h"
#include "core/perfetto/packet.h"
#include "core/plugin/plugin_abi.h"

namespace ringscope {

// What ringscope and a plug-in's process send each other. Both are the same program, so that
// structs go as they are in memory; pointers in them mean nothing.

/// What the process is asked to do.
enum class HostCall : uint32_t {
  kNone,
  kLoad,          // text: the plug-ins' name. Answers: kPlugin for each; or kError
  kCreate,        // CreateBody
  kClone,         // CreateBody, of the buffer in the head
  kDestroy,       // queued
  kCommit,        // ringscope_commit, payload; queued if nobody observes
  kPatch,         // ringscope_patches, the patches
  kBeginRead,     //
  kNextPacket,    // answer: kPacket if there is one
  kReadAll,       // next_packet to the pass's end. Answers: kPacket for each; not waited for
  kStats,         // answer: kStats
  kVisitWriters,  // answers: kWriter
  kCheck,         // answer: kText if something is wrong
  kVisitChunks,   // answers: kChunk
  kSetUpVm,       // ringscope_vm_setup, name and program
  kVisitVms,      // answers: kVm
};
/// As the plug-in's functions are called.
template <>
inline constexpr std::array kEnumNames<HostCall> = {
    "no call", "ringscope_get_plugin", "create",      "clone",       "destroy", "commit",
    "patch",   "begin_read",           "next_packet", "next_packet", "stats",   "visit_writers",
    "check",   "visit_chunks",         "set_up_vm",   "visit_vms"};

/// What the process answers: any number of these to a call, and then kDone.
enum class HostAnswer : uint32_t {
  kDone,    // int64_t: what the function returned
  kFailed,  // text: the plug-in called `fail`
  kPlugin,  // PluginBody, then name, version, description and path, each with its size in front
  kError,   // uint32_t: ErrorCode; then message and hint
  kEvent,   // EventBody, then what it has
  kPacket,  // ringscope_packet, HostSlices, the slices
  kStats,   // ringscope_stats
  kWriter,  // ringscope_writer
  kText,    // text
  kChunk,   // EventBody, as kEvent
  kVm,      // VmBody; if it is sound, name, program, state and producers
};
inline constexpr uint32_t kHostAnswers = 11;

struct CallHead {
  uint32_t size = 0;  // of what follows the head
  HostCall call{};
  uint64_t buffer = 0;
  uint64_t record = 0;  // number of the record under way, plus 1; 0: none
  uint64_t wants_answer = 1;
};

struct AnswerHead {
  uint32_t size = 0;  // of what follows the head
  HostAnswer answer{};
};

struct CreateBody {
  uint64_t plugin = 0;  // index in the file
  uint64_t made = 0;    // the new buffer's number
  uint64_t size = 0;
  uint32_t policy = 0;
  uint32_t observed = 0;
};

struct PluginBody {
  uint64_t tells = 0;
  uint32_t abi_version = 0;
  uint32_t functions = 0;  // bits: clone, visit_writers, check, visit_chunks
};

struct VmBody {
  ringscope_vm vm{};
  uint64_t is_sound = 0;
};

/// What there is of a packet's slices.
enum class HostSlices : uint32_t {
  kNull,       // nothing: the plug-in has a null pointer there
  kSent,       // all: a SliceBody and the bytes of each
  kImpossible  // nothing: they have more bytes than were ever committed
};

struct SliceBody {
  uint64_t size = 0;
  uint64_t is_null = 0;  // there are no bytes, whatever the size
};

/// The calls of ringscope_observer, in its order.
enum class HostEvent : uint32_t {
  kCommitted,
  kRewritten,
  kRelocated,
  kDiscarded,
  kEvicting,
  kErased,
  kPatched,
  kPatchMissed,
  kGivenUp,
  kLossBit,
  kWrap,
  kPadding,
  kStalled,
};

/// An event; which of the structs follow it, in this order.
struct EventBody {
  HostEvent event{};
  uint32_t chunk = 0;
  uint32_t value = 0;  // reason, cause, bit, size
  ringscope_sequence sequence{};
  uint64_t offset = 0;
  uint8_t has_chunk = 0;    // ringscope_chunk, and payload_bytes of its payload
  uint8_t has_commit = 0;   // ringscope_commit
  uint8_t has_patches = 0;  // ringscope_patches, and its patches unless patches_are_null
  uint8_t patches_are_null = 0;
  uint8_t has_place = 0;  // ringscope_place
  uint64_t payload_bytes = 0;
};

/// A message's parts, one after the other.
class MessageBody {
 public:
  template <typename T>
  void Add(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    AddBytes(Bytes(reinterpret_cast<const uint8_t*>(&value), sizeof(value)));
  }
  void AddBytes(Bytes bytes) { bytes_.insert(bytes_.end(), bytes.begin(), bytes.end()); }
  void AddText(const std::string& text) {
    Add(uint64_t{text.size()});
    AddBytes(Bytes(reinterpret_cast<const uint8_t*>(text.data()), text.size()));
  }
  void Clear() { bytes_.clear(); }
  Bytes bytes() const { return bytes_; }

 private:
  std::vector<uint8_t> bytes_;
};

/// Reads a message that another process wrote: all may be wrong in it.
class MessageReader {
 public:
  explicit MessageReader(Bytes rest) : rest_(rest) {}

  template <typename T>
  T Take() {
    static_assert(std::is_trivially_copyable_v<T>);
    T value{};
    if (const Bytes bytes = TakeBytes(sizeof(T)); !bytes.empty())
      std::memcpy(&value, bytes.data(), sizeof(T));
    return value;
  }
  /// Empty if there are not so many.
  Bytes TakeBytes(uint64_t count) {
    if (count > rest_.size()) {
      is_sound_ = false;
      return {};
    }
    const Bytes taken = rest_.first(static_cast<size_t>(count));
    rest_ = rest_.subspan(static_cast<size_t>(count));
    return taken;
  }
  std::string TakeText() {
    const auto size = Take<uint64_t>();
    return TextOf(TakeBytes(size));
  }
  std::string TakeRest() { return TextOf(TakeBytes(rest_.size())); }
  /// Whether everything was there, and nothing else.
  bool is_whole() const { return is_sound_ && rest_.empty(); }
  bool is_sound() const { return is_sound_; }

 private:
  static std::string TextOf(Bytes bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }

  Bytes rest_;
  bool is_sound_ = true;
};

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_PLUGIN_HOST_MESSAGES_H_
