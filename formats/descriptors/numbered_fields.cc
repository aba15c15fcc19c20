#include "formats/descriptors/numbered_fields.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/message.h>
#include <google/protobuf/unknown_field_set.h>

#include <algorithm>
#include <charconv>
#include <climits>
#include <map>
#include <utility>

#include "core/base/wire.h"

namespace ringscope {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::io::Tokenizer;

namespace {

class NoErrors : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int, google::protobuf::io::ColumnNumber, const std::string&) override {
    any_ = true;
  }
  bool any() const { return any_; }

 private:
  bool any_ = false;
};

constexpr int kDeepestField = 100;  // as deep as the library reads wire format
constexpr uint32_t kMaxFieldNumber = (uint32_t{1} << 29) - 1;

/// 0: it is no field's number.
uint32_t FieldNumber(const std::string& text) {
  uint32_t number = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  return read.ec == std::errc() && read.ptr == end && number <= kMaxFieldNumber ? number : 0;
}

/// The message at the end of a step; nullptr: there is none.
Message* Follow(Message& message, const std::string& name, size_t index) {
  const google::protobuf::Reflection* const reflection = message.GetReflection();
  const FieldDescriptor* const field =
      name.starts_with('[') ? reflection->FindKnownExtensionByName(name.substr(1, name.size() - 2))
                            : message.GetDescriptor()->FindFieldByName(name);
  if (field == nullptr || field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) return nullptr;
  if (!field->is_repeated()) return reflection->MutableMessage(&message, field);
  if (index >= static_cast<size_t>(reflection->FieldSize(message, field))) return nullptr;
  return reflection->MutableRepeatedMessage(&message, field, static_cast<int>(index));
}

/// Walks through the text, token by token.
class NumberedFieldFinder {
 public:
  NumberedFieldFinder(std::string_view text, std::string& rest,
                      std::vector<NumberedFields::Field>& fields)
      : text_(text),
        rest_(rest),
        fields_(fields),
        input_(text.data(), static_cast<int>(text.size())),
        tokens_(&input_, &errors_) {
    tokens_.set_comment_style(Tokenizer::SH_COMMENT_STYLE);
    tokens_.set_allow_f_after_float(true);
    tokens_.set_require_space_after_number(false);
    tokens_.set_allow_multiline_strings(true);
    lines_.push_back(0);
    for (size_t i = 0; i < text.size(); ++i)
      if (text[i] == '\n') lines_.push_back(i + 1);
    tokens_.Next();
  }

  bool Run() { return SkipMessage(nullptr, 0) && tokens_.current().type == Tokenizer::TYPE_END; }

 private:
  using Counts = std::map<std::string, size_t>;  // occurrences of a field so far

  const std::string& token() { return tokens_.current().text; }
  bool Is(const char* text) { return token() == text; }
  bool Take(const char* text) {
    if (!Is(text)) return false;
    tokens_.Next();
    return true;
  }
  bool AtEnd() { return tokens_.current().type == Tokenizer::TYPE_END || Is("}") || Is(">"); }
  /// Where a token begins in the text, whose columns the tokenizer counts with tabs of 8.
  size_t OffsetOf(const Tokenizer::Token& token) const {
    constexpr int kTab = 8;
    size_t at = lines_[static_cast<size_t>(token.line)];
    for (int column = 0; column < token.column && at < text_.size(); ++at)
      column += text_[at] == '\t' ? kTab - column % kTab : 1;
    return at;
  }

  /// @param encoded gets the message in wire format, if it is inside a field with a number
  bool SkipMessage(std::string* encoded, int depth) {
    if (depth > kDeepestField) return false;
    Counts counts;
    while (!AtEnd()) {
      if (errors_.any() || !SkipField(counts, encoded, depth)) return false;
      if (!Take(";")) Take(",");
    }
    return !errors_.any();
  }

  bool SkipField(Counts& counts, std::string* encoded, int depth) {
    const Tokenizer::Token first = tokens_.current();
    if (first.type == Tokenizer::TYPE_INTEGER) {
      const uint32_t number = FieldNumber(first.text);
      tokens_.Next();
      if (number == 0) return false;
      std::string bytes;
      if (!ReadNumbered(number, encoded != nullptr ? *encoded : bytes, depth)) return false;
      if (encoded == nullptr) {
        // What separates it from the next field goes, too.
        if (!Take(";")) Take(",");
        const Tokenizer::Token& next = tokens_.current();
        Blank(OffsetOf(first), next.type == Tokenizer::TYPE_END ? text_.size() : OffsetOf(next));
        fields_.push_back({path_, std::move(bytes)});
      }
      return true;
    }
    if (encoded != nullptr) return false;  // the type is not known, so names are not
    std::string name;
    if (Take("[")) {
      name = "[";
      while (!Is("]")) {
        if (tokens_.current().type == Tokenizer::TYPE_END) return false;
        name += token();
        tokens_.Next();
      }
      tokens_.Next();
      name += "]";
    } else if (first.type == Tokenizer::TYPE_IDENTIFIER) {
      name = first.text;
      tokens_.Next();
    } else {
      return false;
    }
    Take(":");
    return SkipValues(name, counts[name], depth);
  }

