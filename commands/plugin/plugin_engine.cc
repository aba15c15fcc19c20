#include <cstring>

#include "commands/plugin/plugin.h"
#include "core/protovm/buffer_vms.h"

namespace ringscope {
namespace {

// The counters of ringscope_stats are those of kStatFields, in this order.
constexpr size_t kFirstStat = offsetof(ringscope_stats, buffer_size);
using Counters = std::array<uint64_t, kStatFields.size()>;
static_assert(sizeof(ringscope_stats) == kFirstStat + sizeof(Counters));
static_assert(RINGSCOPE_WRITER_BUCKETS == kHistogramBuckets);
static_assert(RINGSCOPE_PATCH_SIZE == kPatchSize);

// The plug-in interface's structs and ours.

/// A struct that a plug-in filled, as far as it has it; nullopt for none.
template <typename T>
std::optional<T> TakeStruct(const T* given) {
  if (given == nullptr || given->struct_size < sizeof(given->struct_size)) return std::nullopt;
  T taken{};
  std::memcpy(&taken, given, std::min<size_t>(given->struct_size, sizeof(taken)));
  return taken;
}

SequenceKey ToKey(ringscope_sequence sequence) {
  return {ProducerId{sequence.producer}, WriterId{sequence.writer}};
}
PacketPlace ToPlace(const ringscope_place& place) {
  return {.first_chunk = ChunkId{place.first_chunk},
          .first_offset = place.first_offset,
          .last_chunk = ChunkId{place.last_chunk}};
}
Bytes ToBytes(const ringscope_slice& slice) {
  return slice.data == nullptr ? Bytes() : Bytes(slice.data, static_cast<size_t>(slice.size));
}
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
                       .payload = ToBytes(chunk->payload)};
}
/// Returns true if a VM of a plug-in has values that are possible.
bool IsPossibleVm(const ringscope_vm& vm) {
  constexpr uint64_t kMostBytes = uint64_t{256} << 20;
  const auto is_possible = [](const ringscope_slice& part) {
    return part.size <= kMostBytes && (part.size == 0 || part.data != nullptr);
  };
  return is_possible(vm.data_source) && is_possible(vm.program) && is_possible(vm.state) &&
         vm.producer_count <= UINT16_MAX && (vm.producer_count == 0 || vm.producers != nullptr);
}
ringscope_sequence FromKey(SequenceKey key) { return {Raw(key.producer), Raw(key.writer)}; }

/// The input of a plug-in's buffer so far: its reports and packets must fit to it.
struct PluginInput {
  const ChunkCommit* under_way = nullptr;  // the commit that the buffer handles now
  uint64_t commits = 0;                    // all of them
  uint64_t owed_bytes = 0;                 // committed and not returned

  /// Returns true if a packet's chunks follow each other, and were all committed.
  bool CanHold(const PacketPlace& place) const {
    return Distance(place.first_chunk, place.last_chunk) < commits;
  }
};

/// Receives a plug-in's failure, and passes its other reports on to an EngineObserver. Leaves out
/// reports that cannot be true, such as a discard outside a commit, and keeps the first of these.
class PluginObserver {
 public:
  /// @param observer, input: not owned; nullptr: there are no other reports
  /// @param taken what the plug-in reports in full; the rest of these reports is left out
  PluginObserver(EngineObserver* observer, const PluginInput& input, EngineReports taken)
      : observer_(observer), input_(input), taken_(taken) {}
  PluginObserver(const PluginObserver&) = delete;
  PluginObserver& operator=(const PluginObserver&) = delete;

  /// For ringscope_config, whose host is this; lives as long as this.
  const ringscope_observer* callbacks() const { return observer_ ? &callbacks_ : nullptr; }
  static void Fail(void* host, const char* message) {
    std::optional<std::string>& failure = static_cast<PluginObserver*>(host)->failure_;
    if (!failure) failure = Printable(message == nullptr ? "no reason given" : message);
  }
  const std::optional<std::string>& failure() const { return failure_; }
  /// Describes the first impossible report; empty if all were possible.
  const std::string& complaint() const { return complaint_; }

 private:
  /// The C function that calls this member function of the observer that is its context.
  template <auto kReport>
  struct Callback;
  template <typename... Arguments, void (PluginObserver::*kReport)(Arguments...)>
  struct Callback<kReport> {
    static void Call(void* context, Arguments... arguments) {
      (static_cast<PluginObserver*>(context)->*kReport)(arguments...);
    }
  };

