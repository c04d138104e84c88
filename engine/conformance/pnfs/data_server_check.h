// Judges READ, WRITE and COMMIT of files with layouts, at data servers and at metadata servers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "conformance/message.h"
#include "conformance/pnfs/layouts.h"
#include "nfs/v4/operations.h"

namespace steertag::conformance {

/// READ, WRITE or COMMIT behind PUTFH.
struct FileIo {
  nfs4::Opnum operation = nfs4::Opnum::OP_READ;
  std::string handle;
  nfs4::StateId stateid;  // not of COMMIT
  std::uint64_t offset = 0;
  std::uint32_t count = 0;
  PnfsSession session;
  std::uint64_t moment = 0;  // of the call
  /// Moment of the answer to the earlier call on its slot, behind which the client sent it. 0:
  /// none.
  std::uint64_t behind = 0;

  bool is_commit() const { return operation == nfs4::Opnum::OP_COMMIT; }
  bool is_write() const { return operation == nfs4::Opnum::OP_WRITE; }
  View handle_view() const { return std::as_bytes(std::span(handle)); }
};

/// The result of one that has succeeded.
struct IoResult {
  std::uint32_t count = 0;  // octets
  bool unstable = false;    // of WRITE
  nfs4::Verifier verifier{};
};

class DataServerCheck {
 public:
  /// `server_end` is the text of the connection's end at the server, or empty.
  DataServerCheck(const Message& message, Layouts& layouts, std::string_view server_end,
                  Connection& connection)
      : message_(message), layouts_(layouts), server_end_(server_end), connection_(connection) {}

  void take_call(const FileIo& io);
  void take_result(const FileIo& io, const IoResult& result);

 private:
  enum class Fit : std::uint8_t { fits, unknown, other_handle, other_stripe };

  Finding* open(const Rule& rule) { return open_finding(rule, message_, connection_); }
  std::string text(const MessagePlace& place) const;
  std::string_view name(const FileIo& io) const { return rpc::name(io.operation); }
  StripedFile* file_at_data_server(const FileIo& io);
  bool judge_form(const FileIo& io);
  void judge_use(const FileIo& io, const StripedFile& file);
  void judge_place(const FileIo& io, StripedFile& file);
  void judge_commit_at_metadata_server(const FileIo& io, const StripedFile& file);
  void judge_form_result(const FileIo& io, const StripedFile* file);
  void judge_hole(const FileIo& io, const IoResult& result, StripedFile& file);
  void judge_verifier(const FileIo& io, const IoResult& result, StripedFile& file);
  Fit fit_of(const FileIo& io, const GrantedRange& range) const;
  Fit fit_of_server(const FileIo& io, const GrantedRange& range, std::size_t list) const;
  void learn_server(const FileIo& io, StripedFile& file);

  const Message& message_;
  Layouts& layouts_;
  std::string_view server_end_;
  Connection& connection_;
};

/// All octets zero, or all ones (RFC 8881 8.2.3).
bool is_special(const nfs4::StateId& stateid);

}  // namespace steertag::conformance
