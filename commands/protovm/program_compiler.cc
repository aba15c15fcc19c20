#include "commands/protovm/program_compiler.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "core/base/nearest.h"
#include "core/base/wire.h"
#include "formats/descriptors/proto_files.h"

namespace ringscope {
namespace {

/// The description's own messages.
constexpr const char* kDescriptionProto = R"pb(
  syntax = "proto2"
  ;
  package ringscope.protovm;
  message CompileConfig {
    optional string root_message = 1;
    repeated Command commands = 2;
  }
  enum AbortLevel {
    SKIP_CURRENT_INSTRUCTION = 1;
    SKIP_CURRENT_INSTRUCTION_AND_BREAK_OUTER = 2;
    ABORT = 3;
  }
  message Command {
    oneof command {
      Del del = 1;
      EnterScope enter_scope = 2;
      Merge merge = 3;
      Set set = 4;
    }
    optional AbortLevel abort_level = 5;
  }
  message Del {
    optional string src = 1;
    optional string dst = 2;
    optional bool if_src_present = 3;
    optional string dst_key_field = 4;
  }
  message EnterScope {
    optional string src = 1;
    optional string dst = 2;
    repeated Command commands = 3;
  }
  message Merge {
    optional string src = 1;
    optional string dst = 2;
    optional bool recursive = 3;
    optional string key_field = 4;
  }
  message Set {
    optional string src = 1;
    optional string dst = 2;
  }
)pb";

constexpr size_t kMaxInstructions = 65'536;
enum CommandField : uint32_t { kDel = 1, kEnterScope = 2, kMerge = 3, kSet = 4, kAbortLevel = 5 };
constexpr uint32_t kConfigCommands = 2, kScopeCommands = 3;
constexpr uint64_t kSrc = 1, kDst = 2;         // VmCursorEnum
constexpr uint64_t kContinue = 1, kAbort = 3;  // VmInstruction.abort_level
constexpr uint64_t kDefaultAbortLevel = 0;     // none is written

/// A VmOpMerge.
struct MergeFlags {
  bool skip_submessages = false, del_if_src_empty = false;
};

/// A way through messages, as components of a path.
struct CompiledPath {
  std::string components;    // relative_path fields of a VmOpSelect
  std::string last;          // the last of them, without is_repeated
  size_t last_at = 0;        // where it begins in `components`
  std::string message;       // where it ends; empty: not a message
  bool is_repeated = false;  // its last field
};

std::string Field(uint32_t number, std::string_view content) {
  std::string out;
  wire::AppendBytes(out, number, wire::AsBytes(content));
  return out;
}
std::string Number(uint32_t number, uint64_t value) {
  std::string out;
  wire::AppendUint(out, number, value);
  return out;
}

class Compiler {
 public:
  Compiler(const Descriptors& descriptors, const std::string& path)
      : descriptors_(descriptors), path_(path) {}

  /// The instructions of the `commands` of a message.
  Result<std::vector<std::string>> Commands(Bytes message, uint32_t field_number,
                                            const std::string& src, const std::string& dst,
                                            const std::string& place) {
    std::vector<std::string> instructions;
    wire::FieldReader fields(message);
    for (size_t i = 0; const auto field = fields.Next();) {
      if (field->number != field_number) continue;
      RS_ASSIGN_OR_RETURN(
          std::string instruction,
          Command(field->bytes, src, dst, fmt::format("{}commands[{}]", place, i++)));
      instructions.push_back(std::move(instruction));
    }
    return instructions;
  }

 private:
  Result<std::string> Command(Bytes command, const std::string& src, const std::string& dst,
                              const std::string& place) {
    uint64_t level = kDefaultAbortLevel;
    std::optional<wire::Field> chosen;
    wire::FieldReader fields(command);
    while (const auto field = fields.Next()) {
      if (field->number == kAbortLevel)
        level = field->value;
      else
        chosen = field;
    }
    if (!chosen) return Wrong(place, "it has neither del, enter_scope, merge nor set");
    switch (chosen->number) {
      case kDel:
        return Del(chosen->bytes, src, dst, level, place + ".del");
      case kEnterScope:
        return Scope(chosen->bytes, src, dst, level, place + ".enter_scope");
      case kMerge:
        return Merge(chosen->bytes, src, dst, level, place + ".merge");
      default:
        return Set(chosen->bytes, src, dst, level, place + ".set");
    }
  }

