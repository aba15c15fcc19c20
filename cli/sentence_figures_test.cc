// Every number of a sentence is a field, too, before it was rounded.

#include <gtest/gtest.h>

#include <filesystem>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "cli/app.h"
#include "commands/testing/memory_run.h"
#include "core/base/text.h"
#include "formats/json/json.h"
#include "formats/testing/testdata.h"

namespace ringscope {
namespace {

/// Adds all texts that stand for a number among the fields: as a count, a size, a time, a share.
void AddNumbers(const Json& json, std::set<std::string>& texts) {
  if (json.is_structured()) {
    for (const Json& each : json) AddNumbers(each, texts);
  } else if (json.is_number_float()) {
    // As precise as any text is.
    texts.insert(
        ShareText(static_cast<uint64_t>(json.get<double>() * 1e12 + 0.5), uint64_t{1000000000000}));
  } else if (json.is_number_integer()) {
    const auto number = json.get<int64_t>();
    if (number < 0) texts.insert("-" + HumanDuration(static_cast<uint64_t>(-number)));
    const auto count = static_cast<uint64_t>(number);
    texts.insert({WithCommas(count), json.dump(), HumanSize(count), HumanDuration(count)});
  } else if (json.is_string() &&
             json.get<std::string>().find_first_not_of("0123456789") == std::string::npos) {
    texts.insert(json.get<std::string>());  // a value of the config
  }
}

/// Visits the sentences of a document: texts that are no names, values or configs.
template <typename Visit>
void VisitSentences(const Json& json, const std::string& key, const Visit& visit) {
  static const std::set<std::string> kNames = {"schema", "input",  "config", "title",
                                               "rule",   "path",   "value",  "name",
                                               "label",  "buffer", "kind",   "severity"};
  if (json.is_string() && !kNames.contains(key)) visit(key, json.get<std::string>());
  if (json.is_object())
    for (const auto& [name, value] : json.items()) VisitSentences(value, name, visit);
  if (json.is_array())
    for (const Json& each : json) VisitSentences(each, key, visit);
}

/// Returns the numbers of a sentence without those of names ("sequence 3", "1:2", "buffers[0]",
/// "v2@58") and of what is the same for all sessions.
std::vector<std::string> NumbersOf(const std::string& sentence) {
  static const std::regex kSkipped(
      "(sequence|pid|CPU|buffer|clone|producer|clock|machine|offset|session|field|since) [0-9]+|"
      "[0-9]+:[0-9]+|[A-Za-z_#@\\[-][0-9][0-9.]*|"
      "128 KiB to 512 KiB are usual, 256 KiB the default|10 s to 30 s are usual|every 10 s|"
      "(for example|between|and) [0-9]{1,7}($|[ ;])|a power of 2");
  static const std::regex kNumber(
      "[<>-]?[0-9]+(,[0-9]{3})*(\\.[0-9]+)?"
      "(%| (ns|us|ms|s|B|KiB|MiB|GiB|min [0-9]+ s|h [0-9]+ min)\\b)?");
  const std::string text = std::regex_replace(sentence, kSkipped, "");
  std::vector<std::string> numbers;
  for (std::sregex_iterator it(text.begin(), text.end(), kNumber), end; it != end; ++it)
    numbers.push_back(it->str());
  return numbers;
}

TEST(Figures, EveryNumberOfDoctorsSentences_IsAField) {
  size_t inputs = 0;
  for (const char* folder : {"captures", "sessions"})
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator(testing::TestdataPath(folder))) {
      const std::string name = entry.path().filename();
      if (name.find(".ops.jsonl") == std::string::npos &&
          name.find(".pftrace") == std::string::npos)
        continue;
      SCOPED_TRACE(entry.path());
      ++inputs;
      MemoryRun memory;
      RunApp(std::vector<std::string>{"doctor", "--format", "json", entry.path()}, memory.streams);
      const auto document = ParseJson(memory.out.text);
      ASSERT_TRUE(document) << memory.err.text;
      for (const Json& trace : document->at("traces")) {
        std::set<std::string> known;
        AddNumbers(trace, known);
        // The account of all stages has the shares of its sum.
        const Json& stages = trace.at("stages");
        if (const Json& all = stages.at("written"); all.is_object())
          for (const Json& buffer : stages.at("buffers"))
            known.insert(ShareText(buffer.at("count"), all.at("packets")));
        VisitSentences(trace, "", [&](const std::string& key, const std::string& sentence) {
          for (const std::string& number : NumbersOf(sentence))
            EXPECT_TRUE(known.contains(number)) << number << " of " << key << ": " << sentence;
        });
      }
    }
  EXPECT_GT(inputs, 30u);
}

}  // namespace
}  // namespace ringscope
