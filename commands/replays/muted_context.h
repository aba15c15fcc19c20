#ifndef RINGSCOPE_COMMANDS_REPLAYS_MUTED_CONTEXT_H_
#define RINGSCOPE_COMMANDS_REPLAYS_MUTED_CONTEXT_H_

#include "commands/shell/command.h"
#include "commands/shell/console.h"

namespace ringscope {

/// A context like another one, but silent on standard error: for a further replay of a log whose
/// warnings were printed already.
class MutedContext {
 public:
  enum class Progress { kHidden, kShown };

  /// @param progress kShown: that of what is done in it, on the thread of `context`
  explicit MutedContext(Context& context, Progress progress = Progress::kHidden)
      : streams_{context.console.streams().out, muted_, context.console.streams().open_input, true,
                 context.console.streams().input_again},
        console_(streams_),
        context_{console_, context.threads, context.files} {
    if (progress == Progress::kShown) console_.ShowProgressOn(context.console);
  }

  Context& context() { return context_; }

 private:
  KeptText muted_;
  Streams streams_;
  Console console_;
  Context context_;
};

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_REPLAYS_MUTED_CONTEXT_H_
