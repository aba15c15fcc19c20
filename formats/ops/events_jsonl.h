#ifndef RINGSCOPE_FORMATS_OPS_EVENTS_JSONL_H_
#define RINGSCOPE_FORMATS_OPS_EVENTS_JSONL_H_

#include <fmt/format.h>

#include "core/base/wire.h"
#include "core/session/session.h"
#include "formats/io/output_file.h"

namespace ringscope {

inline constexpr OutputKind kEventsOutput = {
    "a file of events", true,
    [](Bytes start) { return wire::AsText(start).starts_with(R"({"event":)"); }};

/// Writes what a replay does as `.events.jsonl`, in order. Write errors are kept for Finish.
class EventsWriter : public ReplayListener {
 public:
  explicit EventsWriter(ByteSink& sink) : sink_(sink) {}

  void OnPatch(BufferId buffer, bool ok) override;
  Status OnPacket(const SessionPacket& packet) override;
  void OnReadDone(BufferId buffer, uint64_t packets) override;
  void OnProtoVmStates(const SessionBuffer& buffer) override { AddPrograms("vm", buffer, true); }
  void OnCloneBegun(const SessionBuffer& buffer) override {
    AddPrograms("clone_vm", buffer, false);
  }
  void OnClonePacket(const SessionPacket& packet) override { AddPacket("clone_packet", packet); }
  void OnCloneDone(BufferId buffer, uint64_t packets, const BufferStats& stats) override;
  Status OnLogEnd(Session& session) override;
  /// Writes out what is pending; the first error met.
  Status Finish();

 private:
  /// Adds a line.
  template <typename... Args>
  void Add(fmt::format_string<Args...> format, Args&&... args);
  void AddPacket(const char* event, const SessionPacket& packet);
  void AddPrograms(const char* event, const SessionBuffer& buffer, bool with_memory);
  /// @param least bytes that are worth it
  void Flush(size_t least);

  ByteSink& sink_;
  std::string pending_;
  Status status_;
};

/// FNV-1a, 64 bits, over the slices in order.
uint64_t Fnv1a64(std::span<const Bytes> slices);

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_OPS_EVENTS_JSONL_H_
