#include <cctype>

#include "commands/compare/diff.h"
#include "commands/session/session_view.h"
#include "commands/session/trace_check.h"
#include "core/engine/catalogue.h"
#include "core/session/replay_listener.h"

namespace ringscope {

// The results as JSON. Fields are listed once; they are not read back.

template <typename T>
void ListFields(JsonFieldWriter& io, const Both<T>& both) {
  io("a", both.a, "b", both.b);
}
void ListFields(JsonFieldWriter& io, const DiffWhy& why) {
  io("kind", why.kind, "text", Describe(why));
  ListFields(io, why.moment);
  if (why.kind == DiffWhy::Kind::kDiscarded) io("discard", why.discard);
  if (why.kind == DiffWhy::Kind::kWaits) io("waits_for", why.stall);
  if (why.loss_bits != 0) io("loss_bits", why.loss_bits);
  io.UnlessEmpty("by", why.by, "with", why.with);
}
void ListFields(JsonFieldWriter& io, const PacketView& view) {
  io("returned", view.packet.has_value());
  if (const auto& packet = view.packet) {
    ListFields(io, packet->moment);
    io("bytes", packet->size, "xxh3", fmt::format("{:016x}", packet->hash), "loss_bits",
       packet->loss_bits, "uid", packet->identity.uid, "pid", packet->identity.pid, "valid",
       packet->valid);
  }
  io.UnlessEmpty("why", view.why);
}
void ListFields(JsonFieldWriter& io, const PacketDifference& difference) {
  const ReturnedPacket& packet = difference.seen();
  const auto& [chunk, offset, clone] = packet.place;
  io("kind", difference.kind, "buffer", chunk.buffer, "clone", clone, "sequence",
     chunk.name.sequence, "chunk", chunk.name.chunk, "offset", offset, "last_chunk",
     packet.last_chunk, "written",
     difference.written.record ? std::optional(difference.written) : std::nullopt, "content",
     ContentName(packet.content));
  ListFields(io, difference.sides);
}
void ListFields(JsonFieldWriter& io, const Divergence& first) {
  io("kind", first.kind);
  ListFields(io, first.moment);
  io("at_end", first.at_end, "operation", first.operation, "buffer", first.buffer, "chunk",
     first.chunk, "packet", first.packet);
  if (first.kind == DifferenceKind::kPatch) io("patched", first.patched);
  std::vector<std::string> counters;
  for (const size_t i : first.counters) counters.emplace_back(kStatFields[i].name);
  io("counters", counters);
}
void ListFields(JsonFieldWriter& io, const BufferOutcome& side) {
  io("engine", side.engine, "size", side.size, "policy", side.policy, "freed", side.freed,
     "packets", side.read.packets, "packet_bytes", side.read.bytes, "unread_bytes",
     side.stats.unread_bytes());
}

namespace {

using FirstTime = std::optional<uint64_t>;  // nanoseconds, of the session's first record

std::string CommitText(const Commit& commit) {
  constexpr size_t kShown = 3;
  std::vector<std::string> parts;
  CommitRequestParser parser;
  parser.Parse(commit.request);
  for (const ChunkToMove& chunk : parser.chunks())
    if (const auto header = chunk.header())
      parts.push_back(
          fmt::format("{} of {} to buffer {}: {}", chunk.incomplete ? "scrape" : "commit",
                      ToString(ChunkName{{commit.producer, header->writer}, header->chunk}),
                      chunk.target_buffer.value_or(0), DescribeChunk(chunk)));
  for (const ChunkToPatch& patch : parser.patches())
    parts.push_back(fmt::format("patch of {} in buffer {}: {}",
                                ToString(patch.NameFor(commit.producer)),
                                patch.target_buffer.value_or(0), DescribePatches(patch)));
  if (parts.empty()) return fmt::format("commit of producer {}", Raw(commit.producer));
  if (parts.size() > kShown) {
    parts[kShown] = fmt::format("and {} more", parts.size() - kShown);
    parts.resize(kShown + 1);
  }
  return Joined(parts, "; ");
}

std::string MomentText(const LogMoment& moment, FirstTime first_time_ns) {
  std::string text = fmt::format("record {}", WithCommas(moment.record.value_or(0)));
  if (moment.time_ns && first_time_ns && *moment.time_ns >= *first_time_ns)
    text += " at " + HumanDuration(*moment.time_ns - *first_time_ns);
  return text;
}

std::string ViewText(const PacketView& view, FirstTime first_time_ns) {
  if (const auto& packet = view.packet)
    return fmt::format("returned by {}{}{}", MomentText(packet->moment, first_time_ns),
                       packet->loss_bits != 0 ? ", flagged " + LossBitsText(packet->loss_bits) : "",
                       packet->valid ? "" : ", invalid for the service");
  if (!view.why) return "not returned again";
  const LogMoment& moment = view.why->moment;
  return Describe(*view.why) +
         (moment == LogMoment() ? "" : fmt::format(" ({})", MomentText(moment, first_time_ns)));
}

/// A side's part in a difference of a known kind.
std::string ShortText(DifferenceKind kind, const PacketView& view, FirstTime first_time_ns) {
  const auto& packet = view.packet;
  if (!packet) return ViewText(view, first_time_ns);
  if (kind == DifferenceKind::kLossBits) return LossBitsText(packet->loss_bits);
  if (kind == DifferenceKind::kIdentity)
    return fmt::format("uid {} pid {}", packet->identity.uid, packet->identity.pid);
  if (kind == DifferenceKind::kContent)
    return fmt::format("{} bytes, {:016x}{}", packet->size, packet->hash,
                       packet->valid ? "" : ", invalid");
  return MomentText(packet->moment, first_time_ns);
}

/// Packets that differ in one way. For people, a side that alone has them comes first.
Table PacketTable(DifferenceKind kind, const std::vector<PacketDifference>& packets,
                  FirstTime first_time_ns) {
  const Side left = kind == DifferenceKind::kOnlyInB ? Side::kB : Side::kA;
  const bool is_one_sided = kind == OnlyIn(left);
  const auto title = [&](const char* if_one_sided, Side side) {
    return fmt::format("{}{}", is_one_sided ? if_one_sided : "", Letter(side));
  };
  Table table({{"buffer", Align::kRight},
               {"packet"},
               {"written"},
               {"bytes", Align::kRight},
               {"content"},
               {title("read by ", left)},
               {title("why not by ", Other(left))}});
  for (const PacketDifference& difference : packets) {
    const ReturnedPacket& packet = difference.seen();
    const auto& [chunk, offset, clone] = packet.place;
    table.AddRow({std::to_string(Raw(chunk.buffer)),
                  fmt::format("{}+{}{}", ToString(chunk.name), offset,
                              clone == 0 ? "" : fmt::format(" (clone {})", clone)),
                  difference.written.record ? MomentText(difference.written, first_time_ns) : "",
                  WithCommas(packet.size), Printable(ContentName(packet.content)),
                  ShortText(kind, difference.sides[left], first_time_ns),
                  ShortText(kind, difference.sides[Other(left)], first_time_ns)});
  }
  return table;
}

void ReportPackets(Report& report, const LogDiff& result, bool all) {
  for (const DifferenceRow& row : kEnumRows<DifferenceKind>) {
    if (row.value >= DifferenceKind::kPatch) break;  // not of packets
    const std::vector<PacketDifference>& packets = result.packets[row.value];
    report.Data(row.name, FieldsToJson(packets));
    if (all)
      PrintList(report, row.value, PacketTable(row.value, packets, result.first_time_ns),
                result.counts[row.value], packets.size(), "packet");
  }
}

void PrintField(Report& report, std::string_view name, std::string_view text) {
  report.Paragraph(text, fmt::format("  {:<10}", name));
}

void PrintDivergence(Report& report, const Divergence& first, FirstTime first_time_ns) {
  const bool is_counter = first.kind == DifferenceKind::kCounter;
  report.Heading(Wrap(fmt::format("First divergence{}: {}", is_counter ? " of counters" : "",
                                  first.Text({"A", "B"})),
                      size_t{0}, report.width()));
  PrintField(report, "where",
             first.at_end ? "the read after the last record"
                          : fmt::format("{}: {}", MomentText(first.moment, first_time_ns),
                                        Printable(first.operation)));
  if (first.packet) {
    const LogMoment& written = first.packet->written;
    PrintField(report, "packet",
               ContentName(first.packet->seen().content) +
                   (written.record ? ", written by " + MomentText(written, first_time_ns) : ""));
    // Of these kinds the heading names what both sides have.
    const bool names_both = first.kind >= DifferenceKind::kContent;
    for (const Side side : kSides)
      if (!names_both)
        PrintField(report, std::string(1, Letter(side)),
                   ViewText(first.packet->sides[side], first_time_ns));
  } else if (first.chunk) {
    PrintField(report, "chunk", ToString(*first.chunk));
  }
  for (const size_t i : first.counters) {
    const StatField& field = kStatFields[i];
    PrintField(
        report, "counter",
        fmt::format("{}: {} in A, {} in B", field.name, WithCommas(first.stats.a.*field.value),
                    WithCommas(first.stats.b.*field.value)));
  }
}

/// An engine as a word of a sentence or a column: of a plug-in the file, without its folder.
std::string EngineLabel(const BufferOutcome& side) {
  return side.engine.substr(side.engine.rfind('/') + 1);
}

/// Prints the packets read of each buffer, and all else in which its sides differ.
void PrintBuffers(Report& report, const std::vector<BufferDiff>& buffers) {
  Table table({{""}, {""}, {"A", Align::kRight}, {"B", Align::kRight}});
  for (const auto& [id, sides, diverged] : buffers) {
    std::string name = fmt::format("buffers[{}]", sides.a.index);
    const auto add = [&, &both = sides](const char* title, auto cell) {
      const Cell a = cell(both.a), b = cell(both.b);
      if (a.text != b.text || !name.empty()) table.AddRow({std::exchange(name, ""), title, a, b});
    };
    add("packets read", [](const BufferOutcome& side) { return CountCell(side.read.packets); });
    add("engine", [](const BufferOutcome& side) { return NameCell(EngineLabel(side)); });
    add("size", [](const BufferOutcome& side) { return BytesCell(side.size); });
    add("policy", [](const BufferOutcome& side) { return NameCell(Name(side.policy)); });
    add("packet bytes", [](const BufferOutcome& side) { return BytesCell(side.read.bytes); });
    add("left unread",
        [](const BufferOutcome& side) { return BytesCell(side.stats.unread_bytes()); });
  }
  report.Section("", table);
}

/// When the sides were read, where that is not in the log: ", read at the end (assumed)".
std::string AssumedReadsText(const Both<ReadsUsed>& reads) {
  if (!reads.a.assumed && !reads.b.assumed) return "";
  const std::string a = ReadsText(reads.a), b = ReadsText(reads.b);
  return a == b ? ", read " + a : fmt::format(", A read {}, B read {}", a, b);
}

/// The rules in which two engines differ and that may show here, for people; empty: none is known.
std::string RulesBetween(const std::string& a, const std::string& b, const DiffCounts& counts) {
  std::vector<std::string> titles;
  const bool are_v2 = a.starts_with("v2@") && b.starts_with("v2@");
  for (const ReleaseNote& note : ReleaseNotes())
    if (are_v2 && note.engine() > std::min(a, b) && note.engine() <= std::max(a, b))
      titles.push_back(fmt::format("{}: {}", note.engine(), note.title));
  if ((a == "v1") != (b == "v1")) {
    if (counts[DifferenceKind::kOrder] > 0)
      titles.push_back("v1 returns packets sequence by sequence");
    if (counts[DifferenceKind::kLossBits] > 0)
      titles.push_back("v1 flags the first packet of each sequence, and gives no cause");
  }
  return titles.empty() ? "" : fmt::format(" Rules that differ: {}.", Joined(titles, "; "));
}

/// "v2@58 returns 12 packets more than v2@57; nothing else differs.": what a person can repeat.
std::string SummaryOf(const LogDiff& result) {
  if (result.Same() || result.buffers.empty()) return {};
  const Both<BufferOutcome>& sides = result.buffers.front().sides;
  std::string a = EngineLabel(sides.a), b = EngineLabel(sides.b);
  if (a == b) a = "A", b = "B";
  const DiffCounts& counts = result.counts;
  const uint64_t fewer = counts[DifferenceKind::kOnlyInA], more = counts[DifferenceKind::kOnlyInB];
  std::string text =
      fewer + more == 0 ? fmt::format("{} and {} return the same packets", a, b)
      : fewer > 0 && more > 0
          ? fmt::format("{} returns {} that {} does not, and lacks {} that it returns", b,
                        Count(more, "packet"), a, WithCommas(fewer))
          : fmt::format("{} returns {} {} than {}", b, Count(fewer + more, "packet"),
                        more > 0 ? "more" : "fewer", a);
  DiffCounts others = counts;
  others[DifferenceKind::kOnlyInA] = others[DifferenceKind::kOnlyInB] = 0;
  text += others.all() == 0 ? "; nothing else differs."
                            : fmt::format("; also: {}.", CountsText(others));
  const bool has_same_buffers = sides.a.size == sides.b.size && sides.a.policy == sides.b.policy;
  return text + (has_same_buffers ? RulesBetween(a, b, counts) : "");
}

void ReportSession(Report& report, const SessionDiff& diff, const DiffArgs& args) {
  const LogDiff& result = diff.result;
  const FirstTime first_time_ns = result.first_time_ns;
  const uint64_t duration = result.last_time_ns.value_or(0) - first_time_ns.value_or(0);
  const auto clone = diff.clone ? std::optional(diff.clone->clone) : std::nullopt;
  ReportTitle(report, {.path = diff.path,
                       .session = diff.is_only_session ? 0 : diff.session,
                       .records = result.records,
                       .duration_ns = duration,
                       .clone = clone,
                       .more = AssumedReadsText(result.reads)});
  if (clone) report.Data("clone", *clone);
  report.Paragraph(result.Same() ? "A and B are the same." : "A and B differ.");
  if (!result.same_reads)
    report.Paragraph(
        "The sides are read at different moments, so moments and the order across sequences are "
        "not compared.");
  PrintBuffers(report, result.buffers);
  report.Data({{"input", diff.path},
               {"session", diff.session},
               {"records", result.records},
               {"same", result.Same()},
               {"same_results", result.SameResults()},
               {"same_reads", result.same_reads},
               {"reads", FieldsToJson(result.reads)},
               {"counts", FieldsToJson(result.counts)},
               {"first_divergence", FieldsToJson(result.first)},
               {"first_counter_divergence", FieldsToJson(result.first_counter)},
               {"first_other_order_across_sequences",
                result.first_order ? FieldsToJson(result.first_order->moment) : Json()}});
  if (result.first) PrintDivergence(report, *result.first, first_time_ns);
  if (result.first_counter && !result.first && !result.Same())
    PrintDivergence(report, *result.first_counter, first_time_ns);
  report.AddObject("packets", [&] { ReportPackets(report, result, args.all); });
  if (result.first_order)
    report.Heading("Order across sequences differs first at " +
                   MomentText(result.first_order->moment, first_time_ns));
  report.Data("buffers", Json::array());
  for (const BufferDiff& buffer : result.buffers)
    report.AddItem("buffers", [&] {
      report.Data("buffer", Raw(buffer.id));
      report.Data(FieldsToJson(buffer.sides));
      ReportCounters(report, buffer, args.all, first_time_ns);
      Json diverged = Json::object();
      for (size_t i = 0; i < kStatFields.size(); ++i)
        if (buffer.diverged[i]) diverged[kStatFields[i].name] = FieldsToJson(*buffer.diverged[i]);
      report.Data("counters_differ_from", std::move(diverged));
    });
  const std::string summary = SummaryOf(result);
  report.Data("summary", summary);
  if (!summary.empty()) report.Paragraph("\n" + summary);
  if (!args.all && !result.Same()) report.Paragraph(kAllLists);
}

}  // namespace

void PrintList(Report& report, DifferenceKind kind, const Table& table, uint64_t count,
               size_t listed, const char* noun) {
  const std::string more =
      count > listed ? fmt::format(", of which the first {} (--limit)", WithCommas(listed)) : "";
  std::string heading = RowOf(kind).text;
  heading.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(heading.front())));
  report.Section(fmt::format("{}: {}{}", heading, Count(count, noun), more), table, 2);
}