  Result<std::string> Set(Bytes set, const std::string& src, const std::string& dst, uint64_t level,
                          const std::string& place) {
    RS_ASSIGN_OR_RETURN(const CompiledPath from, PathOf(set, 1, src, place + ".src"));
    RS_ASSIGN_OR_RETURN(const CompiledPath to, PathOf(set, 2, dst, place + ".dst"));
    const std::string inner = Select(kDst, to.components, true, {Instruction(Field(4, ""))});
    return Checked(Select(kSrc, from.components, false, {inner}, level), place);
  }

  Result<std::string> Scope(Bytes scope, const std::string& src, const std::string& dst,
                            uint64_t level, const std::string& place) {
    RS_ASSIGN_OR_RETURN(const CompiledPath from, PathOf(scope, 1, src, place + ".src"));
    RS_ASSIGN_OR_RETURN(const CompiledPath to, PathOf(scope, 2, dst, place + ".dst"));
    RS_ASSIGN_OR_RETURN(const std::vector<std::string> nested,
                        Commands(scope, kScopeCommands, from.message, to.message, place + "."));
    return Checked(
        Select(kSrc, from.components, false, {Select(kDst, to.components, true, nested)}, level),
        place);
  }

  Result<std::string> Merge(Bytes merge, const std::string& src, const std::string& dst,
                            uint64_t level, const std::string& place) {
    RS_ASSIGN_OR_RETURN(const CompiledPath from, PathOf(merge, 1, src, place + ".src"));
    RS_ASSIGN_OR_RETURN(const CompiledPath to, PathOf(merge, 2, dst, place + ".dst"));
    const std::string key = TextOf(merge, 4);
    const bool is_recursive = UintOf(merge, 3) != 0;
    if (from.message.empty())
      return Wrong(place + ".src", "only messages can be merged: use set for other fields");
    if (!key.empty()) {
      if (is_recursive) return Wrong(place, "key_field and recursive cannot be used together");
      RS_ASSIGN_OR_RETURN(const std::string of_key, KeyedPath(to, key, place));
      RS_ASSIGN_OR_RETURN(const CompiledPath from_key,
                          PathOf(key, from.message, place + ".key_field"));
      const std::string load = Select(kSrc, from_key.components, false, {LoadRegister()}, kAbort);
      return Checked(Select(kSrc, from.components, false,
                            {load, Select(kDst, of_key, true, {MergeOp({})})}, level),
                     place);
    }
    std::vector<std::string> nested;
    if (is_recursive) {
      std::vector<std::string> open = {from.message};
      RS_ASSIGN_OR_RETURN(nested, MergesBelow(from.message, to.message, open, place));
    }
    nested.push_back(MergeOp({.skip_submessages = is_recursive, .del_if_src_empty = true}));
    return Checked(
        Select(kSrc, from.components, false, {Select(kDst, to.components, true, nested)}, level),
        place);
  }

  /// A merge of each submessage, and of those below it, but not of messages inside themselves.
  Result<std::vector<std::string>> MergesBelow(const std::string& src, const std::string& dst,
                                               std::vector<std::string>& open,
                                               const std::string& place) {
    std::vector<std::string> merges;
    for (const DescribedField& field : descriptors_.FieldsOf(src)) {
      if (field.message.empty() || field.is_repeated || field.is_deprecated) continue;
      const std::optional<DescribedField> to = descriptors_.FieldNamed(dst, field.name);
      if (!to || to->message.empty() || to->is_repeated ||
          std::ranges::find(open, field.message) != open.end())
        continue;
      open.push_back(field.message);
      RS_ASSIGN_OR_RETURN(std::vector<std::string> nested,
                          MergesBelow(field.message, to->message, open, place));
      open.pop_back();
      nested.push_back(MergeOp({.skip_submessages = true, .del_if_src_empty = true}));
      const std::string into = Select(kDst, Component(to->number), true, nested);
      merges.push_back(Select(kSrc, Component(field.number), false, {into}, kContinue));
      if (instructions_ > kMaxInstructions) return TooMany(place);
    }
    return merges;
  }

