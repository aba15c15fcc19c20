// An example in one line, and what buffers make of it.

#include "commands/plugin/plugin.h"
#include "commands/shell/commands.h"
#include "commands/shell/options.h"
#include "commands/view/report.h"
#include "core/compare/fuzz_run.h"
#include "core/session/replay.h"
#include "formats/ops/ops_jsonl.h"
#include "formats/ops/perfetto_case.h"

namespace ringscope {
namespace {

struct TryArgs {
  std::string example;
  std::vector<std::string> engines;
  uint64_t size = kPageBytes;
  FillPolicy policy = FillPolicy::kRingBuffer;
  std::string output;
  bool force = false;
  Format format = Format::kText;
};

void SetUp(CLI::App& app, TryArgs& args) {
  InGroup(app, kInputGroup);
  AddText(app, "EXAMPLE", args.example, "EXAMPLE",
          "Operations: 'A1:100+20' commits chunk 1 of writer A with packets of 100 and 20 bytes "
          "(without sizes one that makes the chunk take 512 bytes; 'x': one that its writer "
          "aborted; 'A1:-': none; '~20': bytes of padding); '>A2', 'A2>', 'A2p' and 'A2s' "
          "continue a packet, continue on the next, need patching, are scraped; 'patch A2', "
          "'read', 'read 2', 'clone' and 'flush'; '|' ends a step",
          Need::kRequired);
  InGroup(app, "Buffer");
  AddCommaList(app, "--engine", args.engines, ParseEngineName, "ENGINE,...",
               "Buffer versions or paths of plug-ins (default: v2)");
  AddParsed(app, "--size", args.size, SizeFrom(kPageBytes), "SIZE",
            "Of the buffer, at least 4k, the default");
  AddParsed(app, "--policy", args.policy, ParsePolicy, PolicyType(),
            "What a full buffer does (default: ring_buffer)");
  InGroup(app, kOutputGroup);
  AddText(app, "-o,--output", args.output, "FILE",
          "Write the operations as a log (.ops.jsonl), or as a unit test of Perfetto that expects "
          "what the first engine gives (.cc)");
  AddForce(app, args.force);
  AddFormat(app, args.format, {Format::kText, Format::kJson});
}

std::string PacketText(const Packet& packet) {
  const PacketPlace& place = packet.place;
  std::string text = WriterName(packet.sequence);
  text += place == kUnknownPlace ? "?" : std::to_string(Raw(place.first_chunk));
  if (place.first_chunk != place.last_chunk) text += fmt::format("-{}", Raw(place.last_chunk));
  text += fmt::format(":{}", packet.size);
  if (packet.dropped != 0) text += fmt::format("({})", LossBitsToString(packet.dropped));
  return text;
}

/// A buffer after a step, and what the step did: a line for each kind of facts.
struct TriedStep {
  std::string buffer;
  std::string sequences;
  std::vector<std::string> events;
  std::vector<std::string> packets;
  std::vector<std::string> counters;

  friend bool operator==(const TriedStep&, const TriedStep&) = default;
};

/// A buffer that takes an example's steps.
class TriedBuffer : public ReplayListener {
 public:
  TriedBuffer(const EngineInfo& info, const TryArgs& args) : replay_(OptionsOf(info), *this) {
    status_ = replay_.Apply(SetUpOf(args.size, args.policy).op());
  }

  Result<TriedStep> Take(const ExampleStep& step) {
    RS_RETURN_IF_ERROR(status_);
    now_ = {};
    const BufferStats before = engine().stats();
    for (const StoredOp& operation : step.operations)
      RS_RETURN_IF_ERROR(replay_.Apply(operation.op()));
    Draw();
    for (const StatField& field : kStatFields) {
      const uint64_t old = before.*field.value, value = engine().stats().*field.value;
      if (value != old)
        now_.counters.push_back(fmt::format(
            "{} {:+}", field.name, static_cast<int64_t>(value) - static_cast<int64_t>(old)));
    }
    return std::exchange(now_, {});
  }

