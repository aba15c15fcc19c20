#ifndef RINGSCOPE_COMMANDS_TESTING_MEMORY_RUN_H_
#define RINGSCOPE_COMMANDS_TESTING_MEMORY_RUN_H_

#include <optional>
#include <string>
#include <vector>

#include "commands/shell/command.h"
#include "commands/shell/console.h"
#include "core/base/wire.h"
#include "formats/testing/files.h"

namespace ringscope {

/// An output stream that keeps what is written.
class MemoryStream : public OutputStream {
 public:
  using ByteSink::Write;
  Status Write(Bytes bytes) override {
    if (closed) {
      gone_ = true;
      return Fail(ErrorCode::kIo, "the reader has gone");
    }
    text += wire::AsText(bytes);
    return {};
  }
  bool is_terminal() const override { return terminal; }
  size_t columns() const override { return width; }
  bool reader_gone() const override { return gone_; }

  std::string text;
  bool terminal = false;
  size_t width = kTextColumns;  // outputs of tests are as on a terminal of this width
  bool closed = false;          // writes fail as on a broken pipe

 private:
  bool gone_ = false;
};

/// Streams in memory, and what a command needs around them.
struct MemoryRun {
  explicit MemoryRun(std::string input = "")
      : streams{out, err, [input] { return MakeMemorySource(input, "-"); }},
        console(streams),
        context{console} {}

  /// What was printed so far.
  const std::string& Output() {
    static_cast<void>(console.Flush());
    return out.text;
  }

  MemoryStream out;
  MemoryStream err;
  Streams streams;
  Console console;
  Context context;
};

/// What a command printed, and how it ended.
struct Ran {
  std::string out;
  std::string err;
  std::string error;  // empty: it succeeded
  std::optional<ErrorCode> error_code;
  ExitCode code = ExitCode::kFailed;
};

/// Runs a command in memory, with the arguments that follow its name on a command line.
/// @param input what it can read as "-"
/// @param threads that it may use; 0: as many as there are cores
Ran RunCommand(const Command& command, std::vector<std::string> args, const std::string& input = "",
               unsigned threads = 0);

/// How often `part` is in `text`.
inline size_t CountOf(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

/// The words of a text with one space between them: where lines end depends on the lengths of
/// names.
std::string WithoutLineBreaks(const std::string& text);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_TESTING_MEMORY_RUN_H_
