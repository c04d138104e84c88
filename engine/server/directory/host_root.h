// The exported directory of the host: the only place from which objects are opened.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "server/directory/confined_open.h"
#include "server/directory/host_object.h"
#include "support/expected.h"

namespace steertag::peer {

/// Every name below the exported directory is opened by ConfinedOpen. No other device is crossed
/// to, either.
class HostRoot {
 public:
  /// The error is one sentence without its end: "cannot export ...".
  /// Without `means` it takes those that the host allows.
  static Expected<HostRoot, std::string> open(
      const std::string& path, std::optional<ConfinedOpen::Means> means = std::nullopt);

  /// Called when the process has no descriptor left; it closes what can be opened again.
  void set_relief(std::function<void()> relief) { relief_ = std::move(relief); }

  NodeId node() const { return root_.node(); }
  int descriptor() const { return root_.descriptor.get(); }
  /// The object at `path`, components below the root joined by slashes; the root if it is empty.
  Result<HostObject> object(std::string_view path) const;
  /// The object that a directory has under a name that `check_name` accepts.
  Result<HostObject> child(const HostObject& directory, std::string_view name) const;
  /// The object of a descriptor that was opened otherwise.
  Result<HostObject> adopt(Descriptor descriptor) const;
  /// A new regular file, open for reading and writing, which only this process's user may open;
  /// Status::exists if the directory has the name already.
  Result<Descriptor> make_file(const HostObject& directory, const std::string& name) const;

  /// The very same object again, for reading or writing. Only for regular files and directories:
  /// devices and FIFOs are never opened.
  Result<Descriptor> reopen(const HostObject& object, int flags) const;
  /// Forces everything that the file system of the export has not written yet.
  Status sync_file_system() const;
  /// A path by which calls that know no AT_EMPTY_PATH reach the very same object, relative to
  /// `descriptors()`.
  static std::string name_of(const HostObject& object);
  int descriptors() const { return descriptors_.get(); }

 private:
  Result<HostObject> object_from(int directory, std::string_view path) const;
  Result<Descriptor> open_at(int directory, std::string_view path, int flags) const;
  /// Runs an opening call until it works or says something final.
  template <class Open>
  Result<Descriptor> retry(Open&& open) const;

  HostObject root_;
  ConfinedOpen confined_open_;
  Descriptor readable_;     // the root, which O_PATH does not let force anything
  Descriptor descriptors_;  // /proc/self/fd
  std::function<void()> relief_;
};

}  // namespace steertag::peer
