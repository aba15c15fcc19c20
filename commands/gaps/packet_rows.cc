#include "commands/gaps/packet_rows.h"

#include <fmt/format.h>

#include "commands/replays/loss_words.h"
#include "commands/view/json.h"
#include "commands/view/table.h"
#include "core/base/text.h"

namespace ringscope {

const char* LostPacketRows::CsvTitles() {
  return "session,buffer,sequence,chunk,fragment,last_chunk,size,content,fate,cause,own_fault,"
         "culprit,written_ns,written_record,lost_ns,lost_record,clone,name\n";
}

/// A value follows.
void LostPacketRows::Begin(std::string_view key) {
  if (!line_.empty()) line_ += ',';
  if (csv_) return;
  line_ += line_.empty() ? "{\"" : "\"";
  line_ += key;
  line_ += "\":";
}

void LostPacketRows::Number(std::string_view key, std::optional<uint64_t> value, Where where) {
  if (where == (csv_ ? kJsonOnly : kCsvOnly)) return;
  Begin(key);
  if (!value) {
    if (!csv_) line_ += "null";
    return;
  }
  const fmt::format_int digits(*value);
  line_.append(digits.data(), digits.size());
}

void LostPacketRows::Plain(std::string_view key, std::string_view text) {
  Begin(key);
  if (!csv_) line_ += '"';
  line_ += text;
  if (!csv_) line_ += '"';
}

/// Names repeat: they are escaped when they change.
void LostPacketRows::Name(std::string_view key, const std::string& text) {
  Begin(key);
  if (escaped_.empty() || text != name_) {
    name_ = text;
    const Json value = text.empty() ? Json() : Json(text);
    escaped_ = csv_ ? CsvText(value) : JsonText(value);
  }
  line_ += escaped_;
}

const std::string& LostPacketRows::Row(const PacketAccount& account, const std::string& kind) {
  if (content_name_.empty() || content_ != account.facts.content) {
    content_ = account.facts.content;
    content_name_ = ContentName(content_);
  }
  line_.clear();
  if (!csv_) Plain("type", "packet");
  Number("session", session_);
  if (!csv_ && clone_) Number("clone", clone_);
  Number("buffer", Raw(account.buffer));
  Plain("sequence", ToString(account.sequence));
  Number("chunk", account.first_chunk);
  Number("fragment", account.fragment);
  Number("offset", account.first_offset, kJsonOnly);
  Number("last_chunk", account.last_chunk);
  Number("size", account.size);
  Plain("content", content_name_);
  Number("timestamp", account.facts.timestamp, kJsonOnly);
  Plain("fate", ringscope::Name(account.fate));
  Plain("cause", ringscope::Name(account.cause));
  Begin("own_fault");
  line_ += csv_ ? (account.own_fault ? "1" : "0") : (account.own_fault ? "true" : "false");
  if (account.culprit)
    Plain("culprit", ToString(*account.culprit));
  else
    Number("culprit", {});
  Number("written_ns", account.written.time_ns);
  Number("written_record", account.written.record);
  Number("lost_ns", account.decided.time_ns);
  Number("lost_record", account.decided.record);
  Number("clone", clone_, kCsvOnly);
  Name("name", kind);
  line_ += csv_ ? "\n" : "}\n";
  return line_;
}

void LostPacketLines::Pad(size_t start, size_t width) {
  if (line_.size() < start + width) line_.append(start + width - line_.size(), ' ');
}

const std::string& LostPacketLines::Line(const PacketAccount& account, const std::string& kind) {
  if (content_ != account.facts.content) {
    content_ = account.facts.content;
    content_name_ = ContentName(account.facts.content);
  }
  const Time written{account.written.record, account.written.time_ns};
  if (written_ != written) {
    written_ = written;
    written_text_ = SpanText(notes_, {account.written, account.written});
  }
  if (lost_ns_ != account.decided.time_ns) {
    lost_ns_ = account.decided.time_ns;
    lost_text_ = TimeText(notes_, account.decided.time_ns);
  }
  const CauseCount cause{account.fate, account.cause, account.own_fault, account.loss_bits, {}};
  if (cause_ != cause) {
    cause_ = cause;
    cause_text_ = CauseText(cause);
  }
  constexpr size_t kPlace = 15, kSize = 9;  // columns
  line_ = ToString(account.sequence);
  const auto number = [this](char before, uint64_t value) {
    const fmt::format_int digits(value);
    line_ += before;
    line_.append(digits.data(), digits.size());
  };
  number('#', account.first_chunk);
  number('.', account.fragment);
  Pad(0, kPlace);
  const std::string size = HumanSize(account.size);
  line_.append(1 + (size.size() < kSize ? kSize - size.size() : 0), ' ');
  line_.append(size).append("  ").append(content_name_);
  if (!kind.empty()) line_.append(": ").append(kind);
  line_.append(" written ").append(written_text_).append(", lost ").append(lost_text_);
  line_.append(": ").append(cause_text_);
  if (account.culprit) line_.append(", for ").append(ToString(*account.culprit));
  return line_;
}

}  // namespace ringscope
