#include "commands/view/report.h"

#include <fmt/format.h>

#include <algorithm>

namespace ringscope {
namespace {

Table FactTable() { return Table({{.title = ""}, {.title = ""}}); }

/// The text without the spaces and ends of lines around it.
std::string_view Trimmed(std::string_view text) {
  const size_t begin = std::min(text.find_first_not_of(" \n"), text.size());
  return text.substr(begin, text.find_last_not_of(" \n") + 1 - begin);
}

/// "demo-app (pid 8400)"
std::string NameOf(const StageProcess& process) {
  std::vector<std::string> parts;
  if (process.pid > 0) parts.push_back(fmt::format("pid {}", process.pid));
  if (process.machine > 0) parts.push_back(fmt::format("machine {}", process.machine));
  if (process.name.empty()) return parts.empty() ? "process not known" : Joined(parts);
  return process.name + (parts.empty() ? "" : " (" + Joined(parts) + ")");
}

}  // namespace

Report::Report(Console& console, Format format, std::string_view schema, int indent)
    : console_(console),
      format_(format),
      indent_(indent),
      data_(JsonDocument(schema)),
      facts_(FactTable()) {}

std::string Report::Styled(TextStyle style, std::string_view text) const {
  if (is_markdown()) return fmt::format("**{}**", text);
  return file_ == nullptr ? console_.Styled(style, text) : std::string(text);
}

void Report::PrintWrapped(TextStyle style, const std::string& styled, const std::string& rest,
                          size_t indent) {
  if (is_markdown())
    return Print("\n" + Styled(style, MarkdownText(styled)) + MarkdownText(rest) + "\n");
  // Lines are broken without regard to the codes of the style, and each line has its own.
  const std::string text = Wrap(styled + rest, indent, width());
  const std::string first = Wrap(styled, indent, width());
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const size_t styled_end = std::clamp(first.size(), at, end);
    const size_t word = std::min(text.find_first_not_of(' ', at), styled_end);
    out.append(text, at, word - at);
    if (styled_end > word)
      out += Styled(style, std::string_view(text).substr(word, styled_end - word));
    out.append(text, styled_end, end - styled_end);
    out += '\n';
    at = end + 1;
  }
  Print(out);
}

void Report::Print(std::string_view text) {
  if (!is_json()) Write(text);
}

void Report::Write(std::string_view text) {
  if (file_ == nullptr)
    console_.Print(text);
  else if (status_)
    status_ = file_->Write(text);
}

void Report::Paragraph(std::string_view text, std::string_view mark) {
  if (!is_markdown()) return Print(Wrap(text, mark, 0, width()) + "\n");
  const std::string words = MarkdownText(Trimmed(text));
  const std::string_view label = Trimmed(mark);
  if (mark.empty()) return Print("\n" + words + "\n");
  if (label.empty() || label == "-") return Print((mark.size() > 4 ? "  - " : "- ") + words + "\n");
  Print(fmt::format("- **{}** {}\n", MarkdownText(label), words));
}

void Report::Code(std::string_view lines) {
  Print(is_markdown() ? fmt::format("```\n{}```\n", lines) : std::string(lines));
}

void Report::Title(std::string_view title, std::string_view rest) {
  PrintWrapped(TextStyle::kBold, std::string(title) + ":", " " + std::string(rest));
}

void Report::Heading(std::string_view title, size_t indent) {
  Print(is_markdown() ? fmt::format("\n### {}\n\n", MarkdownText(title))
                      : fmt::format("\n{:{}}{}\n", "", indent, Bold(title)));
}

void Report::Print(const Table& table, size_t indent) {
  if (is_markdown())
    Print("\n" + table.Markdown());
  else if (is_text())
    table.Print(console_, indent);
}

void Report::Section(std::string_view title, const Table& table, size_t indent) {
  if (!is_text() || table.empty()) return;
  if (title.empty())
    Print("\n");
  else
    Heading(title);
  Print(table, indent);
}

void Report::Data(std::string_view key, Json value) {
  if (is_json()) data_[key] = std::move(value);
}

void Report::Data(Json members) {
  if (is_json()) data_.update(std::move(members));
}

void Report::Fact(const char* title, const Cell& cell, std::string_view key) {
  if (!key.empty()) Data(key, cell.value);
  if (is_text() && !cell.text.empty()) facts_.AddRow({title, cell});
}

void Report::EndFacts() {
  if (is_text()) Print(facts_, 2);
  facts_ = FactTable();
}

void Report::Add(std::string_view key, const Table& table, size_t indent) {
  if (is_json()) data_[key] = table.ToJson();
  Section("", table, indent);
}

Status Report::Finish() {
  if (is_json()) Write(JsonText(data_, indent_) + "\n");
  return status_;
}

std::string HarmText(Harm harm) { return harm == Harm::kDataLoss ? "data loss" : Name(harm); }

TextStyle StyleOf(Harm harm) {
  if (harm == Harm::kOk) return TextStyle::kGood;
  if (harm == Harm::kInfo) return TextStyle::kBold;
  return harm == Harm::kWarning ? TextStyle::kWarning : TextStyle::kLoss;
}