  void Complain(std::string text) {
    if (complaint_.empty()) complaint_ = std::move(text);
  }
  void ComplainOfNothing(const char* callback) {
    Complain(fmt::format("it called '{}' without what the call is about", callback));
  }
  /// The commit under way, if the plug-in names that one; otherwise nullptr, and a bad report is
  /// noted. (Only the name is taken from the plug-in: its pointers may dangle.)
  const ChunkCommit* UnderWay(const char* callback, const ringscope_commit* given) {
    const ChunkCommit* const commit = input_.under_way;
    const auto meant = TakeStruct(given);
    if (commit == nullptr)
      Complain(fmt::format("it called '{}' outside a commit", callback));
    else if (!meant)
      ComplainOfNothing(callback);
    else if (ToKey(meant->sequence) == commit->sequence && meant->chunk == Raw(commit->chunk))
      return commit;
    else
      Complain(fmt::format(
          "it called '{}' for chunk {} of {}, expected the commit under way, chunk {} of {}",
          callback, meant->chunk, ToString(ToKey(meant->sequence)), Raw(commit->chunk),
          ToString(commit->sequence)));
    return nullptr;
  }
  /// A value of one of our enumerations.
  template <NamedEnum Enum>
  std::optional<Enum> ToEnum(const char* callback, uint32_t value) {
    constexpr size_t kLast = kEnumNames<Enum>.size() - 1;
    if (value <= kLast) return static_cast<Enum>(value);
    Complain(fmt::format("it called '{}' with {}, expected at most {}", callback, value, kLast));
    return std::nullopt;
  }
  /// A chunk, which must be there; nullopt also if reports about chunks are left out.
  std::optional<ObservedChunk> TakeChunk(const char* callback, const ringscope_chunk* given) {
    if (!taken_.chunks) return std::nullopt;
    auto chunk = ToChunk(given);
    if (!chunk) ComplainOfNothing(callback);
    return chunk;
  }
  /// Calls `report` with the patches in our form.
  template <typename Report>
  void OnPatches(const char* callback, const ringscope_patches* given, Report report) {
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

  void Committed(const ringscope_chunk* given) {
    if (const auto chunk = TakeChunk("committed", given)) observer_->OnCommitted(*chunk);
  }
  void Rewritten(const ringscope_chunk* given) {
    if (const auto chunk = TakeChunk("rewritten", given)) observer_->OnRewritten(*chunk);
  }
  void Relocated(const ringscope_chunk* given) {
    if (const auto chunk = TakeChunk("relocated", given)) observer_->OnRelocated(*chunk);
  }
  void Erased(const ringscope_chunk* given) {
    if (const auto chunk = TakeChunk("erased", given)) observer_->OnErased(*chunk);
  }
  void Discarded(const ringscope_commit* given, uint32_t value) {
    const ChunkCommit* const commit = UnderWay("discarded", given);
    if (commit == nullptr) return;
    if (const auto reason = ToEnum<DiscardReason>("discarded", value))
      observer_->OnDiscarded(*commit, *reason);
  }
  void Evicting(const ringscope_chunk* given, const ringscope_commit* by) {
    const auto chunk = TakeChunk("evicting", given);
    if (!chunk) return;
    if (const ChunkCommit* const commit = UnderWay("evicting", by))
      observer_->OnEvicting(*chunk, *commit);
  }
  void Patched(const ringscope_chunk* given_chunk, const ringscope_patches* given) {
    const auto chunk = TakeChunk("patched", given_chunk);
    if (!chunk) return;
    OnPatches("patched", given,
              [&](const ChunkPatches& patches) { observer_->OnPatched(*chunk, patches); });
  }
  void PatchMissed(const ringscope_chunk* given_chunk, const ringscope_patches* given,
                   uint32_t value) {
    const auto miss = ToEnum<PatchMiss>("patch_missed", value);
    if (!miss) return;
    const auto chunk = ToChunk(given_chunk);
    OnPatches("patch_missed", given, [&](const ChunkPatches& patches) {
      observer_->OnPatchMissed(chunk ? &*chunk : nullptr, patches, *miss);
    });
  }
  void PacketGivenUp(ringscope_sequence sequence, const ringscope_place* place, uint32_t cause) {
    if (!taken_.abandoned) return;
    if (place == nullptr) return ComplainOfNothing("packet_given_up");
    const PacketPlace taken = ToPlace(*place);
    if (input_.CanHold(taken)) return observer_->OnPacketAbandoned(ToKey(sequence), taken, cause);
    Complain(fmt::format(
        "it called 'packet_given_up' with chunks {} to {}, expected no more than were committed",
        place->first_chunk, place->last_chunk));
  }
  void LossBit(ringscope_sequence sequence, uint32_t chunk, uint32_t bit) {
    observer_->OnLossBit(ToKey(sequence), ChunkId{chunk}, bit);
  }
  void Wrap() { observer_->OnWrap(); }
  void Padding(uint64_t offset, uint32_t size) { observer_->OnPadding(offset, size); }
  void Stalled(ringscope_sequence sequence, uint32_t chunk, uint32_t value) {
    if (!taken_.stalls) return;
    if (const auto reason = ToEnum<StallReason>("stalled", value))
      observer_->OnStalled(ToKey(sequence), ChunkId{chunk}, *reason);
  }

  EngineObserver* const observer_;
  const PluginInput& input_;
  const EngineReports taken_;
  const ringscope_observer callbacks_ = {
      .struct_size = sizeof(ringscope_observer),
      .reserved = 0,
      .context = this,
      .committed = Callback<&PluginObserver::Committed>::Call,
      .rewritten = Callback<&PluginObserver::Rewritten>::Call,
      .relocated = Callback<&PluginObserver::Relocated>::Call,
      .discarded = Callback<&PluginObserver::Discarded>::Call,
      .evicting = Callback<&PluginObserver::Evicting>::Call,
      .erased = Callback<&PluginObserver::Erased>::Call,
      .patched = Callback<&PluginObserver::Patched>::Call,
      .patch_missed = Callback<&PluginObserver::PatchMissed>::Call,
      .packet_given_up = Callback<&PluginObserver::PacketGivenUp>::Call,
      .loss_bit = Callback<&PluginObserver::LossBit>::Call,
      .wrap = Callback<&PluginObserver::Wrap>::Call,
      .padding = Callback<&PluginObserver::Padding>::Call,
      .stalled = Callback<&PluginObserver::Stalled>::Call};
  std::optional<std::string> failure_;  // that the plug-in reports
  std::string complaint_;
};

class PluginEngine final : public Engine, public ProgramRunner {
 public:
  PluginEngine(std::shared_ptr<const Plugin> plugin, EngineObserver* observer)
      : plugin_(std::move(plugin)),
        observer_(observer),
        reports_(plugin_->EventNames(true).empty() ? nullptr : observer, input_,
                 plugin_->reports()) {}
  ~PluginEngine() override {
    if (buffer_ == nullptr) return;
    const PluginCall call(plugin_->path, "destroy", config_.now);
    functions().destroy(buffer_);
  }
  /// Makes the buffer with `make`, which is the plug-in's create or clone on a configuration.
  template <typename Make>
  Status MakeBuffer(const char* function, const EngineConfig& config, Make make) {
    const ringscope_config theirs = {.struct_size = sizeof(ringscope_config),
                                     .policy = static_cast<uint32_t>(config.policy),
                                     .size = config.size,
                                     .fail = PluginObserver::Fail,
                                     .host = &reports_,
                                     .observer = reports_.callbacks()};
    config_ = config;
    {
      const PluginCall call(plugin_->path, function, config.now);
      buffer_ = make(&theirs);
    }
    if (buffer_ != nullptr && !reports_.failure()) return {};
    return tl::unexpected(
        PluginError(fmt::format("the plug-in's {} failed: {}", function,
                                reports_.failure().value_or("no reason given")),
                    "correct the plug-in, or try other sizes, or another engine"));
  }

