// Runs the operations of one COMPOUND, in order, until one fails (RFC 7530 15.2, RFC 8881 16.2).
#pragma once

#include "nfs/v4/compound.h"
#include "server/v4/operation_table.h"

namespace steertag::peer {

class CompoundRun {
 public:
  /// `arguments` starts after COMPOUND4args' fixed part; the reply's stream ends where COMPOUND4res
  /// begins.
  CompoundRun(CompoundCall& call, wire::Reader arguments, std::string_view tag);

  /// False when the arguments are no COMPOUND, so that RPC has to refuse them; nothing ran then.
  bool run();

 private:
  /// As which of its roles a data server that is a plain or metadata server too executes the
  /// COMPOUND.
  enum class Role : std::uint8_t { open, data_server, plain };

  bool is_whole() const;
  void run_next(nfs4::Opnum number);
  /// What a data server does in place of an operation of a server without pNFS; nullptr: it has
  /// none.
  const Operation* choose_by_role(const Operation& plain);
  /// Whether the arguments that come next are the filehandle of a layout.
  bool names_component() const;
  nfs4::Status check_operation_position(const Operation& operation) const;
  void run_known(const Operation& operation);
  void fit_last(std::size_t start);
  /// NFS4ERR_REP_TOO_BIG or NFS4ERR_REP_TOO_BIG_TO_CACHE, whichever `octets` more would be; without
  /// a session NFS4ERR_RESOURCE.
  nfs4::Status too_big(std::size_t octets) const;
  /// The reply depends on what is being taken away from data servers for the files of the COMPOUND.
  void note_tickets();
  void replay();
  void keep_reply();

  CompoundCall& call_;
  wire::Reader arguments_;
  nfs4::OperationReader<nfs4::Opnum> operations_;
  std::size_t reply_start_;
  CompoundReplyWriter reply_;
  Role role_ = Role::open;
};

}  // namespace steertag::peer
