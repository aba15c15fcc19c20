#include "core/log/session_filter.h"

#include <algorithm>
#include <optional>

namespace ringscope {

bool SessionFilter::Keeps(Op& op) {
  const auto is_other = [&](std::optional<uint64_t> session) {
    return session && *session != session_;
  };
  const auto is_of_this = [&](const auto& record) { return !is_other(record.session); };
  return std::visit(
      Overloaded{[&](const TraceConfigRecord& config) { return is_of_this(config); },
                 [&](const SessionChanged& change) { return is_of_this(change); },
                 [&](const ReadPass& pass) { return is_of_this(pass); },
                 [&](const Inexact& mark) { return is_of_this(mark); },
                 [&](BufferSetUp& setup) {
                   setup.left_out = is_other(setup.session);
                   return true;
                 },
                 [&](const DataSourceSetUp& source) {
                   if (is_other(source.session))
                     instances_.emplace(source.producer, source.instance);
                   return true;
                 },
                 [&](const FlushRequested& flush) {
                   if (!flush.producer || flush.instances.empty() ||
                       !std::ranges::all_of(flush.instances, [&](uint64_t instance) {
                         return instances_.contains({*flush.producer, instance});
                       }))
                     return true;
                   flushes_.insert(flush.flush);
                   return false;
                 },
                 [&](const FlushTimedOut& flush) { return !flushes_.contains(flush.flush); },
                 [&](const CloneRequested& clone) {
                   if (is_other(clone.session)) clones_.insert(clone.clone);
                   return is_of_this(clone);
                 },
                 [&](const BufferCloned& clone) { return !clones_.contains(clone.clone); },
                 [&](const ClonePass& clone) { return !clones_.contains(clone.clone); },
                 [&](const CloneEnded& clone) { return !clones_.contains(clone.clone); },
                 [](const auto&) { return true; }},
      op.body);
}

}  // namespace ringscope