  void Commit(const ChunkCommit& commit) override {
    // Least bytes of a chunk in any buffer that keeps it as it is.
    input_.owed_bytes += commit.payload.size() + kChunkOverhead;
    ++input_.commits;
    const ringscope_commit theirs = {.struct_size = sizeof(ringscope_commit),
                                     .sequence = FromKey(commit.sequence),
                                     .uid = commit.identity.uid,
                                     .pid = commit.identity.pid,
                                     .chunk = Raw(commit.chunk),
                                     .fragments = commit.fragments,
                                     .flags = commit.flags,
                                     .complete = commit.complete,
                                     .payload = {commit.payload.data(), commit.payload.size()},
                                     .machine = commit.machine,
                                     .reserved = 0};
    input_.under_way = &commit;
    Ask("commit", [&] { functions().commit(buffer_, &theirs); });
    input_.under_way = nullptr;
  }

  bool ApplyPatches(const ChunkPatches& patches) override {
    patches_.clear();
    for (const Patch& patch : patches.patches) {
      ringscope_patch& theirs = patches_.emplace_back();
      theirs.offset = patch.offset;
      std::copy_n(patch.data, kPatchSize, theirs.data);
    }
    const ringscope_patches theirs = {.struct_size = sizeof(ringscope_patches),
                                      .sequence = FromKey(patches.sequence),
                                      .chunk = Raw(patches.chunk),
                                      .more = patches.more,
                                      .patches = patches_.data(),
                                      .count = patches_.size()};
    bool applied = false;
    return Ask("patch", [&] { applied = functions().patch(buffer_, &theirs) != 0; }) && applied;
  }

