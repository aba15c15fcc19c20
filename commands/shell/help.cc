#include "commands/shell/help.h"

#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <set>

#include "commands/shell/commands.h"
#include "commands/shell/options.h"
#include "commands/shell/registry.h"
#include "core/findings/finding.h"

namespace ringscope {
namespace {

OptionInfo InfoOf(const CLI::Option& option) {
  OptionInfo info;
  if (!option.get_snames().empty()) info.short_name = "-" + option.get_snames().front();
  if (!option.get_lnames().empty()) info.long_name = "--" + option.get_lnames().front();
  if (option.get_items_expected_max() > 0) info.type = option.get_type_name();
  const std::string choices = option.get_default_str();
  if (!choices.empty()) info.choices = CLI::detail::split(choices, '|');
  std::set<std::string> others;
  for (const CLI::Option* other : option.get_excludes()) others.insert(other->get_name());
  info.description = option.get_description();
  if (!others.empty()) info.description += fmt::format("; not with {}", fmt::join(others, " or "));
  info.group = option.get_group();
  info.required = option.get_required();
  info.repeated = option.get_items_expected_max() > 1;
  return info;
}

/// The options that are shown, those of a group together.
std::vector<OptionInfo> InfosOf(const CLI::App& app) {
  std::vector<OptionInfo> infos;
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;
    OptionInfo info = InfoOf(*option);
    const auto of_group = [&](const OptionInfo& other) { return other.group == info.group; };
    auto end = std::find_if(infos.rbegin(), infos.rend(), of_group).base();
    // A group's first option is before the global ones.
    if (end == infos.begin()) end = std::ranges::find(infos, kGlobalGroup, &OptionInfo::group);
    infos.insert(end, std::move(info));
  }
  return infos;
}

constexpr size_t kOptionColumn = 6;

/// Meanings of the exit statuses, by their number, that all commands share.
constexpr const char* kStatuses[] = {
    "Done, and nothing was found that needs attention.",
    "Failed. The message says where, what was expected, and what to do.",
    "The command line asks for something that is not possible.",
    ("Done, with a finding: a loss, a difference, damage that was skipped. --fail-on and the "
     "limits of FILE, doctor and gaps move this line.")};

/// @param meanings by the statuses' number; nullptr: the status is not used
std::string StatusesText(std::span<const char* const> meanings) {
  std::string text;
  for (size_t status = 0; status < meanings.size(); ++status)
    if (meanings[status] != nullptr)
      text += Wrap(meanings[status], fmt::format("  {}  ", status)) + "\n";
  return text;
}

/// A title in bold, and its explanation below it.
std::string EntryText(std::string_view title, std::string_view text, const Console& console) {
  return fmt::format("  {}\n{}\n", console.Bold(title), Wrap(text, kOptionColumn));
}

/// "  --all                    Explain each gap": what the description begins with.
std::string OptionLine(const OptionInfo& option) {
  constexpr size_t kColumn = 27, kColumns = 80, kLeast = 20;
  std::string what = option.description.substr(0, option.description.find_first_of(";:(", kLeast));
  while (what.ends_with(' ')) what.pop_back();
  const size_t comma = what.size() > kColumns - kColumn ? what.rfind(", ", kColumns - kColumn) : 0;
  if (comma != std::string::npos && comma > kLeast) what.resize(comma);
  const std::string synopsis = "  " + Shortened(option.Synopsis(), kColumns - 2);
  const char* const between = synopsis.size() > kColumn - 1 ? "\n" : "";
  return fmt::format("{}{}{:{}}{}\n", synopsis, between, "",
                     *between != '\0' ? kColumn : kColumn - synopsis.size(),
                     Shortened(what, kColumns - kColumn));
}

bool IsOfReplays(const OptionInfo& option) { return option.group.starts_with(kReplayGroup); }

void SetUpHelp(CLI::App& app, std::string& topic) {
  InGroup(app, kInputGroup);
  AddText(app, "TOPIC", topic, "TOPIC",
          "A command; replay-options, the options that all replays share; words, what the outputs "
          "call things, or one of these words; a rule of doctor, as its findings name it; exit, "
          "the exit statuses (default: list all commands)");
}

/// Prints what `topic` explains, unless it is a command.
/// @return false: there is no such topic
bool PrintTopic(const std::string& topic, Console& console) {
  bool found = false;
  const auto print = [&](const std::string& text) {
    console.Print(text);
    found = true;
  };
  for (const Word& word : Words())
    if (topic == "words" || topic == word.word) print(EntryText(word.word, word.meaning, console));
  for (const Rule& rule : DoctorRules())
    if (topic == rule.id)
      print(EntryText(fmt::format("{}: {}", rule.id, rule.title),
                      fmt::format("{} Remedy: {}", rule.meaning, rule.remedy), console));
  if (topic == "replay-options")
    for (const OptionInfo& option : OptionsOf(*FindCommand("replay")))
      if (IsOfReplays(option)) print(EntryText(option.Synopsis(), option.description, console));
  if (topic == "exit") print(StatusesText(kStatuses));
  return found;
}

/// @param topic empty: the overview
Result<ExitCode> RunHelp(const std::string& topic, Context& context) {
  if (topic.empty()) {
    context.console.Print(OverviewHelp(context.console));
  } else if (const Command* const command = FindCommand(topic)) {
    context.console.Print(CommandHelp(*command, context.console));
  } else if (!PrintTopic(topic, context.console)) {
    return Fail(ErrorCode::kUsage, fmt::format("there is no help on '{}'", topic), {},
                DidYouMean(topic, HelpTopics(), "'ringscope help' lists the commands"));
  }
  return ExitCode::kClean;
}

}  // namespace

