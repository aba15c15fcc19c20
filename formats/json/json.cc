#include "formats/json/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "core/base/text.h"
#include "formats/json/json_writer.h"

namespace ringscope {
namespace {

/// The shortest text that reads back as the number, and as no integer.
std::string DoubleText(double value) {
  std::string text = fmt::format("{}", value);
  if (text.find_first_not_of("-0123456789") == std::string::npos) text += ".0";
  return text;
}

/// The text with U+FFFD for each byte that is not UTF-8.
std::string AsUtf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const size_t size = Utf8Length(text);
    out += size > 0 ? text.substr(0, size) : "\xEF\xBF\xBD";
    text.remove_prefix(std::max<size_t>(size, 1));
  }
  return out;
}

void BreakLine(std::string& out, int indent, size_t depth) {
  if (indent < 0) return;
  out += '\n';
  out.append(static_cast<size_t>(indent) * depth, ' ');
}

}  // namespace

Json Json::array() {
  Json json;
  json.value_ = Values();
  return json;
}

Json Json::object() {
  Json json;
  json.value_ = Members();
  return json;
}

bool operator==(const Json& a, const Json& b) { return a.value_ == b.value_; }

const Json* Json::Find(std::string_view key) const {
  const Members* members = std::get_if<Members>(&value_);
  if (members == nullptr) return nullptr;
  const auto found = std::find_if(members->begin(), members->end(),
                                  [&](const Member& member) { return member.key == key; });
  return found == members->end() ? nullptr : &found->value;
}

Json& Json::operator[](std::string_view key) {
  if (const Json* found = Find(key)) return const_cast<Json&>(*found);
  if (is_null()) value_ = Members();
  Members* members = std::get_if<Members>(&value_);
  if (members == nullptr) throw JsonError(fmt::format("'{}' of what is not an object", key));
  return members->emplace_back(key, Json()).value;
}

const Json& Json::at(std::string_view key) const {
  if (const Json* found = Find(key)) return *found;
  throw JsonError(fmt::format("there is no '{}'", key));
}

void Json::update(Json other) {
  for (Member& member : std::get<Members>(other.value_))
    (*this)[member.key] = std::move(member.value);
}

void Json::Set(std::string_view path, Json value) {
  const size_t dot = path.find('.');
  if (dot == std::string_view::npos)
    (*this)[path] = std::move(value);
  else
    (*this)[path.substr(0, dot)].Set(path.substr(dot + 1), std::move(value));
}

void Json::push_back(Json value) {
  if (is_null()) value_ = Values();
  items().push_back(std::move(value));
}

size_t Json::size() const {
  if (const Values* values = std::get_if<Values>(&value_)) return values->size();
  if (const Members* members = std::get_if<Members>(&value_)) return members->size();
  return 0;
}

const std::vector<Json>& Json::items() const {
  if (const Values* values = std::get_if<Values>(&value_)) return *values;
  throw JsonError("expected an array");
}
std::vector<Json>& Json::items() {
  if (Values* values = std::get_if<Values>(&value_)) return *values;
  throw JsonError("expected an array");
}

uint64_t Json::Unsigned(uint64_t max) const {
  const uint64_t* value = std::get_if<uint64_t>(&value_);
  if (value == nullptr || *value > max) throw JsonError("expected another number");
  return *value;
}

std::string Json::dump(int indent) const {
  std::string out;
  Append(out, indent, 0);
  return out;
}

void Json::Append(std::string& out, int indent, size_t depth) const {
  // Writes what is between two brackets, each element on a line of its own if there is an indent.
  const auto list = [&](char open, char close, const auto& elements, auto element) {
    out += open;
    for (size_t i = 0; i < elements.size(); ++i) {
      if (i > 0) out += ',';
      BreakLine(out, indent, depth + 1);
      element(elements[i]).Append(out, indent, depth + 1);
    }
    if (!elements.empty()) BreakLine(out, indent, depth);
    out += close;
  };
  std::visit(Overloaded{
                 [&](std::monostate) { out += "null"; },
                 [&](bool value) { out += value ? "true" : "false"; },
                 [&](double value) { out += DoubleText(value); },
                 [&](const std::string& text) { AppendJsonString(out, AsUtf8(text)); },
                 [&](const Values& values) {
                   list('[', ']', values, [](const Json& value) -> const Json& { return value; });
                 },
                 [&](const Members& members) {
                   list('{', '}', members, [&](const Member& member) -> const Json& {
                     AppendJsonString(out, AsUtf8(member.key));
                     out += indent < 0 ? ":" : ": ";
                     return member.value;
                   });
                 },
                 [&](auto number) { fmt::format_to(std::back_inserter(out), "{}", number); },
             },
             value_);
}

}  // namespace ringscope
