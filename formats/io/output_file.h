#ifndef RINGSCOPE_FORMATS_IO_OUTPUT_FILE_H_
#define RINGSCOPE_FORMATS_IO_OUTPUT_FILE_H_

#include <sys/stat.h>

#include <map>

#include "core/base/result.h"
#include "formats/io/byte_stream.h"

namespace ringscope {

/// Returns TMPDIR, or else "/tmp".
std::string TemporaryFolder();

struct TemporaryFileOptions {
  std::string folder = TemporaryFolder();
  // For messages: what the file is, the input that needs it (else the folder is named), and a hint.
  std::string what = "a temporary file";
  std::string path;
  std::string hint = "set TMPDIR to a folder with space";
};

/// A file without a name: nothing is left of it once it and its sources are gone.
class TemporaryFile : public ByteSink {
 public:
  static Result<std::shared_ptr<TemporaryFile>> Create(TemporaryFileOptions options = {});

  using ByteSink::Write;
  /// Appends. What a write that failed got done stays and counts.
  Status Write(Bytes bytes) override;
  /// Short only at the file's end. Threads may read at the same time.
  Result<size_t> ReadAt(uint64_t offset, std::span<uint8_t> into) const;
  /// Bytes written.
  uint64_t size() const { return size_; }
  /// Returns a name under which this process can open the file.
  std::string OwnName() const;

 private:
  TemporaryFile(int fd, TemporaryFileOptions options) : fd_(fd), options_(std::move(options)) {}

  const UniqueFd fd_;
  const TemporaryFileOptions options_;
  uint64_t size_ = 0;
};

/// Reads the file from its start. @param path for messages
std::unique_ptr<ByteSource> OpenTemporary(std::shared_ptr<const TemporaryFile> file,
                                          std::string path);

/// The files that a run reads: it may replace none of them. Compares files by device and inode, so
/// that links are recognized. All that opens files reports here; without a run nothing is kept.
/// Safe from all threads.
class RunFiles {
 public:
  /// Returns the run of this process, or begins one. It ends with its last holder.
  static std::shared_ptr<RunFiles> Join();

  // Files of the run, if there is one. Only regular files count.
  /// Adds a file that was opened to be read.
  static void AddInput(const struct stat& info, const std::string& path);
  /// Adds a file that will be read, if it is there.
  static void AddInput(const std::string& path);
  /// Returns an error if a file that will be replaced is an input so far.
  static Status CheckOutput(const struct stat& info, const std::string& path);

  /// Keeps a copy of an input that cannot be opened again: of standard input, of a pipe, or of a
  /// log in an archive.
  static void SetCopy(const std::string& path, std::shared_ptr<const TemporaryFile> copy);
  /// Returns the copy of an input, or nullptr if it has none.
  static std::shared_ptr<const TemporaryFile> CopyOf(const std::string& path);

 private:
  std::map<std::pair<dev_t, ino_t>, std::string> inputs_;  // with their paths as they were given
  std::map<std::string, std::shared_ptr<const TemporaryFile>> copies_;
};

// The tool's name and version in its outputs. A test compares the version with CMakeLists.txt.
inline constexpr std::string_view kToolName = "ringscope";
inline constexpr std::string_view kToolVersion = "0.2.0";

/// A format of a file that is written. Each has one of these beside its writer.
struct OutputKind {
  const char* what;                       // "a trace", for messages
  bool is_text = false;                   // which a terminal can show
  bool (*is_own)(Bytes start) = nullptr;  // true if a file's first bytes (up to kOwnBytes) show
                                          // that ringscope wrote it as this, if anything does
};
inline constexpr size_t kOwnBytes = 4096;

/// The files that a new one may replace. An input of the same run is never among them.
enum class Replace : uint8_t {
  kOwn,  // empty ones, and those that ringscope wrote as the same kind of output
  kAny,  // --force
};
constexpr Replace ReplaceBy(bool force) { return force ? Replace::kAny : Replace::kOwn; }

struct OutputName;

/// The place of a file that is to appear whole: a temporary name beside it, which Commit renames.
/// Removes what was not committed.
class PendingFile {
 public:
  /// Makes an empty temporary file with the permissions of the file that will be replaced.
  static Result<PendingFile> At(const std::string& path, const OutputKind& kind, Replace replace);

  /// The name to write to.
  std::string temporary() const;
  const std::string& path() const { return path_; }
  /// Puts what was written, and closed, in its place.
  Status Commit();

 private:
  PendingFile() = default;

  /// Removes the file, if it is still there, and frees the name.
  struct Discard {
    void operator()(OutputName* name) const;
  };
  std::string path_;                                // as the user gave it
  std::string target_;                              // where a symbolic link leads
  std::unique_ptr<OutputName, Discard> temporary_;  // while the file is pending
};

/// Removes all pending temporary files, also of processes that were forked after
/// RemovePendingFilesOnSignals. Callable in a signal's handler.
void RemovePendingFiles();

/// Lets SIGINT, SIGTERM and SIGHUP remove pending temporary files before they end the process.
/// A signal that is ignored stays ignored. For main.
void RemovePendingFilesOnSignals();

/// A file that appears whole with Commit, or not at all. Pipes and devices are written in place.
class OutputFile : public ByteSink {
 public:
  static Result<std::unique_ptr<OutputFile>> Create(const std::string& path, const OutputKind& kind,
                                                    Replace replace);

  using ByteSink::Write;
  Status Write(Bytes bytes) override;
  /// Flushes, renames. Call once, last.
  virtual Status Commit();
  /// Returns the name under which the content can be read, and cut, before Commit, or an empty one.
  std::string written_to() const { return pending_ ? pending_->temporary() : ""; }
  const std::string& path() const { return path_; }

 protected:
  OutputFile(int fd, std::string path, std::optional<PendingFile> pending)
      : fd_(fd), path_(std::move(path)), pending_(std::move(pending)) {}

 private:
  UniqueFd fd_;
  const std::string path_;
  std::optional<PendingFile> pending_;  // absent: the file is written in place
};

// The lock of a log that is being recorded. It ends with its process, and hinders no reader.

/// Locks a file that is open for writing. @return false if another descriptor has locked it
bool LockFile(int fd);
/// Returns "being recorded by process 123" if another descriptor has the file locked.
std::optional<std::string> RecordedBy(const std::string& path);

/// A file under its own name that grows write by write, and is kept whatever happens to the
/// process. It is locked while it is open. A write that fails leaves none of its bytes, if
/// possible.
class GrowingFile : public ByteSink {
 public:
  /// Choice for a regular file of that name. Pipes and devices are written to.
  enum class Existing : uint8_t { kRefuse, kReplace };

  static Result<std::unique_ptr<GrowingFile>> Create(const std::string& path, Existing existing);

  using ByteSink::Write;
  Status Write(Bytes bytes) override;
  /// Has Write call this after each 64 KiB, so that a thread can leave its processor to others.
  void SetPause(std::function<void()> pause) { pause_ = std::move(pause); }
  /// Returns true if the last Write failed as the file system was full: it may succeed later.
  bool disk_was_full() const { return disk_was_full_; }
  /// Call once, last. Returns errors that the file system reports only now.
  Status Close();
  const std::string& path() const { return path_; }

 private:
  GrowingFile(int fd, std::string path) : fd_(fd), path_(std::move(path)) {}

  UniqueFd fd_;
  std::string path_;
  std::function<void()> pause_ = [] {};
  uint64_t written_ = 0;
  bool disk_was_full_ = false;
};

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_IO_OUTPUT_FILE_H_
