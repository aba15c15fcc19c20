#include "commands/shell/man_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <vector>

#include "commands/shell/commands.h"
#include "commands/shell/option_table.h"
#include "commands/shell/options.h"
#include "commands/shell/registry.h"
#include "formats/io/byte_stream.h"
#include "formats/io/compressed_source.h"

namespace ringscope {
namespace {

constexpr size_t kMostBodyBytes = 1 << 20;
constexpr const char* kOverviewName = "ringscope";

/// Part of a body: a heading with what follows it. The part before the first heading has none.
struct Section {
  std::string heading;
  std::string text;
};

/// Cuts `text` before each line that begins with `mark`.
std::vector<Section> Cut(std::string_view text, std::string_view mark) {
  std::vector<Section> sections(1);
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (line.starts_with(mark)) {
      sections.push_back({std::string(line.substr(mark.size())), ""});
    } else {
      sections.back().text.append(line).append("\n");
    }
  }
  return sections;
}

/// Takes a section out. @return its text; "" if there is none
std::string Take(std::vector<Section>& sections, std::string_view heading) {
  const auto found = std::find_if(sections.begin(), sections.end(), [&](const Section& section) {
    return section.heading == heading;
  });
  if (found == sections.end()) return "";
  std::string text = std::move(found->text);
  sections.erase(found);
  return text;
}

/// One word of plain text for roff: a minus of an option is no hyphen.
std::string Word(std::string_view word) {
  std::string out;
  if (word.starts_with('.') || word.starts_with('\'')) out += "\\&";
  const size_t first = word.find_first_not_of("('\"[");
  const bool is_option = first != std::string_view::npos && word[first] == '-';
  for (const char c : word) {
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-' && is_option) {
      out += "\\-";
    } else {
      out += c;
    }
  }
  return out;
}

/// Plain text for roff: a sentence to a line.
std::string Prose(std::string_view text) {
  std::string out;
  bool line_start = true;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(word.size() + 1, text.size()));
    if (!line_start) out += ' ';
    out += Word(word);
    line_start = word.ends_with('.') && !text.empty();
    if (line_start) out += '\n';
  }
  return out;
}

/// A type like "[BUFFER=]a|b": placeholders in italics, what is typed as it is in bold.
std::string Type(std::string_view type) {
  std::string out;
  char font = 'R';
  for (const char c : type) {
    const auto letter = static_cast<unsigned char>(c);
    const char next = std::isupper(letter) != 0               ? 'I'
                      : std::isalnum(letter) != 0 || c == '_' ? 'B'
                                                              : 'R';
    if (next != font) out += fmt::format("\\f{}", next);
    font = next;
    out += c == '-' ? "\\-" : std::string(1, c);
    if (c == '|') out += "\\:";  // a line may end here
  }
  return font == 'R' ? out : out + "\\fR";
}

/// ".It Fl o , Fl Fl output No FILE" without ".It", or with `both` false only one name.
std::string OptionItem(const OptionInfo& option, bool both) {
  if (option.is_positional())
    return fmt::format("No {}{}", Type(option.type), option.repeated ? " ..." : "");
  std::string item;
  const bool has_short = !option.short_name.empty();
  if (has_short) item = "Fl " + option.short_name.substr(1);
  if (both && has_short) item += " , ";
  if (both || !has_short) item += "Fl Fl " + option.long_name.substr(2);
  if (option.has_value()) item += " No " + Type(option.type);
  return item;
}

std::string Header(const std::string& date, const std::string& name, const char* summary) {
  std::string title = name;
  for (char& c : title) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  std::string what = summary;
  what[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(what[0])));
  return fmt::format("{}.Dt {} 1\n.Os\n.Sh NAME\n.Nm {}\n.Nd {}\n", date, title, name, what);
}

std::string Synopsis(const Command& command, const std::vector<OptionInfo>& options) {
  std::string text = fmt::format(".Sh SYNOPSIS\n.Nm ringscope {}\n", command.name);
  std::string arguments;
  for (const OptionInfo& option : options) {
    if (option.long_name == "--help") continue;
    (option.is_positional() ? arguments : text) +=
        fmt::format("{}{}\n", option.required ? "." : ".Op ", OptionItem(option, false));
  }
  return text + arguments;
}

/// @param notes of the body, by option; those used are taken out
std::string Options(const std::vector<OptionInfo>& options, std::vector<Section>& notes) {
  std::string text = ".Sh OPTIONS\n" + Take(notes, "");
  std::string group;
  for (const OptionInfo& option : options) {
    if (option.group != group) {
      if (!group.empty()) text += ".El\n";
      group = option.group;
      text += fmt::format(".Ss {}\n.Bl -tag -width Ds\n", group);
    }
    text += fmt::format(".It {}\n{}.\n", OptionItem(option, true), Prose(option.description));
    text += Take(notes, option.is_positional() ? option.type : option.long_name);
  }
  return text + ".El\n";
}

