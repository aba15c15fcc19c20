#include "formats/descriptors/merged_files.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

namespace ringscope {
namespace {

using google::protobuf::DescriptorProto;
using google::protobuf::EnumDescriptorProto;
using google::protobuf::FieldDescriptorProto;
using google::protobuf::FileDescriptorProto;
using google::protobuf::FileDescriptorSet;

constexpr const char* kMergedFile = "ringscope/perfetto.proto";

template <typename List>
auto* FindNamed(List& list, const std::string& name) {
  const auto found =
      std::find_if(list.begin(), list.end(), [&](const auto& item) { return item.name() == name; });
  return found == list.end() ? nullptr : &*found;
}

template <typename List, typename Drop>
void RemoveIf(List& list, const Drop& drop) {
  list.erase(std::remove_if(list.begin(), list.end(), drop), list.end());
}

// Two values of an enum, fields of a message, extensions or ranges clash if they cannot be there
// both.
bool Clash(const google::protobuf::EnumValueDescriptorProto& a,
           const google::protobuf::EnumValueDescriptorProto& b) {
  return a.number() == b.number() || a.name() == b.name();
}
bool Clash(const FieldDescriptorProto& a, const FieldDescriptorProto& b) {
  return (a.number() == b.number() && a.extendee() == b.extendee()) || a.name() == b.name();
}
bool Clash(const DescriptorProto::ExtensionRange& a, const DescriptorProto::ExtensionRange& b) {
  return a.start() < b.end() && b.start() < a.end();
}

/// Adds another list's items, and removes those that clash with them.
template <typename List>
void ReplaceItems(List& into, const List& from) {
  for (const auto& item : from) {
    RemoveIf(into, [&](const auto& known) { return Clash(known, item); });
    *into.Add() = item;
  }
}

void Merge(DescriptorProto& into, DescriptorProto from);
void Merge(EnumDescriptorProto& into, const EnumDescriptorProto& from);

/// Adds another list's items, and merges those of one name.
template <typename List>
void MergeNamed(List& into, const List& from) {
  for (const auto& item : from) {
    if (auto* const known = FindNamed(into, item.name()))
      Merge(*known, item);
    else
      *into.Add() = item;
  }
}

void Merge(EnumDescriptorProto& into, const EnumDescriptorProto& from) {
  if (from.options().allow_alias())
    into = from;
  else
    ReplaceItems(*into.mutable_value(), from.value());
}

void Merge(DescriptorProto& into, DescriptorProto from) {
  for (FieldDescriptorProto& field : *from.mutable_field()) {
    field.clear_oneof_index();
    field.clear_proto3_optional();
  }
  ReplaceItems(*into.mutable_field(), from.field());
  MergeNamed(*into.mutable_nested_type(), from.nested_type());
  MergeNamed(*into.mutable_enum_type(), from.enum_type());
  ReplaceItems(*into.mutable_extension(), from.extension());
  // Leaves for extensions the user's ranges, or else all that is beyond the fields.
  ReplaceItems(*into.mutable_extension_range(), from.extension_range());
  RemoveIf(*into.mutable_extension_range(), [&](const auto& range) {
    return std::any_of(into.field().begin(), into.field().end(), [&](const auto& field) {
      return range.start() <= field.number() && field.number() < range.end();
    });
  });
}

void Merge(FileDescriptorProto& into, const FileDescriptorProto& from) {
  MergeNamed(*into.mutable_message_type(), from.message_type());
  MergeNamed(*into.mutable_enum_type(), from.enum_type());
  ReplaceItems(*into.mutable_extension(), from.extension());
}

using ExtensionKey = std::pair<std::string, int>;

template <typename Visit>
void VisitExtensionLists(DescriptorProto& message, const Visit& visit) {
  visit(*message.mutable_extension());
  for (DescriptorProto& nested : *message.mutable_nested_type()) VisitExtensionLists(nested, visit);
}
template <typename Visit>
void VisitExtensionLists(FileDescriptorProto& file, const Visit& visit) {
  visit(*file.mutable_extension());
  for (DescriptorProto& message : *file.mutable_message_type()) VisitExtensionLists(message, visit);
}

}  // namespace

FileDescriptorSet MergedFiles(const FileDescriptorSet& built_in, const FileDescriptorSet& users) {
  // The user's extensions, whose numbers the built-in ones leave to them.
  FileDescriptorSet added = users;
  std::set<ExtensionKey> numbers;
  for (FileDescriptorProto& file : *added.mutable_file()) {
    VisitExtensionLists(file, [&](const auto& list) {
      for (const FieldDescriptorProto& field : list)
        numbers.emplace(field.extendee(), field.number());
    });
  }

  FileDescriptorSet merged;
  FileDescriptorProto& perfetto = *merged.add_file();
  perfetto.set_name(kMergedFile);
  perfetto.set_package(kPerfettoPackage);
  for (const FileDescriptorProto& file : built_in.file()) Merge(perfetto, file);
  VisitExtensionLists(perfetto, [&](auto& list) {
    RemoveIf(list, [&](const FieldDescriptorProto& field) {
      return numbers.contains({field.extendee(), field.number()});
    });
  });

  std::set<std::string> replaced;
  std::set<std::string> imports;
  for (const FileDescriptorProto& file : added.file()) {
    if (file.package() != kPerfettoPackage) continue;
    replaced.insert(file.name());
    for (const std::string& name : file.dependency()) imports.insert(name);
    Merge(perfetto, file);
  }
  for (const std::string& name : imports)
    if (!replaced.contains(name)) perfetto.add_dependency(name);
  for (FileDescriptorProto& file : *added.mutable_file()) {
    if (replaced.contains(file.name())) continue;
    std::set<std::string> needed(file.dependency().begin(), file.dependency().end());
    const bool uses_perfetto = std::any_of(
        needed.begin(), needed.end(), [&](const auto& name) { return replaced.contains(name); });
    file.clear_dependency();
    file.clear_public_dependency();
    file.clear_weak_dependency();
    for (const std::string& name : needed)
      if (!replaced.contains(name)) file.add_dependency(name);
    if (uses_perfetto) file.add_dependency(kMergedFile);
    *merged.add_file() = std::move(file);
  }
  return merged;
}

}  // namespace ringscope