std::string OptionInfo::Synopsis() const {
  if (is_positional()) return type + (repeated ? "..." : "");
  std::string text = short_name.empty() ? "" : short_name + ", ";
  text += long_name;
  if (has_value()) text += " " + type;
  return text;
}

std::vector<OptionInfo> OptionsOf(const Command& command) {
  GlobalArgs globals;
  const BoundCommand bound = BindCommand(command, globals);
  return InfosOf(*bound.app);
}

std::vector<OptionInfo> OptionsBeforeCommand() {
  GlobalArgs globals;
  CLI::App app;
  AddOptionsBeforeCommand(app, globals);
  return InfosOf(app);
}

std::string UsageLine(const Command& command) {
  std::string line = fmt::format("ringscope {} [OPTIONS]", command.name);
  std::string arguments;
  for (const OptionInfo& option : OptionsOf(command)) {
    if (option.is_positional()) {
      arguments +=
          option.required ? " " + option.Synopsis() : fmt::format(" [{}]", option.Synopsis());
    } else if (option.required) {
      line += fmt::format(
          " {} {}", option.short_name.empty() ? option.long_name : option.short_name, option.type);
    }
  }
  return line + arguments;
}

std::string CommandHelp(const Command& command, const Console& console, HelpSize size) {
  const bool all = size == HelpSize::kAll;
  constexpr size_t kExamplesShown = 3;
  std::string text =
      fmt::format("Usage: {}\n\n{}\n", UsageLine(command),
                  Wrap(all ? command.description : std::string(command.summary) + ".", 0));
  if (!command.examples.empty()) text += "\n" + console.Bold("Examples:") + "\n";
  for (size_t i = 0; i < command.examples.size() && (all || i < kExamplesShown); ++i)
    text += fmt::format("  {}\n{}\n", command.examples[i].command,
                        Wrap(command.examples[i].what, kOptionColumn));
  std::string group, of_replays;
  for (const OptionInfo& option : OptionsOf(command)) {
    if (IsOfReplays(option)) {
      of_replays += (of_replays.empty() ? "" : " ") + option.long_name;
      continue;
    }
    if (!all && (option.group == kGlobalGroup || option.is_positional())) continue;
    const bool is_first = group != option.group && (all || group.empty());
    if (is_first) text += fmt::format("\n{}:\n", console.Bold(all ? option.group : "Options"));
    group = option.group;
    text += all ? EntryText(option.Synopsis(), option.description, console) : OptionLine(option);
  }
  if (!of_replays.empty())
    text += fmt::format("\n{}:\n{}\n      'ringscope help replay-options' explains them\n",
                        console.Bold("Replay options"), Wrap(of_replays, 2));
  if (!all) return text + fmt::format("\n'ringscope {} --help' explains all.\n", command.name);
  const ExitMeanings& exits = command.exits;
  return text + "\n" + console.Bold("Exit status:") + "\n" +
         StatusesText(std::array{exits.clean, exits.failed, exits.usage, exits.notice});
}

std::string OverviewHelp(const Console& console) {
  std::string text =
      "Usage: ringscope FILE\n"
      "       ringscope COMMAND [OPTIONS] ...\n\n" +
      fmt::format("{}:\n", console.Bold("Start here")) +
      "  ringscope FILE  What is wrong with this trace, log, zip archive, folder or\n"
      "                  config, and what to change, in ten lines\n";
  size_t width = 0;
  for (const Command& command : Commands())
    width = std::max(width, std::string_view(command.name).size());
  std::string_view group;
  for (const Command& command : Commands()) {
    if (command.group != group) text += fmt::format("\n{}:\n", console.Bold(command.group));
    group = command.group;
    text += fmt::format("  {:<{}}  {}\n", command.name, width, command.summary);
  }
  text += "\n" +
          Wrap(
              "'ringscope COMMAND -h' is a screen on a command, --help is all; 'ringscope help "
              "words' explains what the outputs call things, and 'ringscope help exit' the exit "
              "statuses; 'man ringscope' describes the tool.",
              0) +
          "\n";
  return text;
}

