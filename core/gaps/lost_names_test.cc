#include "core/gaps/lost_names.h"

#include <gtest/gtest.h>

#include "core/base/wire.h"
#include "core/perfetto/fields.h"

namespace ringscope {
namespace {

constexpr BufferId kNamesBuffer{1};

ChunkName NamesChunk(uint32_t id) { return {{ProducerId{1}, WriterId{1}}, ChunkId{id}}; }

/// A process_tree with processes of these ids.
std::string Tree(std::initializer_list<uint64_t> pids) {
  std::string tree;
  for (const uint64_t pid : pids) {
    std::string process;
    wire::AppendUint(process, proto::ProcessTreeProcess::kPid, pid);
    wire::AppendBytes(process, proto::ProcessTreeProcess::kCmdline,
                      wire::AsBytes("app" + std::to_string(pid)));
    wire::AppendBytes(tree, proto::ProcessTree::kProcesses, wire::AsBytes(process));
  }
  return tree;
}

PacketAccount NamesAccount(uint32_t chunk, Fate fate) {
  PacketAccount account;
  account.buffer = kNamesBuffer;
  account.sequence = NamesChunk(chunk).sequence;
  account.first_chunk = chunk;
  account.facts.content = proto::TracePacket::kProcessTree;
  account.fate = fate;
  return account;
}

void AddTree(LostNames& names, uint32_t chunk, const std::string& tree, Fate fate) {
  names.AddFragment(kNamesBuffer, NamesChunk(chunk), 0, proto::TracePacket::kProcessTree,
                    wire::AsBytes(tree));
  names.OnPacketFate(NamesAccount(chunk, fate));
}

TEST(LostNames, OfLostPacketsAlone) {
  LostNames names;
  AddTree(names, 0, Tree({7, 8}), Fate::kOverwritten);
  AddTree(names, 1, Tree({8}), Fate::kRead);
  const std::vector<LostName> result = names.Result();
  ASSERT_EQ(result.size(), 1u);
  EXPECT_EQ(result[0], (LostName{NamedThing::kProcess, 7, "app7", kNamesBuffer, NamesChunk(0)}));
}

TEST(LostNames, NoneIfAllWereRead) {
  LostNames names;
  AddTree(names, 0, Tree({7}), Fate::kRead);
  AddTree(names, 1, Tree({7}), Fate::kOverwritten);
  EXPECT_TRUE(names.Result().empty());
}

}  // namespace
}  // namespace ringscope