  /// The value of a field with a name, or a list of them.
  bool SkipValues(const std::string& name, size_t& count, int depth) {
    if (!Take("[")) return SkipValue(name, count++, depth);
    while (!Take("]")) {
      if (!SkipValue(name, count++, depth)) return false;
      if (!Take(",") && !Is("]")) return false;
    }
    return true;
  }

  bool SkipValue(const std::string& name, size_t index, int depth) {
    const char* const close = Is("{") ? "}" : Is("<") ? ">" : nullptr;
    if (close == nullptr) return SkipScalar();
    tokens_.Next();
    path_.push_back({name, index});
    const bool is_read = SkipMessage(nullptr, depth + 1);
    path_.pop_back();
    return is_read && Is(close) && Passed();
  }

  bool SkipScalar() {
    Take("-");
    const auto type = tokens_.current().type;
    if (type == Tokenizer::TYPE_END || type == Tokenizer::TYPE_SYMBOL) return false;
    Passed();
    while (type == Tokenizer::TYPE_STRING && tokens_.current().type == type) Passed();
    return true;
  }

  /// What follows the number of a field.
  /// @param out gets the field in wire format
  bool ReadNumbered(uint32_t number, std::string& out, int depth) {
    Take(":");
    if (Take("[")) {
      while (!Take("]"))
        if (!ReadNumberedValue(number, out, depth) || (!Take(",") && !Is("]"))) return false;
      return true;
    }
    return ReadNumberedValue(number, out, depth);
  }

  bool ReadNumberedValue(uint32_t number, std::string& out, int depth) {
    const char* const close = Is("{") ? "}" : Is("<") ? ">" : nullptr;
    if (close != nullptr) {
      tokens_.Next();
      std::string message;
      if (!SkipMessage(&message, depth + 1) || !Is(close)) return false;
      wire::AppendBytes(out, number, wire::AsBytes(message));
      return Passed();
    }
    const Tokenizer::Token value = tokens_.current();
    if (value.type == Tokenizer::TYPE_STRING) {
      std::string text;
      while (tokens_.current().type == Tokenizer::TYPE_STRING) {
        Tokenizer::ParseStringAppend(token(), &text);
        Passed();
      }
      wire::AppendBytes(out, number, wire::AsBytes(text));
      return true;
    }
    uint64_t parsed = 0;
    if (value.type != Tokenizer::TYPE_INTEGER ||
        !Tokenizer::ParseInteger(value.text, UINT64_MAX, &parsed))
      return false;
    // The library writes fixed ones with all of their digits.
    const bool is_hex = value.text.starts_with("0x");
    const size_t fixed = is_hex && value.text.size() == 2 + 8    ? 4
                         : is_hex && value.text.size() == 2 + 16 ? 8
                                                                 : 0;
    if (fixed == 0) {
      wire::AppendUint(out, number, parsed);
    } else {
      wire::AppendTag(out, number, fixed == 4 ? wire::Type::kFixed32 : wire::Type::kFixed64);
      for (size_t i = 0; i < fixed; ++i) out.push_back(static_cast<char>(parsed >> (8 * i)));
    }
    return Passed();
  }

  bool Passed() {
    tokens_.Next();
    return true;
  }
  /// Line breaks stay.
  void Blank(size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i)
      if (rest_[i] != '\n') rest_[i] = ' ';
  }

  const std::string_view text_;
  std::string& rest_;
  std::vector<NumberedFields::Field>& fields_;
  NoErrors errors_;
  google::protobuf::io::ArrayInputStream input_;
  Tokenizer tokens_;
  std::vector<size_t> lines_;  // offsets of their beginnings
  std::vector<NumberedFields::Step> path_;
};

}  // namespace

NumberedFields::NumberedFields(std::string_view text) : rest_(text) {
  if (text.size() > INT_MAX || NumberedFieldFinder(text, rest_, fields_).Run()) return;
  rest_ = text;
  fields_.clear();
}

void NumberedFields::AddTo(Message& message) const {
  for (const Field& field : fields_) {
    Message* target = &message;
    for (const Step& step : field.path)
      if (target != nullptr) target = Follow(*target, step.name, step.index);
    if (target == nullptr) continue;
    const Bytes bytes = wire::AsBytes(field.bytes);
    google::protobuf::io::CodedInputStream input(bytes.data(), static_cast<int>(bytes.size()));
    target->GetReflection()->MutableUnknownFields(target)->MergeFromCodedStream(&input);
  }
}

}  // namespace ringscope
