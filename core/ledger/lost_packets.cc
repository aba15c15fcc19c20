#include "core/ledger/lost_packets.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/perfetto/fragment.h"
#include "core/perfetto/packet_validator.h"

namespace ringscope {
LostPackets::LostPackets(Listener listener, bool all) : listener_(std::move(listener)), all_(all) {}
LostPackets::~LostPackets() = default;

void LostPackets::OnRecord(const Op& op, const LogMoment&) {
  if (const auto* connected = std::get_if<ProducerConnected>(&op.body))
    identities_[connected->producer] = {connected->uid, connected->pid};
}

void LostPackets::OnChunk(BufferId buffer, const ChunkCommit& commit,
                          std::optional<Refusal> refusal) {
  ReadWrittenChunk(commit, written_);
  Stored& chunk = chunks_[{buffer, {commit.sequence, commit.chunk}}];
  chunk.forgotten = false;
  chunk.identity = commit.identity;
  if (refusal) {  // the service does not add who wrote it
    const auto identity = identities_.find(commit.sequence.producer);
    chunk.identity = identity == identities_.end() ? Identity{0, -1} : identity->second;
  }
  const std::vector<WrittenFragment>& fragments = written_.fragments;
  if (fragments.size() <= chunk.fragments || written_.bytes < chunk.bytes.size()) return;
  // What was there before may have been patched.
  const size_t known = chunk.bytes.size();
  chunk.bytes += wire::AsText(commit.payload.subspan(known, written_.bytes - known));
  const WrittenFragment& first = fragments.front();
  const WrittenFragment& last = fragments.back();
  if (chunk.fragments == 0) {
    chunk.first_continues =
        first.kind == FragmentKind::kContinue || first.kind == FragmentKind::kEnd;
    chunk.first_open = chunk.first_continues && first.size > 0;
  }
  chunk.last_continues = last.kind == FragmentKind::kBegin || last.kind == FragmentKind::kContinue;
  chunk.last_open = chunk.last_continues && last.size > 0;
  chunk.fragments = static_cast<uint32_t>(fragments.size());
  chunk.last_offset = last.offset;
  chunk.needs_patch = (written_.flags & kNeedsPatching) != 0;
}

/// Patches reach the copies whether the buffer still has the chunk or not.
void LostPackets::OnBufferEvent(const BufferEvent& event) {
  if (event.sent != nullptr) Patch(event.buffer, *event.sent);
}

void LostPackets::Patch(BufferId buffer, const ChunkPatches& patches) {
  const auto found = chunks_.find({buffer, {patches.sequence, patches.chunk}});
  if (found == chunks_.end()) return;
  Stored& chunk = found->second;
  for (const ringscope::Patch& patch : patches.patches) {
    if (patch.offset > chunk.bytes.size() || kPatchSize > chunk.bytes.size() - patch.offset)
      continue;
    std::memcpy(chunk.bytes.data() + patch.offset, patch.data, kPatchSize);
  }
  if (!patches.more) chunk.needs_patch = false;
}

const LostPackets::Stored* LostPackets::Find(const PacketAccount& account, uint64_t chunk) const {
  const auto found = chunks_.find({account.buffer, {account.sequence, IdOf(chunk)}});
  return found == chunks_.end() ? nullptr : &found->second;
}

/// Returns true if the packet is one whole fragment, by its place.
bool LostPackets::IsWhole(const Stored& chunk, const PacketAccount& account) const {
  if (account.first_chunk != account.last_chunk) return false;
  if (account.fragment == 0 && chunk.first_continues) return false;
  return account.first_offset != chunk.last_offset || !chunk.last_continues;
}

void LostPackets::AddFate(const PacketAccount& account, uint32_t kind) {
  const ChunkAt key{account.buffer, {account.sequence, IdOf(account.first_chunk)}};
  if (IsLoss(account.fate)) {
    // A chunk that the service refuses is accounted for before it gets here: its packets that are
    // whole wait for it.
    Stored& chunk = chunks_[key];
    Lost& lost = chunk.lost.emplace_back(Lost{account, kind, std::nullopt, Place{}});
    if (!IsWhole(chunk, account)) {
      lost.bytes = Join(account).value_or("");
      lost.next = {account.last_chunk, 1};
      const Stored* last = Find(account, account.last_chunk);
      if (last != nullptr && last->fragments == 1) lost.next = {account.last_chunk + 1, 0};
    }
  }
  const auto chunk = chunks_.find(key);
  if (chunk != chunks_.end() && !IsWhole(chunk->second, account)) Close(account);
}

/// Nothing more is reported of a packet in fragments: its chunks need not be kept for it.
void LostPackets::Close(const PacketAccount& account) {
  const auto close = [&](uint64_t id) {
    const ChunkAt key{account.buffer, {account.sequence, IdOf(id)}};
    const auto found = chunks_.find(key);
    if (found == chunks_.end()) return;
    Stored& chunk = found->second;
    const bool is_first = id == account.first_chunk;
    const bool one_fragment = chunk.fragments == 1 && chunk.first_continues && chunk.last_continues;
    // In its first chunk it is the last fragment, unless it continues a packet there.
    const bool at_front = !is_first || (account.fragment == 0 && chunk.first_continues);
    if (at_front || one_fragment) chunk.first_open = false;
    if (!at_front || one_fragment) chunk.last_open = false;
    ReleaseIfSettled(key);
  };
  // An engine may name places that make no packet: there are never more fragments than chunks.
  const uint64_t steps = account.last_chunk - account.first_chunk;
  const bool plausible = steps <= chunks_.size();
  for (uint64_t i = plausible ? 0 : steps; i <= steps; ++i) close(account.first_chunk + i);
}

/// The bytes of a packet in fragments; nullopt: they are not all there, or not patched.
std::optional<std::string> LostPackets::Join(const PacketAccount& account) const {
  std::string bytes;
  const uint64_t steps = account.last_chunk - account.first_chunk;
  if (steps == 0 || steps > chunks_.size()) return std::nullopt;
  for (uint64_t id = account.first_chunk; id <= account.last_chunk; ++id) {
    const Stored* chunk = Find(account, id);
    const bool is_first = id == account.first_chunk, is_last = id == account.last_chunk;
    if (chunk == nullptr || chunk->fragments == 0) {
      if (is_first || is_last) return std::nullopt;
      continue;  // a chunk without fragments, or with an empty one, is passed over
    }
    const bool continues = chunk->fragments == 1 && chunk->first_continues && chunk->last_continues;
    const bool fits = is_first  ? chunk->last_continues && !continues
                      : is_last ? chunk->first_continues && !continues
                                : continues;
    if (!fits) return std::nullopt;
    if (!is_last && chunk->needs_patch) return std::nullopt;
    const std::optional<Bytes> fragment =
        BodyAt(wire::AsBytes(chunk->bytes), is_first ? account.first_offset : 0);
    if (!fragment) return std::nullopt;
    bytes += wire::AsText(*fragment);
  }
  if (bytes.size() != account.size) return std::nullopt;
  return bytes;
}

void LostPackets::OnChunkForgotten(BufferId buffer, SequenceKey sequence, uint64_t id) {
  const ChunkAt key{buffer, {sequence, IdOf(id)}};
  const auto found = chunks_.find(key);
  if (found == chunks_.end()) return;
  found->second.forgotten = true;
  ReleaseIfSettled(key);
}

void LostPackets::ReleaseIfSettled(const ChunkAt& key) {
  const auto found = chunks_.find(key);
  if (found == chunks_.end()) return;
  Stored& chunk = found->second;
  if (!chunk.forgotten || chunk.first_open || chunk.last_open) return;
  Release(chunk);
  chunks_.erase(found);
}

void LostPackets::Release(Stored& chunk) {
  std::stable_sort(chunk.lost.begin(), chunk.lost.end(), [](const Lost& a, const Lost& b) {
    return a.account.fragment < b.account.fragment;
  });
  for (const Lost& lost : chunk.lost) HandOn(chunk, lost);
  chunk.lost.clear();
}

void LostPackets::HandOn(const Stored& chunk, const Lost& lost) {
  const PacketAccount& account = lost.account;
  std::optional<Bytes> bytes;
  if (lost.bytes)
    bytes = wire::AsBytes(*lost.bytes);
  else
    bytes = BodyAt(wire::AsBytes(chunk.bytes), account.first_offset);
  if (!bytes || bytes->empty() || bytes->size() != account.size ||
      !IsValidPacket(std::span(&*bytes, 1))) {
    unwritable_[account.fate] += {1, account.size};
    if (all_) listener_({account, chunk.identity, {}, true, lost.kind});
    return;
  }
  Place& next = next_[account.buffer][account.sequence];
  const bool follows = next == Place{account.first_chunk, account.fragment};
  next = lost.next;
  if (!lost.bytes) {
    const bool is_last = account.fragment + 1 >= chunk.fragments;
    next = is_last ? Place{account.first_chunk + 1, 0}
                   : Place{account.first_chunk, account.fragment + 1};
  }
  listener_({account, chunk.identity, std::span(&*bytes, 1), !follows, lost.kind});
}

void LostPackets::OnBufferReplaced(SessionBuffer& buffer) {
  FinishIf([&](const ChunkAt& key) { return key.buffer == buffer.id; });
}

void LostPackets::OnDrained() {
  FinishIf([](const ChunkAt&) { return true; });
}

void LostPackets::FinishIf(const std::function<bool(const ChunkAt&)>& applies) {
  std::vector<Stored*> chunks;
  for (auto& [key, chunk] : chunks_)
    if (!chunk.lost.empty() && applies(key)) chunks.push_back(&chunk);
  const auto place = [](const Stored* chunk) {
    const PacketAccount& account = chunk->lost.front().account;
    return std::tuple(account.buffer, account.sequence, account.first_chunk);
  };
  std::sort(chunks.begin(), chunks.end(),
            [&](const Stored* a, const Stored* b) { return place(a) < place(b); });
  for (Stored* chunk : chunks) Release(*chunk);
  std::erase_if(chunks_, [&](const auto& entry) { return applies(entry.first); });
}

}  // namespace ringscope
