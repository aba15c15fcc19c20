#include "formats/proto/text_proto.h"

#include <fmt/format.h>

#include <charconv>

namespace ringscope {
namespace {

constexpr int kMaxDepth = 64;

bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }
/// Part of a name, a number or an enum's value.
bool IsWord(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '.' || c == '-' || c == '+';
}

class Parser {
 public:
  Parser(std::string_view text, const std::string& path) : text_(text), path_(path) {}

  Result<TextMessage> ParseAll() {
    RS_ASSIGN_OR_RETURN(TextMessage message, ParseFields('\0', 0));
    return message;
  }

 private:
  tl::unexpected<Error> Expected(std::string_view what) const {
    const std::string found =
        at_ < text_.size() ? fmt::format("'{}'", text_[at_]) : std::string("the end");
    return Fail(ErrorCode::kCorrupt, fmt::format("expected {}, found {}", what, found),
                {path_, {}, line_}, "this must be a message in protobuf's text format");
  }

  /// The next character that is neither space nor comment; '\0' at the end.
  char Peek() {
    while (at_ < text_.size()) {
      if (text_[at_] == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (IsSpace(text_[at_])) {
        line_ += text_[at_] == '\n';
        ++at_;
      } else {
        return text_[at_];
      }
    }
    return '\0';
  }
  bool Skip(char c) {
    if (Peek() != c || at_ == text_.size()) return false;
    ++at_;
    return true;
  }

  /// @param end what closes the message; '\0': the end of the text
  Result<TextMessage> ParseFields(char end, int depth) {
    if (depth > kMaxDepth) return Expected("fewer messages inside each other");
    TextMessage message;
    while (true) {
      const char next = Peek();
      if (next == '\0' && at_ == text_.size()) {
        if (end == '\0') return message;
        return Expected(fmt::format("'{}'", end));
      }
      if (end != '\0' && Skip(end)) return message;
      RS_RETURN_IF_ERROR(ParseField(message, depth));
      if (!Skip(',')) Skip(';');
    }
  }

  Status ParseField(TextMessage& message, int depth) {
    TextMessage::Field field;
    field.line = line_;
    if (Skip('[')) {  // an extension's name
      while (at_ < text_.size() && (IsWord(text_[at_]) || text_[at_] == '/'))
        field.name += text_[at_++];
      if (!Skip(']')) return Expected("']'");
    } else {
      field.name = TakeWord();
    }
    if (field.name.empty()) return Expected("a field's name");
    const bool colon = Skip(':');
    if (!Skip('[')) return ParseValue(std::move(field), colon, message, depth);
    if (Skip(']')) return {};
    do {
      RS_RETURN_IF_ERROR(ParseValue(field, true, message, depth));
    } while (Skip(','));
    if (!Skip(']')) return Expected("']'");
    return {};
  }

  Status ParseValue(TextMessage::Field field, bool scalar_allowed, TextMessage& message,
                    int depth) {
    const char next = Peek();
    if (Skip('{') || Skip('<')) {
      field.is_message = true;
      RS_ASSIGN_OR_RETURN(field.message, ParseFields(next == '{' ? '}' : '>', depth + 1));
    } else if (!scalar_allowed) {
      return Expected("':' or '{'");
    } else if (next == '"' || next == '\'') {
      field.is_string = true;
      while (Peek() == '"' || Peek() == '\'') RS_RETURN_IF_ERROR(AppendString(field.value));
    } else {
      field.value = TakeWord();
      if (field.value.empty()) return Expected("a value");
    }
    message.fields.push_back(std::move(field));
    return {};
  }

  std::string TakeWord() {
    Peek();
    const size_t start = at_;
    while (at_ < text_.size() && IsWord(text_[at_])) ++at_;
    return std::string(text_.substr(start, at_ - start));
  }

  Status AppendString(std::string& out) {
    const char quote = text_[at_++];
    while (at_ < text_.size() && text_[at_] != quote && text_[at_] != '\n') {
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) {
        ++at_;
        out += text_[at_] == 'n' ? '\n' : text_[at_] == 't' ? '\t' : text_[at_];
      } else {
        out += text_[at_];
      }
      ++at_;
    }
    if (at_ == text_.size() || text_[at_] != quote) return Expected(fmt::format("{}", quote));
    ++at_;
    return {};
  }

  std::string_view text_;
  const std::string& path_;
  size_t at_ = 0;
  uint64_t line_ = 1;
};

}  // namespace

std::vector<const TextMessage::Field*> TextMessage::All(std::string_view name) const {
  std::vector<const Field*> all;
  for (const Field& field : fields)
    if (field.name == name) all.push_back(&field);
  return all;
}

const TextMessage::Field* TextMessage::Last(std::string_view name) const {
  const auto all = All(name);
  return all.empty() ? nullptr : all.back();
}

std::optional<uint64_t> TextMessage::Field::Number() const {
  if (is_string || is_message) return std::nullopt;
  const bool hex = value.starts_with("0x") || value.starts_with("0X");
  const std::string_view digits = std::string_view(value).substr(hex ? 2 : 0);
  uint64_t number = 0;
  const auto [stop, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), number, hex ? 16 : 10);
  if (error != std::errc() || stop != digits.data() + digits.size()) return std::nullopt;
  return number;
}

Result<TextMessage> ParseTextProto(std::string_view text, const std::string& path) {
  return Parser(text, path).ParseAll();
}

}  // namespace ringscope
