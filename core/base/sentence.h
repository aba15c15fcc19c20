#ifndef RINGSCOPE_CORE_BASE_SENTENCE_H_
#define RINGSCOPE_CORE_BASE_SENTENCE_H_

#include <fmt/format.h>

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "core/base/text.h"

namespace ringscope {

/// Numbers by their name, before they were rounded for a text: times in ns, sizes in bytes, shares
/// between 0 and 1.
using Figures = std::map<std::string, std::variant<int64_t, double>>;

/// A text, and the numbers in it.
struct Sentence {
  Sentence(const char* without_numbers = "") : text(without_numbers) {}        // NOLINT
  Sentence(std::string without_numbers) : text(std::move(without_numbers)) {}  // NOLINT
  Sentence(std::string number, const std::string& name, Figures::mapped_type value)
      : text(std::move(number)), figures({{name, value}}) {}

  bool empty() const { return text.empty(); }
  Sentence& operator+=(const Sentence& more) {
    text += more.text;
    figures.insert(more.figures.begin(), more.figures.end());
    return *this;
  }

  std::string text;
  Figures figures;
};

inline void AddFigures(Figures& figures, const Sentence& part) {
  figures.insert(part.figures.begin(), part.figures.end());
}
template <typename Other>
void AddFigures(Figures& /*figures*/, const Other& /*without_numbers*/) {}

}  // namespace ringscope

template <>
struct fmt::formatter<ringscope::Sentence> : formatter<std::string_view> {
  auto format(const ringscope::Sentence& sentence, format_context& context) const {
    return formatter<std::string_view>::format(sentence.text, context);
  }
};

namespace ringscope {

/// Formats a sentence, with the numbers of the sentences that are parts of it.
template <typename... Parts>
Sentence Say(fmt::format_string<const Parts&...> format, const Parts&... parts) {
  Sentence said(fmt::format(format, parts...));
  (AddFigures(said.figures, parts), ...);
  return said;
}

/// "1,234"; with a noun "1,234 packets".
inline Sentence Number(const std::string& name, uint64_t number, std::string_view noun = {}) {
  return {noun.empty() ? WithCommas(number) : Count(number, noun), name,
          static_cast<int64_t>(number)};
}
/// "6.39 MiB"
inline Sentence Size(const std::string& name, uint64_t bytes) {
  return {HumanSize(bytes), name, static_cast<int64_t>(bytes)};
}
/// "101.7 ms"; a time before the start that it counts from is negative.
inline Sentence Time(const std::string& name, std::integral auto ns) {
  const auto signed_ns = static_cast<int64_t>(ns);
  const std::string text = HumanDuration(static_cast<uint64_t>(std::abs(signed_ns)));
  return {signed_ns < 0 ? "-" + text : text, name, signed_ns};
}
/// "96.2%"
inline Sentence Share(const std::string& name, uint64_t part, uint64_t whole) {
  return {ShareText(part, whole), name,
          whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole)};
}
/// "80% app/frame, 15% app/draw, 5% others": at most `named` parts, fewer if their names are long;
/// may be empty. The share of each is "NAME.PART".
inline Sentence Shares(const std::string& name, const SharesOf& parts, uint64_t whole,
                       size_t named) {
  constexpr size_t kColumns = 100;
  Sentence all;
  uint64_t rest = whole;
  for (const auto& [part, amount] : std::span(parts).first(std::min(named, parts.size()))) {
    const Sentence share = Say("{} {}", Share(name + "." + part, amount, whole), part);
    if (!all.empty() && DisplayWidth(all.text) + DisplayWidth(share.text) > kColumns) break;
    all = all.empty() ? share : Say("{}, {}", all, share);
    rest -= amount;
  }
  if (all.empty() || rest == 0) return all;
  return Say("{}, {} others", all, Share(name + ".others", rest, whole));
}
inline std::string SharesText(const SharesOf& parts, uint64_t whole, size_t named) {
  return Shares("", parts, whole, named).text;
}

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_BASE_SENTENCE_H_
