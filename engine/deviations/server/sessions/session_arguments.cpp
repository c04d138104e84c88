// Deviations in what the server makes of the arguments of operations on sessions.
#include "deviations/families.h"
#include "deviations/server/compound.h"
#include "nfs/v4/session_ops.h"

namespace steertag::deviations {
namespace {

using nfs4::Opnum;
using nfs4::Status;

/// Without the credentials of RPCSEC_GSS.
void drop_handles(std::vector<nfs4::CallbackSecParms>& parms) {
  std::erase_if(parms, [](const nfs4::CallbackSecParms& each) {
    return each.cb_secflavor == nfs4::CallbackFlavor::RPCSEC_GSS;
  });
}

void refuse_high_slot(peer::CallStep& call) {
  bool above_own = false;
  change_arguments<nfs4::SequenceArgs>(call, Opnum::OP_SEQUENCE, [&](auto& args) {
    above_own = args.sa_highest_slotid > args.sa_slotid;
  });
  if (above_own) refuse(call, Opnum::OP_SEQUENCE, Status::NFS4ERR_BAD_HIGH_SLOT);
}

void refuse_tcp(peer::CallStep& call) {
  if (!call.rdma && find_arguments(message_of(call), Opnum::OP_BIND_CONN_TO_SESSION))
    refuse(call, Opnum::OP_BIND_CONN_TO_SESSION, Status::NFS4ERR_INVAL);
}

void find_by_half(peer::CallStep& call, SessionTable& sessions) {
  change_arguments<nfs4::SequenceArgs>(call, Opnum::OP_SEQUENCE, [&](auto& args) {
    args.sa_sessionid = sessions.with_end_of(args.sa_sessionid).value_or(args.sa_sessionid);
  });
}

constexpr Deviation kSessionArguments[] = {
    {.name = "session-known-by-half",
     .breaks = {"RFC8881-2.10.13.1.4-1"},
     .sentence = "SEQUENCE finds a session by the last eight octets of its ID.",
     .server = {.session_call = find_by_half},
     .script_shows = false},
    {.name = "high-slot-refused",
     .breaks = {"RFC8881-15.1.11.3-1"},
     .sentence = "A highest slot above the request's own gets NFS4ERR_BAD_HIGH_SLOT.",
     .server = {.call = refuse_high_slot},
     .script_shows = false},
    {.name = "other-transport-refused",
     .breaks = {"RFC8881-2.10.3.1-1", "RFC8881-2.10.3.1-3"},
     .sentence = "A session takes no connection over TCP.",
     .server = {.call = refuse_tcp},
     .script_shows = false},
    {.name = "data-server-transport-refused",
     .breaks = {"RFC8881-2.10.3.1-1"},
     .sentence = "A session at a data server takes no connection over TCP.",
     .server = {.call = refuse_tcp},
     .script_shows = false,
     .at_data_servers = true},
    {.name = "bind-direction-ignored",
     .breaks = {"RFC8881-18.34.3-2"},
     .sentence = "A connection that is bound to the fore channel gets both.",
     .server = {.call =
                    [](peer::CallStep& call) {
                      change_arguments<nfs4::BindConnToSessionArgs>(
                          call, Opnum::OP_BIND_CONN_TO_SESSION, [](auto& args) {
                            if (args.bctsa_dir == nfs4::ChannelDirFromClient::CDFC4_FORE)
                              args.bctsa_dir = nfs4::ChannelDirFromClient::CDFC4_FORE_OR_BOTH;
                          });
                    }},
     .script_shows = false},
    {.name = "control-handle-accepted",
     .breaks = {"RFC8881-18.33.3-3"},
     .sentence = "BACKCHANNEL_CTL accepts RPCSEC_GSS handles that the server never gave.",
     .server = {.call =
                    [](peer::CallStep& call) {
                      change_arguments<nfs4::BackchannelCtlArgs>(
                          call, Opnum::OP_BACKCHANNEL_CTL,
                          [](auto& args) { drop_handles(args.bca_sec_parms); });
                    }},
     .script_shows = false},
    {.name = "create-handle-accepted",
     .breaks = {"RFC8881-18.36.3-17"},
     .sentence = "CREATE_SESSION accepts RPCSEC_GSS handles that the server never gave.",
     .server = {.call =
                    [](peer::CallStep& call) {
                      change_arguments<nfs4::CreateSessionArgs>(
                          call, Opnum::OP_CREATE_SESSION, [](auto& args) {
                            drop_handles(args.csa_sec_parms);
                            if (args.csa_sec_parms.empty()) args.csa_sec_parms.emplace_back();
                          });
                    }},
     .script_shows = false},
};

}  // namespace

std::span<const Deviation> session_arguments_family() {
  return kSessionArguments;
}

}  // namespace steertag::deviations
