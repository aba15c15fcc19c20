#include "formats/json/key_reader.h"

#include <cmath>

#include "formats/io/hex.h"
#include "formats/json/json.h"

namespace ringscope {
namespace {

/// Scans JSON text. Functions return false where it is wrong: at_ is that place, or error_ has the
/// reason.
class JsonScanner {
  static constexpr size_t kUsualValues = 16;

 public:
  explicit JsonScanner(std::string_view text) : text_(text) { json_.values.reserve(kUsualValues); }

  Result<ScannedJson> Scan() {
    TakeWord("\xEF\xBB\xBF");  // a byte order mark
    const bool is_right = ScanValue({}, 0);
    if (is_right) SkipSpace();
    RS_RETURN_IF_ERROR(error_);
    if (is_right && at_ == text_.size()) return std::move(json_);
    return Fail(ErrorCode::kCorrupt, fmt::format("invalid JSON at byte {}", at_ + 1));
  }

 private:
  bool ScanValue(std::string_view key, size_t depth) {
    std::vector<ScannedJson::Value>& values = json_.values;
    if (values.size() == kMaxJsonValues)
      return Reject(ErrorCode::kLimit, fmt::format("more than {} JSON values", kMaxJsonValues));
    SkipSpace();
    const size_t index = values.size(), start = at_;
    const char first = Peek();
    values.push_back({.key = key, .first = first});
    std::string_view content;
    if (first == '"') {
      if (!ScanString(content)) return false;
    } else if (first == '{' || first == '[') {
      if (!ScanElements(first == '{' ? '}' : ']', depth + 1)) return false;
    } else if (first == 't' || first == 'f' || first == 'n') {
      if (!TakeWord(first == 't' ? "true" : first == 'f' ? "false" : "null")) return false;
    } else if (!ScanNumber()) {
      return false;
    }
    values[index].text = first == '"' ? content : text_.substr(start, at_ - start);
    values[index].next = values.size();
    return true;
  }

  bool ScanElements(char close, size_t depth) {
    if (depth > kMaxJsonDepth)
      return Reject(ErrorCode::kLimit,
                    fmt::format("JSON nested deeper than {} levels", kMaxJsonDepth));
    ++at_;
    SkipSpace();
    if (Take(close)) return true;
    do {
      std::string_view key;
      if (close == '}') {
        SkipSpace();
        if (!ScanString(key)) return false;
        SkipSpace();
        if (!Take(':')) return false;
      }
      if (!ScanValue(key, depth)) return false;
      SkipSpace();
    } while (Take(','));
    return Take(close);
  }

  bool ScanString(std::string_view& content) {
    if (!Take('"')) return false;
    content = text_.substr(at_, text_.find('"', at_) - at_);
    // Without branches, so that compilers make a loop of it that takes many characters at once.
    bool is_plain = at_ + content.size() < text_.size();
    for (const char c : content)
      is_plain &= (static_cast<signed char>(c) >= 0x20) & (c != '\\');  // and ASCII
    if (is_plain) {
      at_ += content.size() + 1;
      return true;
    }
    size_t end = at_;
    while (end < text_.size() && text_[end] != '"') end += text_[end] == '\\' ? 2 : 1;
    const std::string_view quoted = text_.substr(at_ - 1, end + 2 - at_);
    const Json string = Json::parse(quoted, nullptr, /*allow_exceptions=*/false);
    if (!string.is_string()) {
      if (end >= text_.size()) at_ = text_.size();  // its end is missing
      return false;
    }
    content = json_.unescaped.emplace_front(string.get_ref<const std::string&>());
    at_ = end + 1;
    return true;
  }

  bool ScanNumber() {
    const size_t start = at_;
    const auto take_digits = [&] {
      const size_t first = at_;
      size_t end = at_;  // in a register
      while (end < text_.size() && text_[end] >= '0' && text_[end] <= '9') ++end;
      at_ = end;
      return end > first;
    };
    Take('-');
    if (!Take('0') && !take_digits()) return false;
    if (Take('.') && !take_digits()) return false;
    const bool has_exponent = Take('e') || Take('E');
    if (has_exponent && !Take('+')) Take('-');
    if (has_exponent && !take_digits()) return false;
    const std::string_view number = text_.substr(start, at_ - start);
    if (!has_exponent && number.size() < std::numeric_limits<double>::max_exponent10) return true;
    return std::isfinite(std::strtod(std::string(number).c_str(), nullptr)) ||
           Reject(ErrorCode::kCorrupt, "invalid JSON: a number is too large");
  }

  bool Reject(ErrorCode code, std::string what) {
    error_ = Fail(code, std::move(what));
    return false;
  }
  char Peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool Take(char c) {
    if (Peek() != c) return false;
    ++at_;
    return true;
  }
  bool TakeWord(std::string_view word) {
    return std::ranges::all_of(word, [&](char c) { return Take(c); });
  }
  void SkipSpace() {
    while (Peek() <= ' ' && (Take(' ') || Take('\t') || Take('\n') || Take('\r'))) continue;
  }

  const std::string_view text_;
  size_t at_ = 0;
  ScannedJson json_;
  Status error_;
};

}  // namespace

Result<ScannedJson> ScanJson(std::string_view text) { return JsonScanner(text).Scan(); }

auto KeyReader::Find(std::string_view key) const -> const Value* {
  const auto& values = json_.values;
  const Value* found = nullptr;
  for (size_t i = object_ + 1; i < values[object_].next; i = values[i].next)
    if (values[i].key == key) found = &values[i];
  return found;
}

void KeyReader::Hex(std::string_view key, size_t max_bytes, std::string& out) {
  const Value* const value = Find(key);
  if (value == nullptr) return Fail(key, kMissing);
  if (!value->is_string()) return FailExpected(key, "a string");
  if (const size_t bytes = value->text.size() / 2; bytes > max_bytes)
    Fail(key, fmt::format("expected at most {} bytes, found {}", max_bytes, bytes));
  else if (!DecodeHex(value->text, out))
    FailExpected(key, "an even number of hex digits");
}

std::vector<std::string> KeyReader::Hexes(std::string_view key) {
  std::vector<std::string> strings;
  ForElements(key, [&](size_t element) {
    const Value& value = json_.values[element];
    if (!value.is_string() || !DecodeHex(value.text, strings.emplace_back()))
      FailExpected(key, "an array of hex digits");
  });
  return strings;
}

void KeyReader::Fail(std::string_view key, std::string_view what) {
  if (what_.empty()) key_ = key, what_ = what;
}

void KeyReader::FailExpected(std::string_view key, std::string_view expected) {
  const Value* const value = Find(key);
  // The value found helps, if it is short enough to read.
  std::string found;
  if (value != nullptr && value->is_string())
    AppendJsonString(found, value->text);
  else if (value != nullptr)
    found = value->is_array() ? "an array" : value->is_object() ? "an object" : value->text;
  constexpr size_t kShort = 40;
  const bool is_short = !found.empty() && found.size() <= kShort;
  Fail(key, fmt::format("expected {}{}{}", expected, is_short ? ", found " : "",
                        is_short ? found : std::string()));
}

Status KeyReader::status() const {
  if (what_.empty()) return {};
  return ringscope::Fail(ErrorCode::kCorrupt, fmt::format("key \"{}\": {}", key_, what_));
}

}  // namespace ringscope
