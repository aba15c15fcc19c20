#ifndef RINGSCOPE_COMMANDS_SHELL_CONSOLE_H_
#define RINGSCOPE_COMMANDS_SHELL_CONSOLE_H_

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "core/base/enum_names.h"
#include "core/base/result.h"
#include "core/base/text.h"
#include "formats/io/byte_stream.h"

namespace ringscope {

/// An output of the tool: a descriptor of the process, or a string in tests.
class OutputStream : public ByteSink {
 public:
  using ByteSink::Write;
  virtual bool is_terminal() const { return false; }
  /// Columns of the terminal, as it is now; 0: not a terminal, so that lines have no limit.
  virtual size_t columns() const { return 0; }
  /// The reader closed its end (`| head`), which is not an error.
  virtual bool reader_gone() const { return false; }
};

class KeptText : public OutputStream {
 public:
  using ByteSink::Write;
  Status Write(Bytes bytes) override;
  std::string text;
};

/// The streams of a run, so that the whole tool can be called in memory.
struct Streams {
  OutputStream& out;
  OutputStream& err;
  std::function<Result<std::unique_ptr<ByteSource>>()> open_input;  // standard input
  bool no_color = false;                                            // NO_COLOR is set
  bool of_process = false;  // they are this process' own, so that a child process has them, too
};

/// Formats of results; each command has some of them.
enum class Format : uint8_t { kText, kMarkdown, kJson, kJsonl, kCsv, kSvg, kOps, kDiff };
template <>
inline constexpr std::array kEnumNames<Format> = {"text", "md",  "json", "jsonl",
                                                  "csv",  "svg", "ops",  "diff"};

enum class ColorMode { kAuto, kAlways, kNever };

/// How text stands out on a terminal.
enum class TextStyle { kPlain, kBold, kGood, kWarning, kLoss };

struct ConsoleOptions {
  ColorMode color = ColorMode::kAuto;
  bool quiet = false;  // neither messages nor progress; warnings and errors stay
};

/// A width that no text has: lines are not broken.
inline constexpr size_t kUnbroken = 1 << 20;

/// Results to standard output, everything else to standard error. As a sink it is standard output,
/// after what was printed so far.
class Console : public ByteSink {
 public:
  explicit Console(Streams& streams) : streams_(streams) {}
  ~Console() override;
  Console(const Console&) = delete;
  Console& operator=(const Console&) = delete;

  void Configure(const ConsoleOptions& options) { options_ = options; }
  const ConsoleOptions& options() const { return options_; }

  /// Writes part of the result. Buffered; Flush returns errors.
  void Print(std::string_view text);
  /// Columns that text for people is broken at: of a terminal its own, from 60 to 120; into a pipe
  /// or a file lines are not broken, so that a fact is found by its line.
  size_t width() const;
  /// Writes a line of a listing; on a terminal in lines of width(), all after the first indented.
  void PrintLine(std::string_view line, size_t indent);
  /// Writes a text of one paragraph after `mark`, in lines of width(), the others indented as far.
  void PrintParagraph(std::string_view text, std::string_view mark = {}) {
    Print(Wrap(text, mark, 0, width()) + "\n");
  }
  using ByteSink::Write;
  /// Prints, and returns the first error of standard output so far.
  Status Write(Bytes bytes) override;
  /// Writes out what is pending; the first error of standard output so far.
  Status Flush();

  /// "ringscope: error: ..."
  void PrintError(std::string_view text);
  void Warn(std::string_view text);
  /// A message that is no result, such as what was written where. Not with --quiet.
  void Say(std::string_view text);
  /// `text` in a style, if standard output takes colours.
  std::string Styled(TextStyle style, std::string_view text) const;
  std::string Bold(std::string_view text) const { return Styled(TextStyle::kBold, text); }

  Streams& streams() { return streams_; }
  bool out_is_terminal() const { return streams_.out.is_terminal(); }
  /// Returns true if standard error is a terminal, and not with --quiet.
  bool shows_progress() const {
    if (progress_on_ != nullptr) return progress_on_->shows_progress();
    return streams_.err.is_terminal() && !options_.quiet;
  }
  /// Replaces the progress line by `line`, cut to the terminal's width; empty: removes it.
  void ShowProgressLine(std::string_view line);
  /// Progress is shown by another console, which outlives this one.
  void ShowProgressOn(Console& other) { progress_on_ = &other; }

 private:
  bool UsesColor(const OutputStream& stream) const;
  void WriteMessage(std::string_view kind, TextStyle style, std::string_view text);

  Streams& streams_;
  ConsoleOptions options_;
  std::string pending_;
  Status status_;
  bool progress_shown_ = false;
  Console* progress_on_ = nullptr;
};

/// A progress line on a terminal: percent, rate, time left. Removed when it is destroyed.
class Progress {
 public:
  /// @param label what is being done, "replaying x.tblog"
  /// @param noun of what is counted, "file"; nullptr: bytes of the input
  Progress(Console& console, std::string label, const char* noun = nullptr);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// @param done bytes, or what `noun` names; @param total of them, 0 if not known
  void Update(uint64_t done, uint64_t total);
  /// Shows what is being done, where progress is not known.
  void Show();

 private:
  using Clock = std::chrono::steady_clock;

  Console& console_;
  const std::string label_;
  const char* const noun_;
  const bool active_;
  const Clock::time_point start_;
  Clock::time_point next_;
};

/// The text of a progress line. Split off for tests.
/// @param seconds since the start
std::string FormatProgress(std::string_view label, uint64_t done, uint64_t total, double seconds,
                           const char* noun = nullptr);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_SHELL_CONSOLE_H_
