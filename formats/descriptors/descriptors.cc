#include "formats/descriptors/descriptors.h"

#include <fmt/format.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/descriptor_database.h>
#include <google/protobuf/dynamic_message.h>
#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/text_format.h>

#include <climits>
#include <sstream>

#include "core/base/text.h"

namespace ringscope {
namespace {

// The protobuf library reports errors to an object. Its functions were renamed in version 22.
#if GOOGLE_PROTOBUF_VERSION >= 4022000
using ProtobufText = absl::string_view;
#define RS_ON_ERROR RecordError
#define RS_ON_WARNING RecordWarning
#else
using ProtobufText = const std::string&;
#define RS_ON_ERROR AddError
#define RS_ON_WARNING AddWarning
#endif

/// Keeps the first error in a text. A field whose name is not known is one, unless the name is a
/// number.
class TextErrors : public google::protobuf::io::ErrorCollector {
 public:
  void RS_ON_ERROR(int at_line, int at_column, ProtobufText text) override {
    if (!message.empty()) return;
    line = at_line;
    column = at_column;
    message = std::string(text);
  }
  void RS_ON_WARNING(int at_line, int at_column, ProtobufText text) override {
    const std::string warning(text);
    const size_t quote = warning.size() - 3;
    const bool is_number =
        warning.ends_with("\".") &&
        warning.find_last_not_of("0123456789", quote) == warning.rfind('"', quote);
    if (!is_number) RS_ON_ERROR(at_line, at_column, text);
  }