std::string ExitStatus(const Command& command) {
  std::string text = ".Sh EXIT STATUS\n.Bl -tag -width Ds\n";
  for (const auto& [status, meaning] : MeaningsOf(command))
    text += fmt::format(".It {}\n{}\n", status, Prose(meaning));
  return text + ".El\n";
}

std::string Examples(const Command& command) {
  std::string text = ".Sh EXAMPLES\n";
  const char* separator = "";
  for (const Example& example : command.examples) {
    const bool is_question = std::string_view(example.what).ends_with('?');
    std::string line;
    for (const char c : std::string_view(example.command))
      line += c == '-' ? "\\-" : c == '\'' ? "\\(aq" : c == '\\' ? "\\e" : std::string(1, c);
    text += fmt::format("{}{}{}\n.Pp\n.Dl $ {}\n", separator, Prose(example.what),
                        is_question ? "" : ":", line);
    separator = ".Pp\n";
  }
  return text;
}

std::string Rest(const std::vector<Section>& sections) {
  std::string text;
  for (const Section& section : sections)
    text += fmt::format(".Sh {}\n{}", section.heading, section.text);
  return text;
}

struct ManPageArgs {
  std::string name;
  std::string body;
};

void SetUp(CLI::App& app, ManPageArgs& args) {
  AddText(app, "NAME", args.name, "NAME", "The page: ringscope, or ringscope-COMMAND",
          Need::kRequired);
  AddText(app, "BODY", args.body, kFileType, "The body of the page", Need::kRequired);
}

Result<ExitCode> RunManPage(const ManPageArgs& args, Context& context) {
  RS_ASSIGN_OR_RETURN(const auto source, OpenByteSource(args.body));
  RS_ASSIGN_OR_RETURN(const std::string body, ReadStart(*source, kMostBodyBytes));
  if (args.name == kOverviewName) {
    RS_ASSIGN_OR_RETURN(const std::string page, OverviewPage(body));
    context.console.Print(page);
    return ExitCode::kClean;
  }
  const std::string name = args.name.substr(std::min(args.name.find('-') + 1, args.name.size()));
  const Command* const command = FindCommand(name);
  if (command == nullptr) return tl::unexpected(UnknownCommand(name));
  RS_ASSIGN_OR_RETURN(const std::string page, ManPage(*command, body));
  context.console.Print(page);
  return ExitCode::kClean;
}

}  // namespace

Result<std::string> ManPage(const Command& command, std::string_view body) {
  const std::vector<OptionInfo> options = OptionsOf(command);
  std::vector<Section> sections = Cut(body, ".Sh ");
  std::vector<Section> notes = Cut(Take(sections, "OPTIONS"), ".It ");
  std::string page =
      Header(Take(sections, ""), std::string("ringscope-") + command.name, command.summary);
  page += Synopsis(command, options);
  page += ".Sh DESCRIPTION\n" + Prose(command.description) + "\n";
  if (const std::string more = Take(sections, "DESCRIPTION"); !more.empty()) page += ".Pp\n" + more;
  page += Options(options, notes);
  if (!notes.empty()) {
    return Fail(ErrorCode::kCorrupt,
                fmt::format("the body of ringscope-{}.1 explains '{}', which is not an option or "
                            "argument of the command",
                            command.name, notes.front().heading),
                {}, "rename or remove it");
  }
  const std::string examples = Examples(command) + Take(sections, "EXAMPLES");
  const std::string see_also = Take(sections, "SEE ALSO");
  return page + Rest(sections) + ExitStatus(command) + examples + ".Sh SEE ALSO\n" + see_also;
}

Result<std::string> OverviewPage(std::string_view body) {
  std::vector<Section> sections = Cut(body, ".Sh ");
  std::string page =
      Header(Take(sections, ""), kOverviewName, "Replay and explain Perfetto trace buffers");
  page +=
      ".Sh SYNOPSIS\n.Nm\n.Ar FILE\n.Nm\n.Op Ar OPTIONS\n.Ar COMMAND\n.Op Ar OPTIONS\n.Op Ar "
      "ARGUMENTS\n";
  page += ".Sh DESCRIPTION\n" + Take(sections, "DESCRIPTION") + ".Sh COMMANDS\n";
  std::string group;
  std::vector<std::string> names;
  for (const Command& command : Commands()) {
    if (command.group != group) {
      if (!group.empty()) page += ".El\n";
      group = command.group;
      page += fmt::format(".Ss {}\n.Bl -tag -width Ds\n", group);
    }
    page += fmt::format(".It Xr ringscope-{} 1\n{}.\n", command.name, Prose(command.summary));
  }
  page += ".El\n";
  std::vector<Section> notes;
  page += Options(OptionsBeforeCommand(), notes);
  const std::string see_also = Take(sections, "SEE ALSO");
  return page + Rest(sections) + ".Sh SEE ALSO\n" + see_also;
}

Command ManPageCommand() {
  return {
      "__man",
      "",
      "Print a man page",
      "Prints the man page of a command, or of the tool, from the table of commands and a body.",
      {},
      Bind(SetUp, RunManPage),
      {.notice = nullptr}};
}

}  // namespace ringscope
