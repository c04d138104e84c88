// ONC RPC call and reply headers (RFC 5531 9), without arguments or results.
#pragma once

#include <cstdint>
#include <span>

#include "rpc/auth.h"
#include "rpc/fields.h"
#include "wire/xdr.h"

namespace steertag::rpc {

/// The version of the RPC protocol (RFC 5531 9).
inline constexpr std::uint32_t kRpcVersion = 2;
/// A call header with AUTH_NONE twice, and an accepted reply header with an AUTH_NONE verifier.
inline constexpr std::size_t kSmallestCallHeader = 40;
inline constexpr std::size_t kSmallestReplyHeader = 24;

/// msg_type
enum class MessageType : std::uint32_t { CALL = 0, REPLY = 1 };
inline constexpr Named<MessageType> kMessageTypeNames[] = {{MessageType::CALL, "CALL"},
                                                           {MessageType::REPLY, "REPLY"}};
constexpr std::span<const Named<MessageType>> names_of(MessageType) {
  return kMessageTypeNames;
}

/// reply_stat
enum class ReplyStatus : std::uint32_t { MSG_ACCEPTED = 0, MSG_DENIED = 1 };
inline constexpr Named<ReplyStatus> kReplyStatusNames[] = {
    {ReplyStatus::MSG_ACCEPTED, "MSG_ACCEPTED"}, {ReplyStatus::MSG_DENIED, "MSG_DENIED"}};
constexpr std::span<const Named<ReplyStatus>> names_of(ReplyStatus) {
  return kReplyStatusNames;
}

/// accept_stat
enum class AcceptStatus : std::uint32_t {
  SUCCESS = 0,
  PROG_UNAVAIL = 1,
  PROG_MISMATCH = 2,
  PROC_UNAVAIL = 3,
  GARBAGE_ARGS = 4,
  SYSTEM_ERR = 5,
};
inline constexpr Named<AcceptStatus> kAcceptStatusNames[] = {
    {AcceptStatus::SUCCESS, "SUCCESS"},
    {AcceptStatus::PROG_UNAVAIL, "PROG_UNAVAIL"},
    {AcceptStatus::PROG_MISMATCH, "PROG_MISMATCH"},
    {AcceptStatus::PROC_UNAVAIL, "PROC_UNAVAIL"},
    {AcceptStatus::GARBAGE_ARGS, "GARBAGE_ARGS"},
    {AcceptStatus::SYSTEM_ERR, "SYSTEM_ERR"},
};
constexpr std::span<const Named<AcceptStatus>> names_of(AcceptStatus) {
  return kAcceptStatusNames;
}

/// reject_stat
enum class RejectStatus : std::uint32_t { RPC_MISMATCH = 0, AUTH_ERROR = 1 };
inline constexpr Named<RejectStatus> kRejectStatusNames[] = {
    {RejectStatus::RPC_MISMATCH, "RPC_MISMATCH"}, {RejectStatus::AUTH_ERROR, "AUTH_ERROR"}};
constexpr std::span<const Named<RejectStatus>> names_of(RejectStatus) {
  return kRejectStatusNames;
}

/// auth_stat
enum class AuthStatus : std::uint32_t {
  AUTH_OK = 0,
  AUTH_BADCRED = 1,
  AUTH_REJECTEDCRED = 2,
  AUTH_BADVERF = 3,
  AUTH_REJECTEDVERF = 4,
  AUTH_TOOWEAK = 5,
  AUTH_INVALIDRESP = 6,
  AUTH_FAILED = 7,
  AUTH_KERB_GENERIC = 8,
  AUTH_TIMEEXPIRE = 9,
  AUTH_TKT_FILE = 10,
  AUTH_DECODE = 11,
  AUTH_NET_ADDR = 12,
  RPCSEC_GSS_CREDPROBLEM = 13,
  RPCSEC_GSS_CTXPROBLEM = 14,
};
inline constexpr Named<AuthStatus> kAuthStatusNames[] = {
    {AuthStatus::AUTH_OK, "AUTH_OK"},
    {AuthStatus::AUTH_BADCRED, "AUTH_BADCRED"},
    {AuthStatus::AUTH_REJECTEDCRED, "AUTH_REJECTEDCRED"},
    {AuthStatus::AUTH_BADVERF, "AUTH_BADVERF"},
    {AuthStatus::AUTH_REJECTEDVERF, "AUTH_REJECTEDVERF"},
    {AuthStatus::AUTH_TOOWEAK, "AUTH_TOOWEAK"},
    {AuthStatus::AUTH_INVALIDRESP, "AUTH_INVALIDRESP"},
    {AuthStatus::AUTH_FAILED, "AUTH_FAILED"},
    {AuthStatus::AUTH_KERB_GENERIC, "AUTH_KERB_GENERIC"},
    {AuthStatus::AUTH_TIMEEXPIRE, "AUTH_TIMEEXPIRE"},
    {AuthStatus::AUTH_TKT_FILE, "AUTH_TKT_FILE"},
    {AuthStatus::AUTH_DECODE, "AUTH_DECODE"},
    {AuthStatus::AUTH_NET_ADDR, "AUTH_NET_ADDR"},
    {AuthStatus::RPCSEC_GSS_CREDPROBLEM, "RPCSEC_GSS_CREDPROBLEM"},
    {AuthStatus::RPCSEC_GSS_CTXPROBLEM, "RPCSEC_GSS_CTXPROBLEM"},
};
constexpr std::span<const Named<AuthStatus>> names_of(AuthStatus) {
  return kAuthStatusNames;
}

/// The header of a call. Another rpcvers than 2 is no fault, since a server answers it with
/// RPC_MISMATCH. Decoding then stops after rpcvers and leaves the other fields at their defaults.
struct CallHeader {
  std::uint32_t xid = 0;
  std::uint32_t rpcvers = kRpcVersion;
  std::uint32_t program = 0;
  std::uint32_t version = 0;
  std::uint32_t procedure = 0;
  OpaqueAuth credential{};
  OpaqueAuth verifier{};