  Result<std::string> Del(Bytes del, const std::string& src, const std::string& dst, uint64_t level,
                          const std::string& place) {
    RS_ASSIGN_OR_RETURN(const CompiledPath from, PathOf(del, 1, src, place + ".src"));
    RS_ASSIGN_OR_RETURN(const CompiledPath to, PathOf(del, 2, dst, place + ".dst"));
    const std::string key = TextOf(del, 4);
    const bool if_present = UintOf(del, 3) != 0;
    if (if_present == !key.empty())
      return Wrong(place, "exactly one of if_src_present and dst_key_field is needed");
    const std::string op = Instruction(Field(5, ""));
    if (if_present)
      return Checked(
          Select(kSrc, from.components, false, {Select(kDst, to.components, false, {op})}, level),
          place);
    RS_ASSIGN_OR_RETURN(const std::string of_key, KeyedPath(to, key, place));
    return Checked(Select(kSrc, from.components, false,
                          {LoadRegister(), Select(kDst, of_key, false, {op})}, level),
                   place);
  }

  /// The path to the element whose key is in register 0.
  Result<std::string> KeyedPath(const CompiledPath& to, const std::string& key,
                                const std::string& place) {
    if (!to.is_repeated || to.message.empty())
      return Wrong(place + ".dst", "an element is found by its key in a repeated message only");
    const std::optional<DescribedField> field = descriptors_.FieldNamed(to.message, key);
    if (!field) return NoField(place, key, to.message);
    if (!field->is_scalar)
      return Wrong(place, fmt::format("the key '{}' of {} must be a number", key, to.message));
    return to.components.substr(0, to.last_at) + Field(2, to.last) +
           Field(2, Number(3, field->number) + Number(6, 0));
  }

  Result<CompiledPath> PathOf(Bytes message, uint32_t number, const std::string& from,
                              const std::string& place) {
    return PathOf(TextOf(message, number), from, place);
  }
  /// The way along fields, whose names are separated by full stops.
  Result<CompiledPath> PathOf(std::string_view names, const std::string& from,
                              const std::string& place) {
    CompiledPath path;
    path.message = from;
    while (!names.empty()) {
      const size_t end = std::min(names.find('.'), names.size());
      const std::string name(names.substr(0, end));
      names.remove_prefix(std::min(end + 1, names.size()));
      if (path.message.empty()) return Wrong(place, fmt::format("'{}' is in no message", name));
      const std::optional<DescribedField> field = descriptors_.FieldNamed(path.message, name);
      if (!field) return NoField(place, name, path.message);
      path.last = Number(1, field->number);
      path.last_at = path.components.size();
      path.components += Component(field->number, field->is_repeated);
      path.is_repeated = field->is_repeated;
      path.message = field->message;
    }
    return path;
  }

  static std::string Component(uint32_t number, bool is_repeated = false) {
    return Field(2, Number(1, number) + (is_repeated ? Number(5, 1) : ""));
  }
  std::string Instruction(const std::string& content) {
    ++instructions_;
    return content;
  }
  std::string Select(uint64_t cursor, const std::string& path, bool creates,
                     const std::vector<std::string>& nested, uint64_t level = kDefaultAbortLevel) {
    std::string out = Field(1, Number(1, cursor) + path + (creates ? Number(3, 1) : ""));
    if (level != kDefaultAbortLevel) out += Number(6, level);
    for (const std::string& one : nested) out += Field(7, one);
    return Instruction(out);
  }
  std::string LoadRegister() { return Instruction(Field(2, Number(1, kSrc) + Number(2, 0))); }
  std::string MergeOp(const MergeFlags& flags) {
    return Instruction(Field(3, (flags.skip_submessages ? Number(1, 1) : "") +
                                    (flags.del_if_src_empty ? Number(2, 1) : "")));
  }

