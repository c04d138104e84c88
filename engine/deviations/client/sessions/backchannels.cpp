// Deviations of the client: how it requests a backchannel, and how it reacts to a lost one.
// RFC 8881 2.10.3.1.
#include "deviations/client/client_compound.h"
#include "deviations/families.h"

namespace steertag::deviations {
namespace {

using nfs4::Opnum;

constexpr std::uint32_t kPathDown =
    nfs4::SEQ4_STATUS_CB_PATH_DOWN | nfs4::SEQ4_STATUS_CB_PATH_DOWN_SESSION;
constexpr std::uint32_t kLongCall = 1U << 16;

template <std::uint32_t kFlags>
void hide_flags(ArrivingMessage& arriving) {
  change_arrived<nfs4::SequenceResult>(
      arriving, Opnum::OP_SEQUENCE,
      [](std::uint32_t, nfs4::SequenceOk& ok) { ok.sr_status_flags &= ~kFlags; });
}

void hide_from_client(ArrivingMessage& arriving) {
  hide_flags<kPathDown>(arriving);
  change_arrived<nfs4::CreateSessionResult>(
      arriving, Opnum::OP_CREATE_SESSION, [](std::uint32_t, nfs4::CreateSessionOk& ok) {
        ok.csr_flags &= ~std::uint32_t{nfs4::CREATE_SESSION4_FLAG_CONN_BACK_CHAN};
      });
}

void add_to_bind(peer::RequestStep& step, ClientHistory& /*history*/) {
  if (!step.again && find_arguments(step.request.stream, Opnum::OP_BIND_CONN_TO_SESSION))
    append_operation(step, Opnum::OP_PUTROOTFH);
}

void leave_security_out(peer::RequestStep& step, ClientHistory& /*history*/) {
  if (step.again) return;
  change_request<nfs4::CreateSessionArgs>(step, Opnum::OP_CREATE_SESSION,
                                          [](auto& args) { args.csa_sec_parms.clear(); });
}

void promise_long(peer::RequestStep& step, ClientHistory& /*history*/) {
  if (step.again) return;
  change_request<nfs4::CreateSessionArgs>(step, Opnum::OP_CREATE_SESSION, [](auto& args) {
    args.csa_back_chan_attrs.ca_maxrequestsize = kLongCall;
  });
}

constexpr Deviation kBackchannels[] = {
    {.name = "path-down-ignored",
     .side = trace::Role::client,
     .breaks = {"RFC8881-2.10.6.2-6"},
     .sentence = "SEQ4_STATUS_CB_PATH_DOWN and _CB_PATH_DOWN_SESSION have no effect.",
     .client = {.arrival = hide_flags<kPathDown>}},
    {.name = "back-channel-fault-ignored",
     .side = trace::Role::client,
     .breaks = {"RFC8881-18.46.3-6"},
     .sentence = "SEQ4_STATUS_BACKCHANNEL_FAULT has no effect.",
     .client = {.arrival = hide_flags<nfs4::SEQ4_STATUS_BACKCHANNEL_FAULT>}},
    {.name = "lost-back-channel-not-bound",
     .side = trace::Role::client,
     .breaks = {"RFC8881-2.10.13.1.2-2"},
     .sentence = "A backchannel that was lost with its connection is not bound to the next one.",
     .client = {.arrival = hide_from_client}},
    {.name = "bind-not-alone",
     .side = trace::Role::client,
     .breaks = {"RFC8881-18.34.3-1"},
     .sentence = "Another operation follows BIND_CONN_TO_SESSION.",
     .client = {.request = add_to_bind}},
    {.name = "callback-security-untold",
     .side = trace::Role::client,
     .breaks = {"RFC8881-2.10.11.3-1"},
     .sentence = "A backchannel is asked for without csa_sec_parms.",
     .client = {.request = leave_security_out}},
    {.name = "long-callbacks-promised",
     .side = trace::Role::client,
     .breaks = {"RFC8267-6.5.2-5"},
     .sentence = "The backchannel is asked for with calls of 64 KiB.",
     .client = {.request = promise_long}},
};

}  // namespace

std::span<const Deviation> backchannels_family() {
  return kBackchannels;
}

}  // namespace steertag::deviations
