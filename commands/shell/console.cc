#include "commands/shell/console.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/wire.h"

namespace ringscope {
namespace {

// Text for people is broken in lines of so many columns; longer ones are hard to read.
constexpr size_t kLeastWidth = 60;
constexpr size_t kMostWidth = 120;

constexpr size_t kFewestColumns = 20;  // that messages are broken for
constexpr size_t kMessageIndent = 2;   // of their further lines

constexpr size_t kFlushBytes = 64 * 1024;
const std::string kClearLine = "\r\x1b[K";

/// Returns text in a style of a terminal.
std::string InStyle(TextStyle style, std::string_view text) {
  constexpr const char* kCodes[] = {"", "\x1b[1m", "\x1b[1;32m", "\x1b[1;33m", "\x1b[1;31m"};
  return fmt::format("{}{}\x1b[0m", kCodes[static_cast<size_t>(style)], text);
}

}  // namespace

Status KeptText::Write(Bytes bytes) {
  text += wire::AsText(bytes);
  return {};
}

Console::~Console() {
  ShowProgressLine("");
  static_cast<void>(Flush());
}

void Console::Print(std::string_view text) {
  if (streams_.out.is_terminal()) ShowProgressLine("");
  pending_ += text;
  if (pending_.size() >= kFlushBytes) static_cast<void>(Flush());
}

void Console::PrintLine(std::string_view line, size_t indent) {
  if (!out_is_terminal() || DisplayWidth(line) <= width() || line.size() <= indent)
    return Print(std::string(line) + "\n");
  PrintParagraph(line.substr(indent), line.substr(0, indent));
}

size_t Console::width() const {
  const size_t columns = streams_.out.columns();
  return columns == 0 ? kUnbroken : std::clamp(columns, kLeastWidth, kMostWidth);
}

Status Console::Flush() {
  if (!pending_.empty() && status_) status_ = streams_.out.Write(pending_);
  pending_.clear();
  return status_;
}

Status Console::Write(Bytes bytes) {
  Print(wire::AsText(bytes));
  return status_;
}

bool Console::UsesColor(const OutputStream& stream) const {
  if (options_.color != ColorMode::kAuto) return options_.color == ColorMode::kAlways;
  return stream.is_terminal() && !streams_.no_color;
}

std::string Console::Styled(TextStyle style, std::string_view text) const {
  const bool is_plain = style == TextStyle::kPlain || !UsesColor(streams_.out);
  return is_plain ? std::string(text) : InStyle(style, text);
}

void Console::WriteMessage(std::string_view kind, TextStyle style, std::string_view text) {
  // Results first: a terminal shows both streams, and a message belongs after its result.
  static_cast<void>(Flush());
  ShowProgressLine("");
  constexpr std::string_view kTool = "ringscope: ";
  std::string line(kTool);
  if (!kind.empty()) line += fmt::format("{}: ", kind);
  line += text;
  // The terminal itself would break words.
  if (const size_t columns = streams_.err.is_terminal() ? streams_.err.columns() : 0;
      columns >= kFewestColumns)
    line = Wrap(line, "", kMessageIndent, columns - 1);
  if (!kind.empty() && UsesColor(streams_.err))
    line.replace(kTool.size(), kind.size() + 1, InStyle(style, fmt::format("{}:", kind)));
  line += '\n';
  static_cast<void>(streams_.err.Write(line));  // there is no better place to report to
}

void Console::PrintError(std::string_view text) { WriteMessage("error", TextStyle::kLoss, text); }
void Console::Warn(std::string_view text) { WriteMessage("warning", TextStyle::kWarning, text); }
void Console::Say(std::string_view text) {
  if (!options_.quiet) WriteMessage("", TextStyle::kPlain, text);
}

void Console::ShowProgressLine(std::string_view line) {
  if (progress_on_ != nullptr) return progress_on_->ShowProgressLine(line);
  if (line.empty() && !progress_shown_) return;
  // The last column stays free: some terminals wrap as soon as it is used.
  const size_t columns = streams_.err.columns();
  static_cast<void>(streams_.err.Write(
      kClearLine + (columns > 0 ? Shortened(line, columns - 1) : std::string(line))));
  progress_shown_ = !line.empty();
}

Progress::Progress(Console& console, std::string label, const char* noun)
    : console_(console),
      label_(std::move(label)),
      noun_(noun),
      active_(console.shows_progress()),
      start_(Clock::now()),
      next_(start_ + std::chrono::milliseconds(300)) {}  // a short run shows no progress

Progress::~Progress() {
  if (active_) console_.ShowProgressLine("");
}

void Progress::Update(uint64_t done, uint64_t total) {
  if (!active_) return;
  const Clock::time_point now = Clock::now();
  if (now < next_) return;
  next_ = now + std::chrono::milliseconds(100);
  const double seconds = std::chrono::duration<double>(now - start_).count();
  console_.ShowProgressLine(FormatProgress(label_, done, total, seconds, noun_));
}

void Progress::Show() {
  if (active_) console_.ShowProgressLine(label_ + " ...");
}

std::string FormatProgress(std::string_view label, uint64_t done, uint64_t total, double seconds,
                           const char* noun) {
  const double rate = seconds > 0 ? static_cast<double>(done) / seconds : 0;
  std::string line(label);
  if (total > 0)
    line +=
        fmt::format("  {:3.0f}%", 100.0 * static_cast<double>(done) / static_cast<double>(total));
  line += noun != nullptr ? fmt::format("  {:.{}f} {}s/s", rate, rate < 10 ? 1 : 0, noun)
                          : fmt::format("  {}/s", HumanSize(static_cast<uint64_t>(rate)));
  if (total > done && rate > 0) {
    const uint64_t left = static_cast<uint64_t>(static_cast<double>(total - done) / rate);
    line += fmt::format("  {}:{:02} left", left / 60, left % 60);
  }
  return line;
}

}  // namespace ringscope
