// Files that are read another way, and are those of an NFS client in all else.
#pragma once

#include <memory>

#include "client/files/remote_files.h"

namespace steertag::peer {

class ForwardedFiles : public RemoteFiles {
 public:
  Expected<RemoteObject, FileError> find(std::string_view path, bool follow) override {
    return files_->find(path, follow);
  }
  Expected<RemoteAttributes, FileError> attributes(const RemoteHandle& object) override {
    return files_->attributes(object);
  }
  Expected<std::string, FileError> read_link(const RemoteHandle& link) override {
    return files_->read_link(link);
  }
  Expected<void, FileError> list(const RemoteHandle& directory, const EntrySink& sink) override {
    return files_->list(directory, sink);
  }
  Expected<void, FileError> list_names(const RemoteHandle& directory,
                                       const NameSink& sink) override {
    return files_->list_names(directory, sink);
  }
  Expected<void, FileError> remove(const RemoteHandle& directory, std::string_view name) override {
    return files_->remove(directory, name);
  }
  Expected<void, FileError> rename(const RemoteHandle& directory, std::string_view from,
                                   std::string_view to) override {
    return files_->rename(directory, from, to);
  }
  Expected<RemoteFile, FileError> open(const RemoteHandle& file) override {
    return files_->open(file);
  }
  Expected<RemoteFile, FileError> create(const RemoteHandle& directory, std::string_view name,
                                         std::uint32_t mode) override {
    return files_->create(directory, name, mode);
  }
  Expected<void, FileError> set_size(RemoteFile file, std::uint64_t size) override {
    return files_->set_size(file, size);
  }
  Expected<void, FileError> close(RemoteFile file) override { return files_->close(file); }
  void write(RemoteFile file, std::uint64_t offset, View data, Stability stability,
             WriteDone done) override {
    files_->write(file, offset, data, stability, std::move(done));
  }
  void commit(RemoteFile file, CommitDone done) override { files_->commit(file, std::move(done)); }
  void step(std::chrono::milliseconds timeout) override { files_->step(timeout); }
  std::uint64_t client_id() const override { return files_->client_id(); }
  nfs4::StateId state_of(RemoteFile file) const override { return files_->state_of(file); }
  TransferLimits limits() const override { return files_->limits(); }
  std::uint32_t version() const override { return files_->version(); }
  Expected<void, FileError> end() override { return files_->end(); }

 protected:
  explicit ForwardedFiles(std::unique_ptr<RemoteFiles> files) : files_(std::move(files)) {}

  std::unique_ptr<RemoteFiles> files_;
};

}  // namespace steertag::peer