std::vector<std::string> HelpTopics() {
  std::vector<std::string> topics = CommandNames();
  topics.insert(topics.end(), {"words", "replay-options", "exit"});
  for (const Word& word : Words()) topics.emplace_back(word.word);
  for (const Rule& rule : DoctorRules()) topics.emplace_back(rule.id);
  return topics;
}

Command HelpCommand() {
  return {"help",
          "Explain a command, a word or a rule, or list all commands",
          "Prints a command's examples, arguments, options and exit status; without TOPIC, the "
          "list of all commands. 'ringscope COMMAND --help' prints the same.",
          {{"ringscope help replay", "How does replay work?"},
           {"ringscope help words", "What is a chunk, a stall, an incremental state?"},
           {"ringscope help buffer.overwritten", "What does this rule of doctor find?"}},
          Bind(SetUpHelp, RunHelp),
          {.notice = nullptr}};
}

std::span<const Word> Words() {
  static constexpr Word kWords[] = {
      {"packet",
       "A record of a trace, such as the begin of a slice or a bundle of scheduler events. Losses "
       "are counted in packets where the log shows them."},
      {"sequence",
       "The packets of one writer, a thread or a data source, in order. Its number is "
       "trusted_packet_sequence_id in the trace; a log also names it PRODUCER:WRITER."},
      {"producer",
       "A process that writes packets: an app, traced_probes, traced_perf. Each shares memory with "
       "the service."},
      {"buffer",
       "Memory of the service, buffers[0] and so on as in the config, of size_kb. What is in it "
       "when it is read becomes the trace."},
      {"gap",
       "A run of missing packets of a sequence: those before and after it are there. 'ringscope "
       "gaps' has the cause of each."},
      {"in the trace",
       "Packets of producers that a read took out of a buffer into the trace file."},
      {"incremental state",
       "Names and other things that a sequence states once; later packets refer to them by "
       "number. With clear_period_ms they are stated again."},
      {"usable",
       "A packet in the trace whose incremental state is there, too. The UI cannot show others: "
       "see clear_period_ms."},
      {"waiting",
       "A complete packet that is still in a buffer at the end: no read took it, or its sequence "
       "stalls."},
      {"unfinished", "A packet that its writer had not finished when the session ended."},
      {"lost",
       "A packet that was written and is neither in the trace, nor waiting, nor unfinished."},
      {"place",
       "A point in a sequence before which an unknown number of packets is missing, as a flag "
       "shows."},
      {"reach",
       "The time up to the session's end of which a ring buffer still has everything: it begins "
       "after the newest packet that was overwritten. A larger size_kb reaches further."},
      {"chunk",
       "A page of shared memory, or a part of one, that a writer fills with packets and commits to "
       "a buffer. A buffer overwrites whole chunks."},
      {"fragment",
       "The part of a packet that is in one chunk. A packet can be read when all its fragments are "
       "there."},
      {"commit",
       "The request by which a producer hands chunks to the service, which copies them into "
       "buffers."},
      {"patch",
       "Bytes, mostly the size of a message, that a writer knows only after it has committed the "
       "chunk. Until they come, reads of the sequence stop there."},
      {"stall",
       "Reads of a sequence that stop at a chunk which lacks a patch, or which its writer still "
       "fills. A flush ends most of them; what waits too long is overwritten."},
      {"overwrite",
       "A full ring buffer puts a new chunk in the place of the oldest ones. Raise size_kb, or "
       "read more often (file_write_period_ms)."},
      {"discard",
       "A full buffer with fill_policy DISCARD refuses new chunks: the end of the session is "
       "missing. Raise size_kb, or use RING_BUFFER to keep the end."},
      {"evicted by",
       "The sequence whose new chunks took the place of the overwritten ones. A buffer of its own "
       "keeps it away from the others."},
      {"abort",
       "A writer drops a packet that it has begun because it finds no free chunk in the shared "
       "memory. Raise shm_size_kb, or write smaller packets."},
      {"shared memory",
       "Where a producer's writers fill chunks until the service has copied them. While it is "
       "full, packets are dropped, and nobody counts them."},
      {"flush",
       "The service asks producers to commit what they have, at the end and every "
       "flush_period_ms. A producer that does not answer in time misses it."},
      {"scrape",
       "At a flush the service takes the chunks that writers still fill. The packet that a writer "
       "had not finished is missing."},
      {"read pass",
       "One reading, or read, of a buffer into the trace: at the end, or every "
       "file_write_period_ms. Packets are read once."},
      {"clone",
       "A copy of a running session's buffers, each at one moment. A clone has nothing that comes "
       "later."},
      {"flag",
       "previous_packet_dropped of a packet: the buffer reports that packets of the sequence are "
       "missing before this one, and newer versions also why."},
      {"log",
       "What producers committed in a session, recorded by 'ringscope record'. With it every "
       "packet's fate is known; a trace shows only what came out."},
      {"engine",
       "A version of Perfetto's buffer that a log is replayed with: v1, v2@54 to v2@58. 'ringscope "
       "engines' explains them."},
  };
  return kWords;
}

}  // namespace ringscope
