#ifndef STANDIN_CLIENT_IDENTITY_H_
#define STANDIN_CLIENT_IDENTITY_H_

#include "perfetto/ext/tracing/core/basic_types.h"

namespace perfetto {

class ClientIdentity {
 public:
  ClientIdentity() = default;
  ClientIdentity(uid_t uid, pid_t pid, MachineID machine = kDefaultMachineID)
      : uid_(uid), pid_(pid), machine_(machine) {}

  uid_t uid() const { return uid_; }
  pid_t pid() const { return pid_; }
  MachineID machine_id() const { return machine_; }
  bool has_non_default_machine_id() const { return machine_ != kDefaultMachineID; }

 private:
  uid_t uid_ = static_cast<uid_t>(-1);
  pid_t pid_ = static_cast<pid_t>(-1);
  MachineID machine_ = kDefaultMachineID;
};

}  // namespace perfetto

#endif  // STANDIN_CLIENT_IDENTITY_H_