  bool WantsBufferEvents() const override { return true; }
  void OnRecord(const Op& op, const LogMoment&) override {
    if (std::holds_alternative<FlushRequested>(op.body))
      now_.events.emplace_back("a buffer does not see a flush");
  }
  void OnBufferEvent(const BufferEvent& event) override {
    const std::string chunk = NameOf(event.chunk);
    const auto note = [&](std::string_view what) {
      now_.events.push_back(fmt::format("{} {}", chunk, what));
    };
    if (event.As<BufferEvent::Rewritten>() != nullptr) {
      note("is changed in place");
    } else if (event.As<BufferEvent::Relocated>() != nullptr) {
      note("moves to the write cursor");
    } else if (const auto* discarded = event.As<BufferEvent::Discarded>()) {
      note(fmt::format("is discarded: {}", RowOf(discarded->reason).text));
    } else if (const auto* evicting = event.As<BufferEvent::Evicting>()) {
      note(fmt::format("is overwritten by {}{}", NameOf(evicting->by),
                       evicting->state.payload_avail == 0 ? ", after it was read" : ""));
    } else if (const auto* erased = event.As<BufferEvent::Erased>()) {
      if (erased->with && erased->with->sequence == event.chunk.sequence)
        note("is consumed on the way to " + NameOf(*erased->with));
    } else if (const auto* missed = event.As<BufferEvent::PatchMissed>()) {
      note(missed->reason == PatchMiss::kNoSuchChunk ? "is not there to be patched"
                                                     : "has no such place to be patched");
    } else if (const auto* abandoned = event.As<BufferEvent::Abandoned>()) {
      note("has a packet that is abandoned: " + LossBitsToString(abandoned->cause));
    } else if (const auto* stalled = event.As<BufferEvent::Stalled>()) {
      now_.events.push_back(fmt::format("{} waits for {}", WriterName(event.chunk.sequence),
                                        WaitsFor(stalled->reason, chunk)));
    }
  }
  Status OnPacket(const SessionPacket& packet) override {
    now_.packets.push_back(PacketText(*packet.packet));
    return {};
  }
  void OnReadDone(BufferId, uint64_t) override {
    if (now_.packets.empty()) now_.packets.emplace_back("none");
  }
  void OnClonePacket(const SessionPacket& packet) override {
    now_.packets.push_back(PacketText(*packet.packet));
  }
  void OnCloneDone(BufferId buffer, uint64_t packets, const BufferStats&) override {
    OnReadDone(buffer, packets);
  }

 private:
  static std::string NameOf(const ChunkName& chunk) {
    return fmt::format("{}{}", WriterName(chunk.sequence), Raw(chunk.chunk));
  }
  const Engine& engine() const { return *replay_.session().buffers().at(kStreamBuffer).engine; }

  /// The buffer in order of its bytes, and of its sequences.
  void Draw() {
    std::vector<std::pair<uint64_t, std::string>> boxes;  // offset, text
    std::map<SequenceKey, std::vector<std::pair<ChunkId, std::string>>> sequences;
    uint64_t end = 0;
    const Result<uint64_t> cursor = engine().VisitChunks([&](const ObservedChunk& chunk) {
      end = std::max(end, chunk.offset + chunk.outer_size);
      if (chunk.is_padding())
        return void(boxes.emplace_back(chunk.offset, fmt::format("[--/{}]", chunk.outer_size)));
      const std::string text =
          ChunkText(chunk.sequence, chunk.chunk, chunk.flags, !chunk.incomplete);
      const bool is_read = chunk.payload_avail == 0 && chunk.payload_size > 0;
      std::string rest;
      if (chunk.payload_avail != 0 && chunk.consumed() != 0)
        rest = fmt::format(";{}-left", chunk.payload_avail);
      boxes.emplace_back(chunk.offset,
                         is_read ? fmt::format("({}/{})", text, chunk.outer_size)
                                 : fmt::format("[{}/{}{}]", text, chunk.outer_size, rest));
      sequences[chunk.sequence].emplace_back(chunk.chunk, is_read ? "(" + text + ")" : text);
    });
    if (!cursor) {
      now_.buffer = "not reported by this plug-in";
      return;
    }
    const auto at = std::ranges::find_if(boxes, [&](auto& box) { return box.first >= *cursor; });
    boxes.emplace(at, *cursor, "^");
    if (const uint64_t size = engine().stats().buffer_size; end < size)
      boxes.emplace_back(end, fmt::format("{} unused", size - end));
    now_.buffer = Joined(TextsOf(boxes), " ");
    std::vector<std::string> lists;
    for (auto& [sequence, chunks] : sequences) {
      std::ranges::stable_sort(chunks, Precedes, &std::pair<ChunkId, std::string>::first);
      lists.push_back(Joined(TextsOf(chunks), " "));
    }
    now_.sequences = lists.empty() ? "none" : Joined(lists, "; ");
  }
  template <typename Key>
  static std::vector<std::string> TextsOf(const std::vector<std::pair<Key, std::string>>& texts) {
    std::vector<std::string> all;
    for (const auto& [key, text] : texts) all.push_back(text);
    return all;
  }