  int line = -1;  // from 0; -1: nowhere in particular
  int column = -1;
  std::string message;
};

#undef RS_ON_ERROR
#undef RS_ON_WARNING

using MessageType = google::protobuf::Descriptor;  // `Descriptor` is a class of formats/io
using google::protobuf::FieldDescriptor;
using google::protobuf::FieldDescriptorProto;
using google::protobuf::FileDescriptorProto;
using google::protobuf::FileDescriptorSet;
using google::protobuf::Message;
using google::protobuf::TextFormat;

/// The package of Perfetto's messages.
constexpr const char* kPerfettoPackage = "perfetto.protos";
constexpr int kDeepestText = 64;  // messages inside each other

/// The part of a message that is between quotes, the nth from 0.
std::string QuotedPart(const std::string& text, int nth) {
  std::istringstream parts(text);
  std::string part;
  for (int i = 0; i < 2 * nth + 2; ++i)
    if (!std::getline(parts, part, '"')) return {};
  return part;
}

void ReplaceAll(std::string& text, std::string_view what, std::string_view with) {
  for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += with.size())
    text.replace(at, what.size(), with);
}

/// Names without Perfetto's package, quotes as everywhere, no full stop, a small letter first.
std::string InOurWords(std::string text) {
  ReplaceAll(text, fmt::format("{}.", kPerfettoPackage), "");
  ReplaceAll(text, "\"", "'");
  if (text.starts_with("Ignoring extension ")) {  // a warning where unknown fields are left out
    text.erase(0, std::string_view("Ignoring ").size());
    ReplaceAll(text, " which is not defined", " is not defined");
  }
  if (const size_t got = text.find(", got: "); got != std::string::npos) {
    const std::string found = text.substr(got + 7);
    const char* const quote = found.starts_with('\'') ? "" : "'";
    text = fmt::format("{}, found {}{}{}", text.substr(0, got), quote, found, quote);
  }
  ReplaceAll(text, "found ''", "found the end");
  if (text.ends_with('.')) text.pop_back();
  if (!text.empty() && text.front() >= 'A' && text.front() <= 'Z')
    text.front() = static_cast<char>(text.front() - 'A' + 'a');
  return text;
}

/// Returns the hint that the library's error lacks: the name that may be meant.
std::string HintOf(const std::string& error, const MessageType& root) {
  const bool is_of_field = error.starts_with("Message type ");
  const MessageType* const message =
      is_of_field ? root.file()->pool()->FindMessageTypeByName(QuotedPart(error, 0)) : nullptr;
  std::vector<std::string> names;
  for (int i = 0; message != nullptr && i < message->field_count(); ++i)
    names.emplace_back(message->field(i)->name());
  return DidYouMean(
      QuotedPart(error, 1), names,
      fmt::format("this must be a {} in protobuf's text format", std::string(root.name())));
}

/// Returns the offset of a line and column, from 0. The library's columns take tabs as up to 8.
size_t OffsetOf(std::string_view text, int line, int column) {
  size_t at = 0;
  for (; line > 0 && at < text.size(); --line)
    at = std::min(text.find('\n', at), text.size() - 1) + 1;
  for (int i = 0; i < column && at < text.size() && text[at] != '\n'; ++at)
    i += text[at] == '\t' ? 8 - i % 8 : 1;
  return at;
}

/// Returns the place of an error. The library reports the place after an unknown name.
size_t PlaceOf(const TextErrors& error, std::string_view text) {
  const size_t at = OffsetOf(text, error.line, error.column);
  std::string name;
  if (error.message.starts_with("Message type ")) name = QuotedPart(error.message, 1);
  for (const char* start :
       {"Unknown enumeration value ", "Non-repeated field ", "Ignoring extension "})
    if (error.message.starts_with(start)) name = QuotedPart(error.message, 0);
  const size_t start = name.empty() ? std::string_view::npos : text.substr(0, at).rfind(name);
  return start == std::string_view::npos ? at : start;
}

/// The line (from 1) of a place, and its column.
std::pair<uint64_t, size_t> LineAndColumn(std::string_view text, size_t at) {
  const std::string_view before = text.substr(0, at);
  const auto lines = std::count(before.begin(), before.end(), '\n');
  const size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0
  return {static_cast<uint64_t>(lines) + 1, at - line_start + 1};
}

/// Takes strings as bytes, but for keys of maps: the library complains about invalid UTF-8.
template <typename Fields>
void TakeStringsAsBytes(Fields& fields) {
  for (FieldDescriptorProto& field : fields) {
    if (field.type() != FieldDescriptorProto::TYPE_STRING) continue;
    field.set_type(FieldDescriptorProto::TYPE_BYTES);
    field.clear_default_value();
  }
}
void TakeMessagesStringsAsBytes(google::protobuf::DescriptorProto& message) {
  if (!message.options().map_entry()) TakeStringsAsBytes(*message.mutable_field());
  TakeStringsAsBytes(*message.mutable_extension());
  for (auto& nested : *message.mutable_nested_type()) TakeMessagesStringsAsBytes(nested);
}

/// The messages that are known.
struct Pool {
  Pool() {
    FileDescriptorSet set;
    const Bytes bytes = EmbeddedDescriptorSet();
    set.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
    for (FileDescriptorProto& file : *set.mutable_file()) {
      for (auto& message : *file.mutable_message_type()) TakeMessagesStringsAsBytes(message);
      TakeStringsAsBytes(*file.mutable_extension());
      files.Add(file);
    }
  }

  const MessageType* Find(std::string_view name) const {
    if (const MessageType* found =
            pool.FindMessageTypeByName(fmt::format("{}.{}", kPerfettoPackage, name)))
      return found;
    return pool.FindMessageTypeByName(std::string(name));
  }
  std::unique_ptr<Message> New(const MessageType* type) const {
    return std::unique_ptr<Message>(messages.GetPrototype(type)->New());
  }

  google::protobuf::SimpleDescriptorDatabase files;
  google::protobuf::DescriptorPool pool{&files};
  mutable google::protobuf::DynamicMessageFactory messages{&pool};
};

/// Returns the only pool, which the first look-up makes.
const Pool& BuiltInPool() {
  static const Pool pool;
  return pool;
}

/// Parses a message in text format. @param places gets those of its fields
bool ParseText(std::string_view text, Message& into, TextErrors& errors,
               TextFormat::ParseInfoTree& places) {
  TextFormat::Parser parser;
  parser.RecordErrorsTo(&errors);
  parser.SetRecursionLimit(kDeepestText);
  parser.AllowFieldNumber(true);
  parser.AllowUnknownField(true);
  parser.WriteLocationsTo(&places);
  return parser.ParseFromString(std::string(text), &into);
}

}  // namespace

