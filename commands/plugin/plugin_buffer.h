#ifndef RINGSCOPE_COMMANDS_PLUGIN_PLUGIN_BUFFER_H_
#define RINGSCOPE_COMMANDS_PLUGIN_PLUGIN_BUFFER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "core/base/log_moment.h"
#include "core/base/result.h"
#include "core/plugin/plugin_abi.h"

namespace ringscope {

/// How a plug-in's process ended.
struct PluginDeath {
  std::string how;      // "was ended by signal 6 (Aborted) in 'commit'": the same for one kind
  std::string details;  // the record, what it printed last; may be empty
};

/// A buffer of a plug-in, wherever it is: the functions of ringscope_plugin that take one, with
/// their rules. Optional functions are called only if the plug-in has them.
class PluginBuffer {
 public:
  PluginBuffer() = default;
  virtual ~PluginBuffer() = default;
  PluginBuffer(const PluginBuffer&) = delete;
  PluginBuffer& operator=(const PluginBuffer&) = delete;

  virtual void Commit(const ringscope_commit& commit) = 0;
  virtual int Patch(const ringscope_patches& patches) = 0;
  /// The next pass is read to its end, with no other call before that.
  virtual void ExpectWholePass() {}
  virtual void BeginRead() = 0;
  virtual int NextPacket(ringscope_packet& packet) = 0;
  virtual void Stats(ringscope_stats& stats) = 0;
  /// @return nullptr: it failed
  virtual std::unique_ptr<PluginBuffer> Clone(const ringscope_config& config) = 0;
  virtual void VisitWriters(ringscope_writer_visitor visit, void* context) = 0;
  virtual const char* Check() = 0;
  virtual uint64_t VisitChunks(ringscope_chunk_visitor visit, void* context) = 0;

  virtual int SetUpVm(const ringscope_vm_setup& setup) = 0;
  virtual void VisitVms(ringscope_vm_visitor visit, void* context) = 0;

  /// How the process ended in which the buffer was; nullptr: it did not. Calls then do nothing, and
  /// return 0 or nullptr.
  virtual const PluginDeath* death() const { return nullptr; }
};

/// Makes a buffer of a plug-in; nullptr: the plug-in refused, and reported why through the config.
/// Fails if there is no process for it, with kDied if the plug-in ended that.
/// @param now the record under way; nullptr: there are none
using PluginBufferMaker = std::function<Result<std::unique_ptr<PluginBuffer>>(
    const ringscope_config& config, const LogMoment* now)>;

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_PLUGIN_PLUGIN_BUFFER_H_