  Replay replay_;
  Status status_;  // of the set-up
  TriedStep now_;
};

/// Names the parts of a step that differ from another engine's: "packets, counters".
std::string WhatDiffers(const TriedStep& a, const TriedStep& b) {
  std::vector<std::string> parts;
  if (a.packets != b.packets) parts.emplace_back("packets");
  if (a.buffer != b.buffer) parts.emplace_back("the buffer");
  if (a.sequences != b.sequences) parts.emplace_back("sequences");
  if (a.counters != b.counters) parts.emplace_back("counters");
  return Joined(parts);
}

void ReportTried(Report& report, const std::vector<std::string>& engines, const TriedStep& step,
                 const std::string& differs) {
  report.PrintWrapped(TextStyle::kBold, Joined(engines), "", 2);
  const auto line = [&](const char* title, const std::string& text) {
    if (!text.empty()) report.Paragraph(fmt::format("{}: {}", title, text), "    ");
  };
  line("packets", Joined(step.packets));
  line("buffer", step.buffer);
  line("sequences", step.sequences);
  line("events", Joined(step.events, "; "));
  line("counters", Joined(step.counters));
  line("differs", differs);
  report.AddItem("engines", [&] {
    report.Data({{"names", engines},
                 {"buffer", step.buffer},
                 {"sequences", step.sequences},
                 {"events", step.events},
                 {"packets", step.packets},
                 {"counters", step.counters},
                 {"differs", differs}});
  });
}

Status WriteExample(const TryArgs& args, const std::vector<ExampleStep>& steps,
                    const std::vector<const EngineInfo*>& engines, Context& context) {
  const std::vector<StoredOp> stored = ToOps(steps, args.size, args.policy);
  const bool is_test = args.output.ends_with(".cc");
  std::string text;
  if (is_test) {
    RS_ASSIGN_OR_RETURN(
        text,
        WritePerfettoCase({.cause = "example",
                           .what = args.example,
                           .ops = stored,
                           .sides = {{.engine = engines.front()}, {.engine = engines.back()}}}));
  } else {
    text = FormatLog(args.example, stored);
  }
  RS_ASSIGN_OR_RETURN(
      const std::unique_ptr<OutputFile> file,
      CreateOutput(context, args.output, is_test ? kPerfettoCaseOutput : kOpsOutput, args.force));
  RS_RETURN_IF_ERROR(file->Write(text));
  return file->Commit();
}

Result<ExitCode> RunTry(const TryArgs& chosen, Context& context) {
  TryArgs args = chosen;
  if (args.engines.empty()) args.engines = {"v2"};
  RS_ASSIGN_OR_RETURN(const std::vector<ExampleStep> steps, ParseExample(args.example));
  const EngineLookup find = EnginesAndPlugins();
  std::vector<const EngineInfo*> infos;
  std::vector<std::unique_ptr<TriedBuffer>> tried;
  for (const std::string& name : args.engines) {
    RS_ASSIGN_OR_RETURN(infos.emplace_back(), find(name));
    tried.push_back(std::make_unique<TriedBuffer>(*infos.back(), args));
  }
  Report report(context.console, args.format, "try");
  report.Print(fmt::format("A {} of {}\n",
                           args.policy == FillPolicy::kDiscard ? "discard buffer" : "ring buffer",
                           HumanSize(args.size)));
  report.Data({{"example", args.example}, {"size", args.size}, {"policy", Name(args.policy)}});
  for (size_t number = 0; number < steps.size(); ++number) {
    const ExampleStep& step = steps[number];
    // Engines that give the same are reported once.
    std::vector<std::pair<TriedStep, std::vector<std::string>>> results;
    for (size_t i = 0; i < tried.size(); ++i) {
      RS_ASSIGN_OR_RETURN(TriedStep result, tried[i]->Take(step));
      const std::string& name = infos[i]->name;
      if (auto* const same = FindBy(results, result, &decltype(results)::value_type::first))
        same->second.push_back(name);
      else
        results.push_back({std::move(result), {name}});
    }
    report.Heading(fmt::format("{}. {}", number + 1, step.text));
    report.AddItem("steps", [&] {
      report.Data({{"number", number + 1}, {"operations", step.text}});
      for (size_t i = 0; i < results.size(); ++i)
        ReportTried(report, results[i].second, results[i].first,
                    i == 0 ? "" : WhatDiffers(results[0].first, results[i].first));
    });
  }
  RS_RETURN_IF_ERROR(report.Finish());
  if (!args.output.empty()) RS_RETURN_IF_ERROR(WriteExample(args, steps, infos, context));
  return ExitCode::kClean;
}

}  // namespace

Command TryCommand() {
  return {"try",
          "Replay a one-line example through each buffer version",
          "Puts the commits, patches, reads and clones of a line into a buffer of one or more "
          "versions, and shows after each step the chunks in the order of the buffer and of their "
          "sequences, the packets returned, what happened to chunks, and the counters that moved. "
          "Versions that give the same are shown once.",
          {{"ringscope try 'A1 B1 B3 A2 B2 | read 2 | C0:1600 | read'",
            "In which order are packets read, and what is overwritten?"},
           {"ringscope try 'A1s | read | B1 | A1 | read' --engine v2@57,v2@58",
            "What becomes of a scraped chunk that is completed later?"},
           {"ringscope try 'A1:2000 A2:2000 A3' --policy discard -o full.ops.jsonl",
            "Make a log of it, for other commands"}},
          Bind(SetUp, RunTry),
          {.notice = nullptr}};
}

}  // namespace ringscope