  /// Leaves the reader at the first octet of the arguments. A REPLY is `bad_enum`.
  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields = Entries{Field{"xid", &CallHeader::xid},
                                          Field{"rpcvers", &CallHeader::rpcvers},
                                          Field{"program", &CallHeader::program},
                                          Field{"version", &CallHeader::version},
                                          Field{"procedure", &CallHeader::procedure},
                                          Field{"credential", &CallHeader::credential},
                                          Field{"verifier", &CallHeader::verifier}};
};

/// Lowest and highest version that the server supports (mismatch_info).
struct VersionRange {
  std::uint32_t low = 0;
  std::uint32_t high = 0;

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"low", &VersionRange::low}, Field{"high", &VersionRange::high}};
};

/// The header of a reply. `status` selects the arm. Encoding ignores members of other arms, and
/// decoding leaves their defaults.
struct ReplyHeader {
  std::uint32_t xid = 0;
  ReplyStatus status = ReplyStatus::MSG_ACCEPTED;
  // MSG_ACCEPTED
  OpaqueAuth verifier{};
  AcceptStatus accept_status = AcceptStatus::SUCCESS;
  // MSG_DENIED
  RejectStatus reject_status = RejectStatus::RPC_MISMATCH;
  AuthStatus auth_status = AuthStatus::AUTH_OK;
  /// With PROG_MISMATCH and RPC_MISMATCH.
  VersionRange mismatch{};

  /// Results follow this header.
  bool success() const {
    return status == ReplyStatus::MSG_ACCEPTED && accept_status == AcceptStatus::SUCCESS;
  }

  /// Leaves the reader at the first octet of the results. A CALL is `bad_enum`.
  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields = Entries{Field{"xid", &ReplyHeader::xid},
                                          Field{"status", &ReplyHeader::status},
                                          Field{"verifier", &ReplyHeader::verifier},
                                          Field{"accept_status", &ReplyHeader::accept_status},
                                          Field{"reject_status", &ReplyHeader::reject_status},
                                          Field{"auth_status", &ReplyHeader::auth_status},
                                          Field{"mismatch", &ReplyHeader::mismatch}};

  static ReplyHeader accepted(std::uint32_t xid, AcceptStatus accept_status);
  static ReplyHeader program_mismatch(std::uint32_t xid, VersionRange supported);
  static ReplyHeader rpc_mismatch(std::uint32_t xid, VersionRange supported);
  static ReplyHeader auth_error(std::uint32_t xid, AuthStatus auth_status);
};

}  // namespace steertag::rpc
