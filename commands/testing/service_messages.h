#ifndef RINGSCOPE_COMMANDS_TESTING_SERVICE_MESSAGES_H_
#define RINGSCOPE_COMMANDS_TESTING_SERVICE_MESSAGES_H_

#include <cstdint>
#include <string>

#include "formats/io/message_codec.h"

namespace ringscope::testing {

// Messages that only the service writes.

struct ReceivedTrigger {
  uint64_t boot_time_ns = 0;
  std::string name;
  std::string producer;
  uint64_t uid = 0;
  uint64_t stop_delay_ms = 0;
};
struct CloneTriggerHit {
  uint64_t session = 0;
  ReceivedTrigger trigger;
};

/// ObservableEvents.CloneTriggerHit
void Fields(auto& field, Like<CloneTriggerHit> auto& m) {
  field(1, m.session);
  field(2, m.trigger.name);
  field(3, m.trigger.producer);
  field(4, m.trigger.uid);
  field(5, m.trigger.boot_time_ns);
  field(6, m.trigger.stop_delay_ms);
}
/// The packet field `trigger`; its time is the packet's.
void Fields(auto& field, Like<ReceivedTrigger> auto& m) {
  field(1, m.name);
  field(2, m.producer);
  field(3, m.uid);
  field(4, m.stop_delay_ms);
}

}  // namespace ringscope::testing

#endif  // RINGSCOPE_COMMANDS_TESTING_SERVICE_MESSAGES_H_
