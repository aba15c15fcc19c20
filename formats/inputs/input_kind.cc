#include "formats/inputs/input_kind.h"

#include <fmt/format.h>

#include <cctype>
#include <regex>

#include "core/perfetto/trace_config_facts.h"
#include "formats/json/key_reader.h"
#include "formats/log/commit_log_reader.h"
#include "formats/trace/perfetto_trace.h"

namespace ringscope {
namespace {

/// Bytes that are read: comments and blank lines may precede the first operation.
constexpr size_t kLookedAt = size_t{64} << 10;

/// Returns the kind by a line of JSON, which may be cut off: its kind is at its start.
InputKind KindOfLine(std::string_view line) {
  line.remove_prefix(line.find_first_not_of(" \t\r"));
  if (!line.starts_with('{')) return InputKind::kOther;
  const auto has_key = [&](std::string_view key) {
    const size_t at = line.find(key);
    return at != std::string_view::npos && line.find_first_of(",}") > at;
  };
  if (has_key("\"event\"")) return InputKind::kEvents;
  if (has_key("\"op\"")) return InputKind::kLog;
  const Result<ScannedJson> json = ScanJson(line);
  if (!json) return InputKind::kOther;
  const KeyReader keys(*json);
  if (keys.Has("op")) return InputKind::kLog;
  return keys.Has("event") ? InputKind::kEvents : InputKind::kOther;
}

/// Returns the kind by the first lines that are neither blank nor comments: some may be damaged. A
/// text of blank lines and comments alone has no operations.
InputKind KindOfText(std::string_view text) {
  constexpr int kLines = 100;
  if (text.empty()) return InputKind::kOther;
  int lines = 0;
  while (!text.empty() && lines < kLines) {
    const std::string_view line = text.substr(0, text.find('\n'));
    if (!IsBlankOrComment(line)) {
      const InputKind kind = KindOfLine(line);
      if (kind != InputKind::kOther) return kind;
      ++lines;
    }
    text.remove_prefix(std::min(line.size() + 1, text.size()));
  }
  return lines == 0 ? InputKind::kLog : InputKind::kOther;
}

/// Returns true if the bytes begin with a Trace message's well-formed packet.
bool IsTrace(Bytes bytes) {
  if (bytes.empty() || bytes[0] != kPacketTag) return false;
  const wire::Varint size = wire::ReadVarint(bytes.subspan(1));
  if (size.size == 0) return false;
  const Bytes packet = bytes.subspan(1 + size.size);
  if (size.value > packet.size()) return packet.size() + 1 + size.size >= kLookedAt;
  return wire::ForEachField(packet.first(static_cast<size_t>(size.value)), [](const auto&) {});
}

/// Returns true if the bytes are a whole TraceConfig whose data sources all have a name. A trace
/// has no field but its packets.
bool IsConfig(Bytes bytes) {
  if (!wire::ForEachField(bytes, [](const auto&) {})) return false;
  const TraceConfigFacts config = ReadTraceConfigFacts(bytes);
  const auto is_named = [](const ConfiguredSource& source) {
    constexpr std::string_view kMarks = "._:/-";
    return source.name.size() > 2 && std::ranges::all_of(source.name, [&](unsigned char c) {
             return std::isalnum(c) || kMarks.find(static_cast<char>(c)) != kMarks.npos;
           });
  };
  return !config.sources.empty() && std::ranges::all_of(config.sources, is_named);
}

using namespace std::string_view_literals;

constexpr const char *kUi = "ui.perfetto.dev and trace_processor open it",
                     *kNameMember = "name a file in it as ARCHIVE:MEMBER",
                     *kConfigWords = "a trace config",
                     *kCutOff = "a compressed file that is cut off or damaged",
                     *kConverted = "UTF-8 text that was made of a trace",
                     *kInUtf16 = "UTF-16 text that was made of a trace, as by PowerShell",
                     *kCopyAgain =
                         "the conversion cannot be undone: copy the trace again, as binary";

/// Bytes at a place by which a format is known.
struct Magic {
  std::string_view bytes;
  const char* words;
  size_t offset = 0;
  const char* opened = "";  // by what
};

constexpr std::array kMagics = {
    Magic{"\x89PNG\r\n"sv, "a PNG image"},
    Magic{"\xFF\xD8\xFF"sv, "a JPEG image"},
    Magic{"%PDF-"sv, "a PDF document"},
    Magic{"\x7F\x45LF"sv, "an ELF program"},
    Magic{"PK\x03\x04"sv, "a zip archive", 0, kNameMember},
    Magic{"PK\x05\x06"sv, "a zip archive", 0, kNameMember},
    Magic{"ustar"sv, "a tar archive", 257, kNameMember},
    Magic{"\xFD\x37zXZ\0"sv, "a file compressed by xz", 0, "'xz -d' decompresses it"},
    Magic{"BZh"sv, "a file compressed by bzip2", 0, "'bzip2 -d' decompresses it"},
    Magic{"\x04\x22\x4D\x18"sv, "a file compressed by lz4", 0, "'lz4 -d' decompresses it"},
    Magic{"7z\xBC\xAF\x27\x1C"sv, "a 7-Zip archive", 0, "'7z x' extracts it"},
    Magic{"SQLite format 3\0"sv, "a SQLite database"},
    Magic{"ARROW1"sv, "an Arrow file"},
    Magic{"PERFILE2"sv, "a recording of perf", 0, kUi},
    Magic{"SIMPLEPERF"sv, "a recording of simpleperf", 0, kUi},
    Magic{"\x10\0\x04\x46\x78\x54\x16\0"sv, "a Fuchsia trace (FXT)", 0, kUi},
    Magic{"SLOW"sv, "a method trace of Android's ART", 0, kUi},
    Magic{"*version\n"sv, "a method trace of Android's ART", 0, kUi},
    Magic{"\xFF\xFE\x0D\0\x0A\0"sv, kInUtf16, 0, kCopyAgain},
    Magic{"\xFF\xFE\x0A\0"sv, kInUtf16, 0, kCopyAgain},
    Magic{"JAVA PROFILE"sv, "a Java heap dump (hprof)", 0, kUi},
};

/// How a text begins, without the blanks before it, and words that make it this one.
struct KnownText {
  const char* start;  // a regular expression
  const char* words;
  const char* opened = "";
  const char* has = "";  // also somewhere in its first kLookedAt bytes
};
constexpr KnownText kKnownTexts[] = {
    {"<(!doctype )?html", "a page of systrace", kUi, "trace-data"},
    {"<(!doctype )?html", "a page of systrace", kUi, "systrace"},
    {"<(!doctype )?html", "a page of systrace", kUi, "# tracer"},
    {"<(!doctype )?html", "an HTML page"},
    {"<svg", "an SVG picture"},
    {"<\\?xml", "an export of Apple's Instruments", kUi, "<trace-query-result>"},
    {"<\\?xml", "an XML document"},
    {"\\{", "a Fuchsia trace in JSON", kUi, "\"systemTraceEvents\""},
    {"[[{]", "a Chrome trace in JSON", kUi, "\"traceEvents\""},
    {"\\[", "a Chrome trace in JSON", kUi, "\"ph\""},
    {"\\{\"(meta|libs)\"", "a profile of Firefox (Gecko)",
     "profiler.firefox.com and ui.perfetto.dev open it"},
    {"\\{", "a JSON text"},
    {"\\[", "a JSON text"},
    {"# ninja log", "a log of ninja", kUi},
    {"", "a systrace text", kUi, "# tracer"},
    {"(TRACE:\\n|cpus=)", "a systrace text", kUi},
    {"\\S.*-\\d+ +(\\([ \\d-]+\\) +)?\\[\\d+\\] .* *\\d+\\.\\d+: \\w+:", "a systrace text", kUi},
    {"\\S.* +\\d+(/\\d+)? +(\\[\\d+\\] +)?\\d+\\.\\d+: ", "a text of perf script", kUi},
    {"(\\d{4}-)?\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d\\.\\d+ ", "a text of logcat", kUi},
    {"[^;\\s][^;\\n]*(;[^;\\n]+)+ \\d+\\n", "collapsed stacks", kUi},
    {"(\\d+ +)?([\\d:.]+ )?[a-z_0-9]+\\(.*\\) += ", "a text of strace", kUi},
    {"(#.*\\n|\\s)*(buffers|data_sources|duration_ms|write_into_file)\\s*[:{]", kConfigWords,
     "'ringscope doctor' checks it"},
    {"", "the text of an Android bug report", "name the zip archive of the report",
     "== dumpstate: "},
    {"", "a text file"},
};

bool IsTextByte(char c) {
  return static_cast<unsigned char>(c) >= ' ' || c == '\n' || c == '\r' || c == '\t' || c == '\f' ||
         c == '\x1B';
}

constexpr const char* kCompressedSystrace = "a compressed systrace (ctrace)";

/// Returns true for a binary that begins as a trace and is UTF-8 throughout, with many characters
/// of several bytes: programs that take a file as text write each byte from 0x80 on as a character.
bool IsConvertedTrace(std::string_view content) {
  constexpr size_t kFewest = 8;
  if (content.empty() || content[0] != kPacketTag || std::ranges::all_of(content, IsTextByte))
    return false;
  size_t characters = 0;
  while (!content.empty()) {
    const size_t length = Utf8Length(content);
    // The last character may be cut off.
    if (length == 0) return content.size() < 4 && characters >= kFewest;
    characters += length > 1 ? 1 : 0;
    content.remove_prefix(length);
  }
  return characters >= kFewest;
}

/// The words of the first magic that the bytes have, or an empty text.
const char* MagicWords(std::string_view content) {
  for (const Magic& magic : kMagics)
    if (content.size() >= magic.offset && content.substr(magic.offset).starts_with(magic.bytes))
      return magic.words;
  return "";
}

/// The words of a text's format; of a compressed systrace, which has a text before it, too.
std::string TextWords(std::string_view content) {
  constexpr size_t kFirst = 512;  // bytes that the beginnings are compared with
  if (content.substr(0, kFirst).find("TRACE:\n\x78") != content.npos) return kCompressedSystrace;
  if (!std::ranges::all_of(content, IsTextByte)) return "";
  content.remove_prefix(std::min(content.find_first_not_of(" \t\r\n"), content.size()));
  const std::string first(content.substr(0, kFirst));
  for (const KnownText& format : kKnownTexts)
    if (content.find(format.has) != content.npos &&
        std::regex_search(first, std::regex(format.start, std::regex::icase),
                          std::regex_constants::match_continuous))
      return format.words;
  return "";
}

/// The kind of an input, and its start.
struct InputStart {
  InputKind kind = InputKind::kOther;
  bool is_compressed = false, is_damaged = false;  // not even its first bytes can be decompressed
  std::string content;                             // its first bytes, decompressed
};
/// Looks at the first bytes of an input, decompressed if need be.
InputStart LookAtStart(std::string start) {
  InputStart known{.content = std::move(start)};
  const auto is_log = [&] { return commit_log::LooksLikeCommitLog(wire::AsBytes(known.content)); };
  std::unique_ptr<ByteSource> source = MakeMemorySource(known.content);
  const auto unpacked = is_log() ? nullptr : MakeSourceFor(wire::AsBytes(known.content), source);
  known.is_compressed = unpacked != nullptr;
  if (unpacked) {
    const Result<std::string> content = unpacked->Peek(kLookedAt);
    known.is_damaged = !content;
    known.content = content.value_or("");
  }
  if (is_log()) {
    known.kind = InputKind::kLog;
    return known;
  }
  known.content.resize(std::min(known.content.size(), kLookedAt));
  const Bytes content = wire::AsBytes(known.content);
  if (IsConfig(content)) {
    known.kind = InputKind::kConfig;
    return known;
  }
  if (IsConvertedTrace(known.content)) return known;
  known.kind = IsTrace(content) ? InputKind::kTrace : KindOfText(known.content);
  // A trace can be damaged at its start, or follow what is none of it.
  if (known.kind == InputKind::kOther && *MagicWords(known.content) == '\0' &&
      (HasTextLineEnds(content) || HasWholePacket(content)))
    known.kind = InputKind::kTrace;
  return known;
}

/// Returns true if the name ends so, perhaps with the suffix of a compression after it.
bool EndsWithAny(std::string_view name, std::initializer_list<std::string_view> suffixes) {
  return std::ranges::any_of(suffixes, [&](std::string_view suffix) {
    for (const char* compression : {"", ".gz", ".zst"})
      if (name.ends_with(std::string(suffix) + compression)) return true;
    return false;
  });
}

}  // namespace

InputKind KindOfStart(std::string start) { return LookAtStart(std::move(start)).kind; }

Result<KnownInput> FindInputKind(std::unique_ptr<ByteSource> source) {
  RS_ASSIGN_OR_RETURN(std::string start, source->Peek(kKindBytes));
  const InputKind kind = KindOfStart(start);
  return KnownInput{kind, std::move(start), std::move(source)};
}

std::string ContentWords(std::string_view start) {
  if (start.empty()) return "an empty file";
  const InputStart known = LookAtStart(std::string(start));
  const std::string_view content = known.content;
  std::string words;
  if (known.kind == InputKind::kLog) words = "a log";
  if (known.kind == InputKind::kEvents) words = "a file of events of a replay";
  if (known.kind == InputKind::kTrace) words = "a Perfetto trace";
  if (known.kind == InputKind::kConfig) words = kConfigWords;
  if (known.is_damaged) return kCutOff;
  if (content.empty()) return "a compressed file without content";
  if (words.empty()) words = MagicWords(content);
  if (words.empty() && IsConvertedTrace(content)) words = kConverted;
  if (words.empty()) words = TextWords(content);
  if (!known.is_compressed) return words;
  return words.empty() ? "a compressed file of an unknown format" : words + ", compressed";
}

Result<std::string> ReadText(ByteSource& source, size_t max_bytes, std::string_view needed,
                             std::string expected) {
  RS_ASSIGN_OR_RETURN(std::string text, ReadAll(source, max_bytes));
  const std::string_view start = std::string_view(text).substr(0, kKindBytes);
  if (!std::ranges::all_of(start, IsTextByte) || start.empty())
    return tl::unexpected<Error>(WrongContent(start, source.path(), needed, std::move(expected)));
  return text;
}

std::string WhereOpened(std::string_view words) {
  if (words.starts_with(kCompressedSystrace)) return kUi;
  if (words.starts_with(kConverted)) return kCopyAgain;
  if (words == kCutOff) return "copy it again";
  for (const Magic& magic : kMagics)
    if (words.starts_with(magic.words)) return magic.opened;
  for (const KnownText& format : kKnownTexts)
    if (words.starts_with(format.words)) return format.opened;
  return "";
}

Error WrongContent(std::string_view start, const std::string& path, std::string_view needed,
                   std::string expected) {
  const std::string words = ContentWords(start), opened = WhereOpened(words);
  if (!opened.empty()) expected = fmt::format("{}; {}", opened, expected);
  return {ErrorCode::kCorrupt,
          words.empty() ? fmt::format("this is not {}", needed)
                        : fmt::format("this is {}, not {}", words, needed),
          {path, {}, {}},
          std::move(expected)};
}

bool IsTraceName(std::string_view name) {
  return EndsWithAny(name, {".pftrace", ".perfetto-trace", ".perfetto"});
}

bool IsLogName(std::string_view name) { return EndsWithAny(name, {".tblog", ".ops.jsonl"}); }

bool IsArchiveName(std::string_view name) { return EndsWithAny(name, {".zip", ".tar", ".tgz"}); }

}  // namespace ringscope