std::string OperationText(const Op& op) {
  if (const auto* commit = std::get_if<Commit>(&op.body)) return CommitText(*commit);
  const std::string what = DescribeRecord(op.body);
  return fmt::format("{}{}{}", OpKindName(op.body.index()), what.empty() ? "" : ": ", what);
}

void ReportCounters(Report& report, const BufferDiff& buffer, bool all, FirstTime first_time_ns) {
  Json counters = Json::object();
  Table table({{""},
               {"A", Align::kRight},
               {"B", Align::kRight},
               {"B - A", Align::kRight},
               {"differs from", Align::kLeft}});
  for (size_t i = 0; i < kStatFields.size(); ++i) {
    const StatField& field = kStatFields[i];
    const uint64_t a = buffer.sides.a.stats.*field.value, b = buffer.sides.b.stats.*field.value;
    const std::optional<LogMoment>& since = buffer.diverged[i];
    counters[field.name] = {{"a", a}, {"b", b}};
    if (a == b && !since) continue;
    const std::string change = a == b ? ""
                                      : fmt::format("{}{}", a < b ? "+" : "-",
                                                    WithCommas(std::max(a, b) - std::min(a, b)));
    table.AddRow(
        {field.name, WithCommas(a), WithCommas(b), change,
         since ? MomentText(*since, first_time_ns) + (a == b ? ", equal at the end" : "") : ""});
  }
  report.Data("counters", std::move(counters));
  if (all) report.Section(fmt::format("Counters of buffers[{}]", buffer.sides.a.index), table, 2);
}

Report BeginReport(const DiffArgs& args, Console& console) {
  if (args.format != Format::kJsonl) return Report(console, args.format, "diff");
  return Report(console, Format::kJson, "diff", Report::kOneLine);
}

Status ReportDiffs(const DiffArgs& args, const std::vector<SessionDiff>& diffs, Console& console) {
  const bool are_lines = args.format == Format::kJsonl;
  Report report = BeginReport(args, console);
  const bool same = std::ranges::all_of(diffs, &LogDiff::Same, &SessionDiff::result);
  report.Data({{"compares", "replays"}, {"same", same}, {"sessions", Json::array()}});
  for (const SessionDiff& diff : diffs) {
    if (are_lines) {
      Report line = BeginReport(args, console);
      ReportSession(line, diff, args);
      RS_RETURN_IF_ERROR(line.Finish());
      continue;
    }
    if (&diff != &diffs.front()) report.Print("\n");
    report.AddItem("sessions", [&] { ReportSession(report, diff, args); });
  }
  return are_lines ? Status() : report.Finish();
}

}  // namespace ringscope