namespace descriptors {

std::string FieldName(std::string_view message, uint32_t number) {
  const std::optional<DescribedField> field = FieldOf(message, number);
  return field ? field->name : std::string();
}

std::optional<DescribedField> FieldOf(std::string_view message, uint32_t number) {
  const MessageType* const type = BuiltInPool().Find(message);
  if (type == nullptr || number > INT_MAX) return std::nullopt;
  const FieldDescriptor* field = type->FindFieldByNumber(static_cast<int>(number));
  if (field == nullptr)
    field = BuiltInPool().pool.FindExtensionByNumber(type, static_cast<int>(number));
  if (field == nullptr) return std::nullopt;
  DescribedField described{std::string(field->name()), {}};
  if (field->message_type() != nullptr) described.message = field->message_type()->full_name();
  const std::string package = fmt::format("{}.", kPerfettoPackage);
  if (described.message.starts_with(package)) described.message.erase(0, package.size());
  return described;
}

Result<std::string> Encode(std::string_view message, std::string_view text,
                           const std::string& path) {
  const MessageType* const type = BuiltInPool().Find(message);
  if (type == nullptr)
    return Fail(ErrorCode::kUnsupported, fmt::format("there is no message {}", message));
  const std::unique_ptr<Message> parsed = BuiltInPool().New(type);
  TextErrors errors;
  TextFormat::ParseInfoTree places;
  if (!ParseText(text, *parsed, errors, places) || !errors.message.empty()) {
    std::string what = InOurWords(errors.message);
    Where where{path, {}, {}};
    if (errors.line >= 0) {
      const auto [line, column] = LineAndColumn(text, PlaceOf(errors, text));
      where.line = line;
      what = fmt::format("column {}: {}", column, what);
    }
    return Fail(ErrorCode::kCorrupt, what, where, HintOf(errors.message, *type));
  }
  return parsed->SerializePartialAsString();
}

std::optional<TextPlace> FindInText(std::string_view message, std::string_view text,
                                    const std::vector<TextStep>& path) {
  const MessageType* type = BuiltInPool().Find(message);
  if (type == nullptr) return std::nullopt;
  const std::unique_ptr<Message> parsed = BuiltInPool().New(type);
  TextErrors errors;
  TextFormat::ParseInfoTree root;
  if (!ParseText(text, *parsed, errors, root)) return std::nullopt;
  TextPlace place{.begin = 0, .end = text.size()};
  const TextFormat::ParseInfoTree* tree = &root;
  for (const TextStep& step : path) {
    const FieldDescriptor* const field =
        tree == nullptr || type == nullptr ? nullptr : type->FindFieldByName(step.name);
    if (field == nullptr || step.index > INT_MAX) break;
    const int index = field->is_repeated() ? static_cast<int>(step.index) : -1;
    const auto range = tree->GetLocationRange(field, index);
    if (range.start.line < 0) break;
    place.begin = OffsetOf(text, range.start.line, range.start.column);
    place.end = OffsetOf(text, range.end.line, range.end.column);
    // The library counts what may separate fields as a part of the first.
    if (place.end > place.begin && (text[place.end - 1] == ',' || text[place.end - 1] == ';'))
      --place.end;
    ++place.steps;
    type = field->message_type();
    tree = type == nullptr ? nullptr : tree->GetTreeForNested(field, index);
  }
  return place;
}

bool CanParse(std::string_view message, Bytes bytes) {
  const MessageType* const type = BuiltInPool().Find(message);
  if (type == nullptr || bytes.size() > INT_MAX) return false;
  google::protobuf::Arena arena;
  Message* const parsed = BuiltInPool().messages.GetPrototype(type)->New(&arena);
  return parsed->ParsePartialFromArray(bytes.data(), static_cast<int>(bytes.size()));
}

std::string Text(std::string_view message, Bytes bytes) {
  constexpr const char* kMalformed = "# what follows cannot be parsed\n";
  const MessageType* const type = BuiltInPool().Find(message);
  if (type == nullptr || bytes.size() > INT_MAX) return kMalformed;
  const std::unique_ptr<Message> parsed = BuiltInPool().New(type);
  const bool is_whole = parsed->ParsePartialFromArray(bytes.data(), static_cast<int>(bytes.size()));
  std::string text;
  TextFormat::Printer().PrintToString(*parsed, &text);
  return is_whole ? text : text + kMalformed;
}

}  // namespace descriptors
}  // namespace ringscope
