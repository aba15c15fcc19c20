#include "core/compare/payload_parts.h"

#include <algorithm>

#include "core/base/wire.h"
#include "core/perfetto/chunk.h"
#include "core/perfetto/fragment.h"

namespace ringscope {
namespace {

size_t Part(size_t whole, double ratio) {
  return static_cast<size_t>(static_cast<double>(whole) * ratio);
}

}  // namespace

std::string PayloadParts::Join() const {
  std::string payload;
  for (const std::string& fragment : fragments) {
    wire::AppendVarint(payload, fragment.size());
    payload += fragment;
  }
  return payload + rest;
}

PayloadParts PartsOf(const PlainStep& step) {
  PayloadParts parts;
  const Bytes payload = wire::AsBytes(step.payload);
  uint32_t end = 0;
  VisitFragments(payload, step.step.commit.fragments, [&](const Fragment& fragment) {
    parts.fragments.emplace_back(wire::AsText(payload.subspan(fragment.body, fragment.size())));
    end = fragment.end;
  });
  parts.rest = wire::AsText(payload.subspan(end));
  return parts;
}

PayloadParts Scaled(PayloadParts parts, double ratio) {
  const size_t whole = parts.Join().size() + kStoredHeaderSize;
  const size_t wanted = std::max<size_t>(kStoredHeaderSize, Part(whole, ratio)) - kStoredHeaderSize;
  for (std::string& fragment : parts.fragments) fragment.resize(Part(fragment.size(), ratio));
  parts.rest.resize(Part(parts.rest.size(), ratio));
  if (parts.fragments.empty()) return parts;
  // Headers do not become smaller: the last fragment makes up for that.
  std::string& last = parts.fragments.back();
  const size_t now = parts.Join().size();
  if (now > wanted)
    last.resize(last.size() - std::min(last.size(), now - wanted));
  else
    last.append(wanted - now, 'x');
  return parts;
}

}  // namespace ringscope
