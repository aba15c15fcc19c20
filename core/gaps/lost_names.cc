#include "core/gaps/lost_names.h"

#include "core/base/wire.h"
#include "core/perfetto/fields.h"

namespace ringscope {
namespace {

bool HasNames(uint32_t content) {
  return content == proto::TracePacket::kProcessTree ||
         content == proto::TracePacket::kPackagesList;
}

/// Where an entry of a list has its id and its name.
struct EntryFields {
  NamedThing thing{};
  uint32_t list = 0;  // number of the list's field
  uint32_t id = 0;
  uint32_t name = 0;
};
constexpr std::array<EntryFields, 2> kOfProcessTree = {{
    {NamedThing::kProcess, proto::ProcessTree::kProcesses, proto::ProcessTreeProcess::kPid,
     proto::ProcessTreeProcess::kCmdline},
    {NamedThing::kThread, proto::ProcessTree::kThreads, proto::ProcessTreeThread::kTid,
     proto::ProcessTreeThread::kName},
}};
constexpr EntryFields kOfPackagesList = {NamedThing::kPackage, proto::PackagesList::kPackages,
                                         proto::PackageInfo::kUid, proto::PackageInfo::kName};

LostName ReadEntry(Bytes entry, const EntryFields& numbers) {
  LostName name{.thing = numbers.thing};
  wire::FieldReader fields(entry);
  while (const auto field = fields.Next()) {
    if (field->number == numbers.id && field->type == wire::Type::kVarint) name.id = field->value;
    // Of a command line, the first part is the name.
    if (field->number == numbers.name && field->type == wire::Type::kBytes && name.name.empty())
      name.name = std::string(wire::AsText(field->bytes));
  }
  return name;
}

}  // namespace

void LostNames::Read(Bytes message, uint32_t content, std::vector<LostName>& names) {
  wire::FieldReader entries(message);
  while (const auto entry = entries.Next()) {
    if (entry->type != wire::Type::kBytes) continue;
    if (content == proto::TracePacket::kPackagesList) {
      if (entry->number == kOfPackagesList.list)
        names.push_back(ReadEntry(entry->bytes, kOfPackagesList));
      continue;
    }
    for (const EntryFields& numbers : kOfProcessTree)
      if (entry->number == numbers.list) names.push_back(ReadEntry(entry->bytes, numbers));
  }
}

void LostNames::AddFragment(BufferId buffer, ChunkName chunk, size_t fragment, uint32_t content,
                            Bytes message) {
  if (!HasNames(content) || pending_names_ >= kMaxNames) return;
  std::vector<LostName>& names = pending_[{buffer, chunk.Packed(), fragment}];
  pending_names_ -= names.size();
  names.clear();
  Read(message, content, names);
  for (LostName& name : names) {
    name.buffer = buffer;
    name.chunk = chunk;
  }
  pending_names_ += names.size();
}

void LostNames::OnPacketFate(const PacketAccount& account) {
  if (pending_.empty() || !HasNames(account.facts.content)) return;
  const ChunkName chunk{account.sequence, IdOf(account.first_chunk)};
  const auto found = pending_.find({account.buffer, chunk.Packed(), account.fragment});
  if (found == pending_.end()) return;
  pending_names_ -= found->second.size();
  for (LostName& name : found->second) {
    const std::pair key{name.thing, name.id};
    if (!IsLoss(account.fate)) {
      if (read_.size() < kMaxNames) read_.insert(key);
    } else if (lost_.size() < kMaxNames) {
      lost_.emplace(key, std::move(name));
    }
  }
  pending_.erase(found);
}

std::vector<LostName> LostNames::Result() const {
  std::vector<LostName> result;
  for (const auto& [key, name] : lost_)
    if (!read_.contains(key)) result.push_back(name);
  return result;
}

}  // namespace ringscope