  void BeginRead() override {
    Ask("begin_read", [&] { functions().begin_read(buffer_); });
  }

  const Packet* NextPacket() override {
    ringscope_packet theirs{};
    theirs.struct_size = sizeof(theirs);
    int answer = 0;
    const auto next = [&] { answer = functions().next_packet(buffer_, &theirs); };
    if (!Ask("next_packet", next) || answer == 0) return nullptr;
    const bool is_taken =
        answer == 1
            ? TakePacket(theirs)
            : Refuse(fmt::format("the plug-in's next_packet returned {}, expected 1 or 0", answer),
                     "return 1 with a packet, 0 if nothing is left");
    if (!is_taken) return nullptr;
    if (observer_ != nullptr) observer_->OnPacketReturned(packet_);
    return &packet_;
  }

  Result<std::unique_ptr<Engine>> Clone() const override {
    if (failure() != nullptr) return tl::unexpected(*failure());
    if (functions().clone == nullptr)
      return tl::unexpected(
          PluginError("the plug-in cannot clone a buffer: it has no clone function",
                      "the log has a read of a clone; use another engine"));
    auto clone = std::make_unique<PluginEngine>(plugin_, nullptr);
    RS_RETURN_IF_ERROR(clone->MakeBuffer("clone", config_, [&](const ringscope_config* config) {
      return functions().clone(buffer_, config);
    }));
    if (CheckFailure()) return tl::unexpected(*failure());
    clone->input_ = input_;  // it may return what this has not returned yet
    return clone;
  }

  /// While the plug-in is at work, as when who listens to its reports asks: as before that.
  const BufferStats& stats() const override {
    ringscope_stats theirs{};
    theirs.struct_size = sizeof(theirs);
    if (is_at_work_ || !Ask("stats", [&] { functions().stats(buffer_, &theirs); })) return stats_;
    Counters counters;
    std::memcpy(counters.data(), reinterpret_cast<const char*>(&theirs) + kFirstStat,
                sizeof(counters));
    for (size_t i = 0; i < counters.size(); ++i) stats_.*kStatFields[i].value = counters[i];
    return stats_;
  }

  void VisitWriterStats(const std::function<void(const WriterStats&)>& visit) const override {
    if (failure() != nullptr || functions().visit_writers == nullptr) return;
    Visit("visit_writers", functions().visit_writers, [&](const ringscope_writer* given) {
      const auto writer = TakeStruct(given);
      if (!writer) return;
      WriterHistogram histogram;
      for (size_t i = 0; i < kHistogramBuckets; ++i) {
        histogram.sums[i] = writer->sums[i];
        histogram.counts[i] = static_cast<uint32_t>(writer->counts[i]);
      }
      visit({ToKey(writer->sequence), &histogram});
    });
    CheckFailure();
  }

