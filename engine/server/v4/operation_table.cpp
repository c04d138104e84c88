// The operations that the server has.
#include "server/v4/operation_table.h"

#include <algorithm>

#include "server/v4/file_operations.h"
#include "server/v4/pnfs/pnfs_operations.h"
#include "server/v4/state_operations.h"

namespace steertag::peer {
namespace {

using nfs4::Opnum;

/// Puts the eligible item of the result just added behind it: its last word is the item's count,
/// which is still zero.
void add_item(const ResultItem& item, ReplyPayload& reply) {
  Bytes& stream = reply.stream();
  wire::store_u32(stream.data() + stream.size() - 4, item.length);
  reply.add_item(item.first_slice, item.length);
}

/// Runs a handler: its types follow from its signature.
template <auto kHandler>
struct Runner;
template <class Args, class Result, void (*kHandler)(const Args&, CompoundCall&, Result&)>
struct Runner<kHandler> {
  template <Opnum kNumber>
  static void run(wire::Reader& arguments, CompoundCall& call, CompoundReplyWriter& reply) {
    Args args{};
    args.decode(arguments);
    if (!arguments.ok()) return reply.add_status(kNumber, nfs4::Status::NFS4ERR_BADXDR);
    call.scratch.clear();
    call.item.reset();
    Result result{};
    kHandler(args, call, result);
    reply.add(kNumber, result);
    if (call.item && reply.status() == nfs4::Status::NFS4_OK) add_item(*call.item, call.reply);
  }
};

/// The answer to an operation that the server does not have (RFC 8881 17).
template <Opnum kNumber>
void refuse(wire::Reader& arguments, CompoundCall& /*call*/, CompoundReplyWriter& reply) {
  const bool decoded = nfs4::skip_arguments(arguments, kNumber);
  reply.add_status(kNumber, decoded ? nfs4::Status::NFS4ERR_NOTSUPP : nfs4::Status::NFS4ERR_BADXDR);
}

template <Opnum kNumber, auto kHandler>
constexpr Operation row(OperationPosition position = OperationPosition::in_session,
                        std::size_t largest_result = 0, std::uint32_t last_minorversion = 1) {
  return {kNumber, position, &Runner<kHandler>::template run<kNumber>, largest_result,
          last_minorversion};
}
template <Opnum kNumber, auto kHandler>
constexpr Operation changing(std::size_t largest_result, std::uint32_t last_minorversion = 1) {
  return row<kNumber, kHandler>(OperationPosition::in_session, largest_result, last_minorversion);
}
template <Opnum kNumber, auto kHandler>
constexpr Operation old(std::size_t largest_result = 0) {
  return row<kNumber, kHandler>(OperationPosition::in_session, largest_result, 0);
}
template <Opnum kNumber>
constexpr Operation refused() {
  return {kNumber, OperationPosition::in_session, &refuse<kNumber>};
}

// Octets of results.
constexpr std::size_t kStatusBytes = 4 + 4;  // with the number
constexpr std::size_t kStateIdBytes = kStatusBytes + 16;
constexpr std::size_t kCinfoBytes = 4 + 8 + 8;
constexpr std::size_t kBitmapBytes = 4 + 3 * 4;  // trimmed, however many words the client has sent
// RFC 8881 2.10.6.4: without its filehandle what was made is of no use.
constexpr std::size_t kGetfhBytes = kStatusBytes + 4 + kHandleBytes;
constexpr std::size_t kWhoBytes = 4 + 16;
// open_delegation4: type, stateid, recall, limit of a write delegation, nfsace4.
constexpr std::size_t kDelegationBytes = 4 + 16 + 4 + 12 + 12 + kWhoBytes;
constexpr std::size_t kOpenBytes =
    kStateIdBytes + kCinfoBytes + 4 + kBitmapBytes + kDelegationBytes + kGetfhBytes;

constexpr Operation kOperations[] = {
    row<Opnum::OP_ACCESS, op_access>(),
    changing<Opnum::OP_CLOSE, op_close>(kStateIdBytes),
    row<Opnum::OP_COMMIT, op_commit>(),
    changing<Opnum::OP_CREATE, op_create>(kStatusBytes + kCinfoBytes + kBitmapBytes + kGetfhBytes),
    row<Opnum::OP_DELEGPURGE, op_delegpurge>(),
    changing<Opnum::OP_DELEGRETURN, op_delegreturn>(kStatusBytes),
    row<Opnum::OP_GETATTR, op_getattr>(),
    row<Opnum::OP_GETFH, op_getfh>(),
    changing<Opnum::OP_LINK, op_link>(kStatusBytes + kCinfoBytes),
    changing<Opnum::OP_LOCK, op_lock>(kStateIdBytes),
    row<Opnum::OP_LOCKT, op_lockt>(),
    changing<Opnum::OP_LOCKU, op_locku>(kStateIdBytes),
    row<Opnum::OP_LOOKUP, op_lookup>(),
    row<Opnum::OP_LOOKUPP, op_lookupp>(),
    row<Opnum::OP_NVERIFY, op_nverify>(),
    changing<Opnum::OP_OPEN, op_open>(kOpenBytes),
    refused<Opnum::OP_OPENATTR>(),
    old<Opnum::OP_OPEN_CONFIRM, op_open_confirm>(kStateIdBytes),
    changing<Opnum::OP_OPEN_DOWNGRADE, op_open_downgrade>(kStateIdBytes),
    row<Opnum::OP_PUTFH, op_putfh>(),
    row<Opnum::OP_PUTPUBFH, op_putrootfh>(),  // RFC 8881 18.20.3: both may be the same
    row<Opnum::OP_PUTROOTFH, op_putrootfh>(),
    row<Opnum::OP_READ, op_read>(),
    row<Opnum::OP_READDIR, op_readdir>(),
    row<Opnum::OP_READLINK, op_readlink>(),
    changing<Opnum::OP_REMOVE, op_remove>(kStatusBytes + kCinfoBytes),
    changing<Opnum::OP_RENAME, op_rename>(kStatusBytes + 2 * kCinfoBytes),
    old<Opnum::OP_RENEW, op_renew>(),
    row<Opnum::OP_RESTOREFH, op_restorefh>(),
    row<Opnum::OP_SAVEFH, op_savefh>(),
    row<Opnum::OP_SECINFO, op_secinfo>(),
    changing<Opnum::OP_SETATTR, op_setattr>(kStatusBytes + kBitmapBytes),
    old<Opnum::OP_SETCLIENTID, op_setclientid>(),
    old<Opnum::OP_SETCLIENTID_CONFIRM, op_setclientid_confirm>(),
    row<Opnum::OP_VERIFY, op_verify>(),
    changing<Opnum::OP_WRITE, op_write>(kStatusBytes + 4 + 4 + nfs4::kVerifierOctets),
    old<Opnum::OP_RELEASE_LOCKOWNER, op_release_lockowner>(),
    row<Opnum::OP_BACKCHANNEL_CTL, op_backchannel_ctl>(),
    row<Opnum::OP_BIND_CONN_TO_SESSION, op_bind_conn_to_session>(OperationPosition::alone),
    row<Opnum::OP_EXCHANGE_ID, op_exchange_id>(OperationPosition::either),
    row<Opnum::OP_CREATE_SESSION, op_create_session>(OperationPosition::either),
    row<Opnum::OP_DESTROY_SESSION, op_destroy_session>(OperationPosition::either, kStatusBytes),
    changing<Opnum::OP_FREE_STATEID, op_free_stateid>(kStatusBytes),
    refused<Opnum::OP_GET_DIR_DELEGATION>(),
    row<Opnum::OP_GETDEVICEINFO, op_getdeviceinfo>(),
    row<Opnum::OP_GETDEVICELIST, op_getdevicelist>(),
    changing<Opnum::OP_LAYOUTCOMMIT, op_layoutcommit>(kStatusBytes + 4 + 8),
    row<Opnum::OP_LAYOUTGET, op_layoutget>(),  // looks for room itself
    changing<Opnum::OP_LAYOUTRETURN, op_layoutreturn>(kStateIdBytes + 4),
    row<Opnum::OP_SECINFO_NO_NAME, op_secinfo_no_name>(),
    row<Opnum::OP_SEQUENCE, op_sequence>(OperationPosition::first),
    refused<Opnum::OP_SET_SSV>(),
    row<Opnum::OP_TEST_STATEID, op_test_stateid>(),
    refused<Opnum::OP_WANT_DELEGATION>(),
    row<Opnum::OP_DESTROY_CLIENTID, op_destroy_clientid>(OperationPosition::either),
    changing<Opnum::OP_RECLAIM_COMPLETE, op_reclaim_complete>(kStatusBytes),
};

// PUTPUBFH and PUTROOTFH share their handler, so that the order is the only thing to get wrong.
constexpr bool is_dense() {
  auto number = static_cast<std::uint32_t>(Opnum::OP_ACCESS);
  for (const Operation& operation : kOperations) {
    if (static_cast<std::uint32_t>(operation.number) != number++) return false;
  }
  return true;
}
static_assert(is_dense(), "rows are found by their number");

/// The second subset of RFC 8881 13.6.
constexpr Operation kDataServerIo[] = {
    row<Opnum::OP_COMMIT, op_commit_component>(),
    row<Opnum::OP_PUTFH, op_put_component>(),
    row<Opnum::OP_READ, op_read_component>(),
    changing<Opnum::OP_WRITE, op_write_component>(kStatusBytes + 4 + 4 + nfs4::kVerifierOctets),
};
/// The first one, housekeeping.
constexpr Opnum kHousekeeping[] = {
    Opnum::OP_BACKCHANNEL_CTL, Opnum::OP_BIND_CONN_TO_SESSION,
    Opnum::OP_CREATE_SESSION,  Opnum::OP_DESTROY_CLIENTID,
    Opnum::OP_DESTROY_SESSION, Opnum::OP_EXCHANGE_ID,
    Opnum::OP_SECINFO_NO_NAME, Opnum::OP_SET_SSV,
    Opnum::OP_SEQUENCE,
};

}  // namespace

const Operation* find_operation(nfs4::Opnum number) {
  const auto at = static_cast<std::uint32_t>(number) - static_cast<std::uint32_t>(Opnum::OP_ACCESS);
  return at < std::size(kOperations) ? &kOperations[at] : nullptr;
}

const Operation* find_data_server_operation(nfs4::Opnum number) {
  const auto io = std::ranges::find(kDataServerIo, number, &Operation::number);
  if (io != std::end(kDataServerIo)) return io;
  const bool kept = std::ranges::find(kHousekeeping, number) != std::end(kHousekeeping);
  return kept ? find_operation(number) : nullptr;
}

}  // namespace steertag::peer