void PrintAnswer(Report& report, const std::string& name, const Answer& answer) {
  const std::string title =
      name.empty() ? answer.headline : fmt::format("{}: {}:", name, HarmText(answer.severity));
  const std::string rest = (name.empty() ? "" : " " + answer.headline) +
                           (answer.change.empty() ? "" : " Change: " + answer.change + ".");
  std::vector<AnswerLine> lines = answer.lines;
  const auto mark = [&](const AnswerLine& line) {
    size_t width = 0;
    for (const AnswerLine& each : lines) width = std::max(width, each.label.size());
    return fmt::format("  {:<{}}  ", line.label, width);
  };
  const auto rows = [&] {
    std::string text = Wrap(title + rest, size_t{0}, report.width());
    for (const AnswerLine& line : lines)
      text += "\n" + Wrap(line.text, mark(line), 0, report.width());
    return std::ranges::count(text, '\n') + 1;
  };
  for (const char* spare :
       {"Folded", "Replay", "Also", "Evicted by", "Over time", "Sources", "Stalled"})
    if (lines.size() > kAnswerLines || rows() > kAnswerRows)
      std::erase_if(lines, [&](const AnswerLine& line) { return line.label == spare; });
  report.PrintWrapped(StyleOf(answer.severity), title, rest);
  for (const AnswerLine& line : lines) report.Paragraph(line.text, mark(line));
}

void ListFields(JsonFieldWriter& io, const StageCount& stage) {
  const auto known = [&](uint64_t n) { return stage.is_known ? std::optional(n) : std::nullopt; };
  io("count", known(stage.count.packets), "bytes", known(stage.count.bytes), "places",
     stage.places);
  if (stage.chunks > 0) io("chunks", stage.chunks);
}

void ListFields(JsonFieldWriter& io, const StageAccount& account) {
  io("written", account.written(), "unusable", account.unusable);
  if (account.waiting > 0) io("waiting", account.waiting);
  for (size_t i = 0; i < kStages; ++i)
    if (account[i] != StageCount()) io(Name(static_cast<Stage>(i)), account[i]);
}

void ListFields(JsonFieldWriter& io, const StageProcess& process) {
  io("process", process.name, "pid", process.pid, "machine", process.machine);
}

void ListFields(JsonFieldWriter& io, const std::pair<const StageProcess, StageAccount>& process) {
  ListFields(io, process.first);
  io("stages", process.second);
}

void ListFields(JsonFieldWriter& io, const SequenceStages& sequence) {
  ListFields(io, sequence.process);
  io("thread", sequence.thread, "id", sequence.id, "writer", sequence.writer, "buffer",
     sequence.buffer, "data_source", sequence.source, "stages",
     static_cast<const StageAccount&>(sequence));
}

void ListFields(JsonFieldWriter& io, const StageAccounts& accounts) {
  ListFields(io, accounts.all);
  io("buffers", accounts.buffers, "data_sources", accounts.sources, "processes", accounts.processes,
     "sequences", accounts.sequences);
}

std::string EndedText(const StageCount& at) {
  std::string places = at.places == 0 ? "" : fmt::format("{}x", WithCommas(at.places));
  if (at.chunks > 0) places += (places.empty() ? "" : " + ") + Count(at.chunks, "chunk");
  if (at.is_known && at.count.packets == 0) return places.empty() ? "0" : places;
  return (at.is_known ? WithCommas(at.count.packets) : "?") + (places.empty() ? "" : " + ") +
         places;
}

void PrintStages(Report& report, const StageAccounts& accounts) {
  const bool has_buffers = accounts.buffers.size() > 1;
  std::vector<Column> columns = {{""}};
  if (has_buffers) columns.push_back({"in"});
  columns.push_back({"written", Align::kRight});
  std::vector<Stage> stages;
  for (size_t i = 0; i < kStages; ++i) {
    const auto stage = static_cast<Stage>(i);
    const bool is_there = std::ranges::any_of(
        accounts.processes, [&](const auto& each) { return each.second[stage] != StageCount(); });
    if (!is_there && stage != Stage::kSharedMemory && stage != Stage::kFile) continue;
    stages.push_back(stage);
    std::string title = stage == Stage::kLeft ? "in the trace" : Name(stage);
    std::ranges::replace(title, '_', ' ');
    columns.push_back({std::move(title), Align::kRight});
  }
  columns.push_back({"unusable", Align::kRight});
  Table table(std::move(columns));
  const auto add = [&](std::string who, const std::string& buffer, const StageAccount& account) {
    std::vector<Cell> row = {std::move(who)};
    if (has_buffers) row.emplace_back(buffer.substr(std::min(buffer.find('['), buffer.size())));
    const auto written = account.written();
    row.emplace_back(written ? WithCommas(written->packets) : "?");
    for (const Stage stage : stages) row.emplace_back(EndedText(account[stage]));
    row.emplace_back(WithCommas(account.unusable));
    table.AddRow(std::move(row));
  };
  for (const auto& [process, account] : accounts.processes) {
    add(NameOf(process), "", account);
    for (const SequenceStages& sequence : accounts.sequences)
      if (sequence.process == process)
        add("  " + NameOf(sequence, /*below_process=*/true), sequence.buffer, sequence);
  }
  report.Section("Where packets ended", table, 2);
  report.Paragraph(
      fmt::format("?: not known; 3x: three times an unknown number.{}",
                  accounts.all[Stage::kImport].is_known
                      ? ""
                      : " What the import's sorting drops, only the trace shows: it sorts by marks "
                        "in the file."),
      "  ");
}

}  // namespace ringscope