  Result<uint64_t> VisitChunks(const ChunkVisitor& visit) const override {
    if (failure() != nullptr) return tl::unexpected(*failure());
    if (functions().visit_chunks == nullptr)
      return tl::unexpected(
          PluginError("the plug-in does not report its chunks: it has no visit_chunks function",
                      "use another engine"));
    const uint64_t size = stats().buffer_size;
    uint64_t end = 0;  // of the chunks so far
    bool is_sound = true;
    const auto take = [&](const ringscope_chunk* given) {
      const auto chunk = ToChunk(given);
      is_sound = is_sound && chunk && chunk->offset >= end && chunk->offset <= size &&
                 chunk->outer_size > 0 && chunk->outer_size <= size - chunk->offset &&
                 chunk->payload_size <= chunk->outer_size &&
                 chunk->payload_avail <= chunk->payload_size;
      if (!is_sound) return;
      end = chunk->offset + chunk->outer_size;
      visit(*chunk);
    };
    const uint64_t cursor = Visit("visit_chunks", functions().visit_chunks, take);
    if (CheckFailure()) return tl::unexpected(*failure());
    if (is_sound && cursor <= size) return cursor;
    return tl::unexpected(PluginError(
        fmt::format("the plug-in's chunks after offset {} or its write cursor {} are not possible "
                    "in a buffer of {} bytes",
                    end, cursor, size),
        "see visit_chunks in ringscope/plugin_abi.h"));
  }

  bool SetUpProgram(const ProgramSetUp& setup) override {
    if (failure() != nullptr || !plugin_->runs_programs()) return false;
    const Bytes name = wire::AsBytes(setup.data_source);
    const ringscope_vm_setup theirs = {.struct_size = sizeof(ringscope_vm_setup),
                                       .memory_limit_kb = setup.memory_limit_kb,
                                       .data_source = {name.data(), name.size()},
                                       .program = {setup.program.data(), setup.program.size()},
                                       .producer = Raw(setup.producer),
                                       .reserved = {}};
    bool runs = false;
    return !Ask("set_up_vm", [&] { runs = functions().set_up_vm(buffer_, &theirs) == 1; }) || runs;
  }

  void VisitPrograms(const ProgramVisitor& visit) const override {
    if (failure() != nullptr || !plugin_->runs_programs()) return;
    bool is_sound = true;
    Visit("visit_vms", functions().visit_vms, [&](const ringscope_vm* given) {
      const auto vm = TakeStruct(given);
      is_sound = is_sound && vm && IsPossibleVm(*vm);
      if (!is_sound) return;
      std::vector<ProducerId> producers;
      for (uint64_t i = 0; i < vm->producer_count; ++i)
        producers.push_back(ProducerId{vm->producers[i]});
      visit({.data_source = wire::AsText(ToBytes(vm->data_source)),
             .program = ToBytes(vm->program),
             .memory_limit_kb = vm->memory_limit_kb,
             .producers = producers,
             .state = ToBytes(vm->state),
             .memory = vm->memory});
    });
    if (!CheckFailure() && !is_sound)
      Refuse("the plug-in's visit_vms has data at a null pointer, or more than 256 MiB of it",
             "see ringscope_vm in ringscope/plugin_abi.h");
  }

  std::string CheckInvariants() const override {
    const char* wrong = nullptr;
    const auto check = [&] {
      if (functions().check != nullptr) wrong = functions().check(buffer_);
    };
    if (!Ask("check", check)) return failure()->message;
    return wrong == nullptr ? "" : Printable(wrong);
  }

 private:
  static constexpr uint64_t kChunkOverhead = 32;  // header and alignment

  /// Makes a call of the plug-in, unless it has failed before.
  /// @return false if it has failed
  template <typename Call>
  bool Ask(const char* function, const Call& call) const {
    if (failure() != nullptr) return false;
    is_at_work_ = true;
    {
      const PluginCall guarded(plugin_->path, function, config_.now);
      call();
    }
    is_at_work_ = false;
    return !CheckFailure();
  }

  /// Calls a function of the plug-in that visits structs, each of which `take` gets.
  template <typename Answer, typename Struct, typename Take>
  Answer Visit(const char* name,
               Answer (*function)(void* buffer, void (*visit)(void*, const Struct*), void* context),
               Take take) const {
    const auto hand_on = [](void* to, const Struct* given) { (*static_cast<Take*>(to))(given); };
    const PluginCall guarded(plugin_->path, name, config_.now);
    return function(buffer_, hand_on, &take);
  }

  const ringscope_plugin& functions() const { return plugin_->functions; }

