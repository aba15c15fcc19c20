#include "formats/inputs/trace_members.h"

#include <memory>
#include <utility>

#include "formats/inputs/input_kind.h"

namespace ringscope {
namespace {

bool BeginsAsTrace(ZipArchive& archive, const ZipMember& member) {
  auto source = archive.OpenMember(member);
  if (!source) return false;
  auto start = ReadStart(**source, kKindBytes);
  return start && KindOfStart(*std::move(start)) == InputKind::kTrace;
}

}  // namespace

bool IsTraceName(std::string_view name) {
  for (const std::string_view suffix : {".gz", ".zst"}) {
    if (!name.ends_with(suffix)) continue;
    name.remove_suffix(suffix.size());
    break;
  }
  for (const std::string_view suffix : {".pftrace", ".perfetto-trace", ".perfetto"})
    if (name.ends_with(suffix)) return true;
  return false;
}

std::vector<ZipMember> FindTraces(ZipArchive& archive) {
  std::vector<ZipMember> traces;
  for (const ZipMember& member : archive.members())
    if (IsTraceName(member.name) || BeginsAsTrace(archive, member)) traces.push_back(member);
  return traces;
}

}  // namespace ringscope
