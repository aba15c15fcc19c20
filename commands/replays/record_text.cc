#include <fmt/format.h>
#include <fmt/ranges.h>

#include <type_traits>
#include <utility>
#include <vector>

#include "commands/replays/loss_words.h"
#include "commands/shell/text.h"
#include "core/base/wire.h"
#include "formats/log/record_fields.h"

namespace ringscope {
namespace {

constexpr size_t kOffsetsShown = 8;

/// A record's fields as "key value, key value"; what is empty, absent or false is left out.
class FieldText {
 public:
  template <typename T>
  void operator()(RecordField field, const std::optional<T>& value) {
    if (value)
      Put(field, *value);
    else if (field.in_line == RecordField::InLine::kBufferOrAll)
      Add(field, "all");
  }
  void operator()(RecordField, const std::vector<RecordingVerdict>& verdicts) {
    for (const RecordingVerdict& verdict : verdicts)
      text_ += fmt::format("; not exact: {}, {} times{}{}{}", Name(verdict.reason), verdict.times,
                           verdict.session ? fmt::format(", session {}", *verdict.session) : "",
                           verdict.detail.empty() ? "" : ", ", Printable(verdict.detail));
  }
  template <typename T>
  void operator()(RecordField field, const T& value) {
    if (!field.is_optional() || value != T{}) Put(field, value);
  }

  std::string Take() { return std::move(text_); }

 private:
  template <typename T>
  void Put(RecordField field, const T& value) {
    if constexpr (std::is_same_v<T, std::string>) {
      if (field.is_hex())
        Add(field, fmt::format("of {} bytes", WithCommas(value.size())));
      else if (!value.empty())
        Add(field, fmt::format("'{}'", Printable(value)));
    } else if constexpr (std::is_same_v<T, std::vector<uint64_t>>) {
      Add(field, fmt::format("{}", fmt::join(value, " ")));
    } else if constexpr (std::is_same_v<T, bool>) {
      if (value) Add(field, "true");
    } else if constexpr (NamedEnum<T>) {
      Add(field, Name(value));
    } else if constexpr (std::is_enum_v<T>) {
      Add(field, std::to_string(Raw(value)));
    } else {
      const bool is_size = std::string_view(field.key).ends_with("size");
      Add(field, is_size ? HumanSize(static_cast<uint64_t>(value)) : std::to_string(value));
    }
  }
  void Add(RecordField field, std::string_view value) {
    text_ += fmt::format("{}{} {}", text_.empty() ? "" : ", ", field.key, value);
  }

  std::string text_;
};

std::string Describe(const Commit&) { return ""; }  // has lines of its own
std::string Describe(const Note& note) { return Printable(note.text); }
template <typename Record>
std::string Describe(const Record& record) {
  FieldText text;
  Fields(text, record);
  return text.Take();
}

}  // namespace

std::string DescribeRecord(const OpBody& body) {
  return std::visit([](const auto& record) { return Describe(record); }, body);
}

std::string DescribeChunk(const ChunkToMove& chunk) {
  if (!chunk.data)
    return fmt::format("page {} chunk {} of the shared memory, whose bytes are not in the log",
                       chunk.page.value_or(0), chunk.index.value_or(0));
  const auto header = ParseChunkHeader(*chunk.data);
  if (!header) return fmt::format("malformed chunk of {}", Count(chunk.data->size(), "byte"));
  std::string text = fmt::format("{}, {}", Count(header->fragments, "fragment"),
                                 Count(chunk.data->size() - kChunkHeaderSize, "byte"));
  for (const FlagName& known : kFlagNames)
    if ((header->flags & known.flag) != 0) text += fmt::format(", {}", known.name);
  if ((header->flags & ~kAbiFlags) != 0)
    text += fmt::format(", unknown flags {:#x}", header->flags & ~kAbiFlags);
  if (chunk.incomplete) text += ", incomplete";
  return text;
}

std::string DescribePatches(const ChunkToPatch& patch) {
  const size_t count = patch.patches.size();
  std::string text = Count(count, "patch");
  for (size_t i = 0; i < count && i < kOffsetsShown; ++i)
    text += fmt::format("{} {}", i == 0 ? " at" : ",", patch.patches[i].offset);
  if (count > kOffsetsShown) text += ", ...";
  if (patch.more) text += ", more patches follow";
  return text;
}

}  // namespace ringscope