  Error PluginError(std::string message, std::string hint) const {
    return {ErrorCode::kUnsupported, std::move(message), {.path = plugin_->path}, std::move(hint)};
  }

  /// @return whether the plug-in has failed
  bool CheckFailure() const {
    if (reports_.failure())
      Refuse(fmt::format("the plug-in cannot continue: {}", *reports_.failure()),
             "correct the plug-in, or use another engine");
    else if (!reports_.complaint().empty())
      Refuse(fmt::format("the plug-in's reports are inconsistent: {}", reports_.complaint()),
             "see ringscope_observer in ringscope/plugin_abi.h");
    return failure() != nullptr;
  }

  bool Refuse(std::string message, std::string hint) const {
    SetFailure(PluginError(std::move(message), std::move(hint)));
    return false;
  }

  /// Makes a Packet of what the plug-in returned, if it can be one.
  bool TakePacket(const ringscope_packet& theirs) {
    packet_.sequence = ToKey(theirs.sequence);
    if (packet_.sequence == SequenceKey{})
      return Refuse(
          "the plug-in returned a packet of sequence 0:0, expected a producer or a writer",
          "set ringscope_packet.sequence");
    if (theirs.slice_count > 0 && theirs.slices == nullptr)
      return Refuse(fmt::format("the plug-in returned a packet with {} at a null pointer",
                                Count(theirs.slice_count, "slice")),
                    "set ringscope_packet.slices");
    // Each fragment was committed with a size in front of it, and is returned once: no buffer has
    // more to give, in size or in number. This also ends a pass that would never end.
    slices_.clear();
    packet_.size = 0;
    bool fits = theirs.slice_count < input_.owed_bytes;
    for (uint64_t i = 0; fits && i < theirs.slice_count; ++i) {
      const ringscope_slice& slice = theirs.slices[i];
      if (slice.data == nullptr && slice.size > 0)
        return Refuse(fmt::format("the plug-in returned a packet whose slice {} has {} bytes at a "
                                  "null pointer",
                                  i, slice.size),
                      "set ringscope_slice.data");
      fits = slice.size < input_.owed_bytes - packet_.size;
      slices_.emplace_back(slice.data, slice.size);
      packet_.size += slice.size;
    }
    if (!fits)
      return Refuse("the plug-in returned more than was ever committed, expected each packet once",
                    "check the slices' sizes, and that next_packet returns 0 at the end");
    input_.owed_bytes -= packet_.size + 1;
    packet_.slices = slices_;
    packet_.identity = {theirs.uid, theirs.pid};
    packet_.dropped = theirs.dropped;
    packet_.place = kUnknownPlace;
    if (plugin_->reports_places() && theirs.place.first_offset != RINGSCOPE_PLACE_UNKNOWN) {
      packet_.place = ToPlace(theirs.place);
      if (!input_.CanHold(packet_.place))
        return Refuse(fmt::format("the plug-in returned a packet in chunks {} to {}, expected no "
                                  "more chunks than were committed",
                                  theirs.place.first_chunk, theirs.place.last_chunk),
                      "set ringscope_packet.place");
    }
    return true;
  }

  std::shared_ptr<const Plugin> plugin_;
  EngineObserver* observer_;
  PluginInput input_;
  PluginObserver reports_;  // of events, if observed and the plug-in reports them
  EngineConfig config_;
  void* buffer_ = nullptr;  // of the plug-in; refers to what is above
  mutable BufferStats stats_;
  mutable bool is_at_work_ = false;
  std::vector<ringscope_patch> patches_;
  std::vector<Bytes> slices_;
  Packet packet_;
};

}  // namespace

EngineInfo PluginEngineInfo(const std::shared_ptr<const Plugin>& plugin) {
  const auto create = [plugin](const EngineConfig& config) -> Result<std::unique_ptr<Engine>> {
    auto engine = std::make_unique<PluginEngine>(plugin, config.observer);
    RS_RETURN_IF_ERROR(engine->MakeBuffer("create", config, plugin->functions.create));
    return engine;
  };
  return {.name = plugin->path,
          .corresponds = fmt::format("Plug-in {}{}{}", plugin->name,
                                     plugin->version.empty() ? "" : " ", plugin->version),
          .difference = plugin->description,
          .create = create,
          .reports = plugin->reports()};
}

}  // namespace ringscope