  static std::string TextOf(Bytes message, uint32_t number) {
    std::string text;
    wire::FieldReader fields(message);
    while (const auto field = fields.Next())
      if (field->number == number) text = wire::AsText(field->bytes);
    return text;
  }
  static uint64_t UintOf(Bytes message, uint32_t number) {
    uint64_t value = 0;
    wire::FieldReader fields(message);
    while (const auto field = fields.Next())
      if (field->number == number) value = field->value;
    return value;
  }

  tl::unexpected<Error> Wrong(const std::string& place, const std::string& what) const {
    return Fail(ErrorCode::kCorrupt, fmt::format("{}: {}", place, what), {path_, {}, {}});
  }
  tl::unexpected<Error> NoField(const std::string& place, const std::string& name,
                                const std::string& message) const {
    std::vector<std::string> names;
    for (const DescribedField& field : descriptors_.FieldsOf(message)) names.push_back(field.name);
    const std::vector<std::string_view> views(names.begin(), names.end());
    const auto nearest = NearestName(name, views);
    return Fail(ErrorCode::kCorrupt, fmt::format("{}: {} has no field '{}'", place, message, name),
                {path_, {}, {}},
                nearest ? fmt::format("did you mean '{}'?", *nearest) : std::string());
  }
  tl::unexpected<Error> TooMany(const std::string& place) const {
    return Fail(
        ErrorCode::kLimit,
        fmt::format("{}: the program has more than {} instructions", place, kMaxInstructions),
        {path_, {}, {}}, "merge fewer messages, or not recursively");
  }
  Result<std::string> Checked(std::string instruction, const std::string& place) const {
    if (instructions_ > kMaxInstructions) return TooMany(place);
    return instruction;
  }

  const Descriptors& descriptors_;
  const std::string& path_;
  size_t instructions_ = 0;
};

}  // namespace

Result<CompiledProgram> CompileProgram(std::string_view description, const std::string& path,
                                       const Descriptors& descriptors) {
  RS_ASSIGN_OR_RETURN(const std::string own,
                      ParseProtoFiles({{"compile_config.proto", kDescriptionProto}}));
  RS_ASSIGN_OR_RETURN(const std::unique_ptr<Descriptors> commands,
                      Descriptors::Extended(wire::AsBytes(own), "compile_config.proto"));
  RS_ASSIGN_OR_RETURN(const std::string config,
                      commands->Encode("ringscope.protovm.CompileConfig", description, path));
  CompiledProgram compiled;
  wire::FieldReader fields(wire::AsBytes(config));
  while (const auto field = fields.Next())
    if (field->number == 1) compiled.root_message = wire::AsText(field->bytes);
  constexpr std::string_view kPackage = "perfetto.protos.";
  if (compiled.root_message.starts_with('.')) compiled.root_message.erase(0, 1);
  if (compiled.root_message.starts_with(kPackage)) compiled.root_message.erase(0, kPackage.size());
  if (compiled.root_message.empty())
    return Fail(ErrorCode::kCorrupt, "root_message is missing", {path, {}, {}},
                "name the message that packets and state are, such as "
                "root_message: \"perfetto.protos.TracePacket\"");
  if (!descriptors.HasMessage(compiled.root_message))
    return Fail(ErrorCode::kCorrupt,
                fmt::format("root_message: there is no message '{}'", compiled.root_message),
                {path, {}, {}}, "give the .proto file that defines it with --proto");
  Compiler compiler(descriptors, path);
  RS_ASSIGN_OR_RETURN(const std::vector<std::string> instructions,
                      compiler.Commands(wire::AsBytes(config), kConfigCommands,
                                        compiled.root_message, compiled.root_message, ""));
  for (const std::string& instruction : instructions) compiled.program += Field(2, instruction);
  return compiled;
}

}  // namespace ringscope
