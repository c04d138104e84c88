// A COMPOUND of minor version 1 as a client makes it, and its reply result by result.
#pragma once

#include <initializer_list>

#include "client/files/remote_files.h"
#include "client/rdma/call_builder.h"
#include "nfs/v4/compound.h"

namespace steertag::peer {

/// The operations behind SEQUENCE, encoded once however often the call is made.
class ClientCompound {
 public:
  template <class Args>
  void add(nfs4::Opnum number, const Args& args) {
    wire::Writer writer(operations_);
    writer.u32(static_cast<std::uint32_t>(number));
    args.encode(writer);
    ++count_;
  }
  void add(nfs4::Opnum number) { add(number, nfs4::Void{}); }
  void add_handle(const RemoteHandle& handle) {
    add(nfs4::Opnum::OP_PUTFH, nfs4::PutfhArgs{nfs4::FileHandle(handle.view())});
  }
  /// Must be the last operation: its data, the DDP-eligible item, stay where they are.
  void add_write(const nfs4::WriteArgs& args);
  /// What it does must not be done twice, so that the server keeps its reply.
  void keep_reply() { keep_reply_ = true; }
  bool keeps_reply() const { return keep_reply_; }

  /// The call without a session, or with a SEQUENCE before its operations.
  Request request(const Identity& identity, const nfs4::SequenceArgs* sequence) const;

 private:
  Bytes operations_;
  std::uint32_t count_ = 0;
  bool has_item_ = false;
  View item_;
  bool keep_reply_ = false;
};

/// Valid during the callback that got it.
class CompoundReply {
 public:
  /// The results from COMPOUND4res on. `unsupported_version` if the server does not have minor
  /// version 1 or the whole program.
  static Expected<CompoundReply, FileError> of(const CallReply& reply);

  /// The status of the last operation that was executed.
  nfs4::Status status() const { return status_; }
  /// The next result, which must be that of `number`; its status as an error if it is one.
  template <class Result>
  Expected<Result, FileError> next(nfs4::Opnum number) {
    if (auto error = begin(number)) return tl::unexpected(std::move(*error));
    Result result;
    result.decode(reader_);
    if (!reader_.ok()) return tl::unexpected(bad(number, reader_.fault().message()));
    if (result.status != nfs4::Status::NFS4_OK)
      return tl::unexpected(refused(result.status, rpc::name(number)));
    return result;
  }
  /// As `next`, for operations whose results are of no interest.
  Expected<void, FileError> skip(nfs4::Opnum number);
  /// The same of several in a row.
  Expected<void, FileError> skip(std::initializer_list<nfs4::Opnum> numbers);
  /// As `next` for READ, whose data may have come in a write chunk.
  Expected<ReadOutcome, FileError> next_read();
  /// The same for READLINK.
  Expected<std::string, FileError> next_link();

 private:
  /// The counted octets of an eligible item, wherever they came.
  View take_item(std::size_t limit);
  CompoundReply() = default;
  std::optional<FileError> begin(nfs4::Opnum number);
  static FileError bad(nfs4::Opnum number, const std::string& why);

  wire::Reader reader_{View()};
  nfs4::Status status_ = nfs4::Status::NFS4_OK;
  std::uint32_t left_ = 0;
  bool item_reduced_ = false;
  View item_;
};

}  // namespace steertag::peer
