// Deviations in GETDEVICEINFO and GETDEVICELIST, and in the bodies of file layouts (RFC 8881 13.3).
#include <deque>
#include <string>

#include "deviations/families.h"
#include "deviations/server/compound.h"
#include "nfs/v4/file_layout.h"
#include "nfs/v4/layout_ops.h"
#include "rpc/rpcbind.h"
#include "wire/encoded.h"

namespace steertag::deviations {
namespace {

using nfs4::Opnum;
using nfs4::Status;

constexpr std::uint32_t kOneUnitMore = 0x10000;  // octets of a stripe unit
// Each data server has two units of a stripe.
constexpr std::string_view kDense = "--packing=dense --stripe-turns=2";

/// `change(Body&)` of what `octets` has; the octets of the result live in `kept`.
template <class Body, class Change>
void change_body(View& octets, Bytes& kept, Change change) {
  wire::Reader reader(octets);
  Body body;
  body.decode(reader);
  if (!reader.ok()) return;
  change(body);
  kept = wire::encoded(body);
  octets = kept;
}

/// `change(FileLayout&, iomode)` of the first layout of a LAYOUTGET.
template <class Change>
void change_file_layout(peer::ReplyStep& reply, Change change) {
  Bytes kept;
  change_result<nfs4::LayoutgetResult>(reply, Opnum::OP_LAYOUTGET, [&](auto& result) {
    if (result.status != Status::NFS4_OK || result.resok4.logr_layout.empty()) return;
    nfs4::Layout& layout = result.resok4.logr_layout.front();
    change_body<nfs4::FileLayout>(layout.lo_content.loc_body, kept,
                                  [&](auto& body) { change(body, layout.lo_iomode); });
  });
}

/// `change(FileLayoutDevice&)` of a GETDEVICEINFO.
template <class Change>
void change_device(peer::ReplyStep& reply, Change change) {
  Bytes kept;
  change_result<nfs4::GetdeviceinfoResult>(reply, Opnum::OP_GETDEVICEINFO, [&](auto& result) {
    View& body = result.resok4.gdir_device_addr.da_addr_body;
    if (result.status == Status::NFS4_OK && !body.empty())
      change_body<nfs4::FileLayoutDevice>(body, kept, change);
  });
}

/// `change(NetAddr&)` of each address of a GETDEVICEINFO.
template <class Change>
void change_addresses(peer::ReplyStep& reply, Change change) {
  change_device(reply, [&](nfs4::FileLayoutDevice& device) {
    for (auto& list : device.nflda_multipath_ds_list) {
      for (auto& each : list.addresses) change(each);
    }
  });
}

using Texts = std::deque<std::string>;  // which stay where they are

/// Where the port begins in a universal address, with its dot.
std::size_t behind_host(std::string_view address) {
  return address.rfind('.', address.rfind('.') - 1);
}

/// GETDEVICEINFO finds no device once the session has returned a layout.
void forget_returned_device(peer::ReplyStep& reply, SessionTable& sessions) {
  const SessionHistory* session = sessions.session_of(reply.call);
  if (!session || !session->returned_layout) return;
  change_result<nfs4::GetdeviceinfoResult>(
      reply, Opnum::OP_GETDEVICEINFO, [](auto& result) { result.status = Status::NFS4ERR_NOENT; });
}

/// GETDEVICEINFO of a device gets NFS4ERR_INVAL before the session has got a layout.
void refuse_other_clients_device(peer::ReplyStep& reply, SessionTable& sessions) {
  const SessionHistory* session = sessions.session_of(reply.call);
  if (!session || session->got_layout) return;
  change_result<nfs4::GetdeviceinfoResult>(
      reply, Opnum::OP_GETDEVICEINFO, [](auto& result) { result.status = Status::NFS4ERR_INVAL; });
}

/// `change(GetdevicelistResult&)` of a GETDEVICELIST with a cookie of 0, and a verifier.
template <class Change>
void change_first_list(peer::ReplyStep& reply, Change change) {
  const auto args = arguments_of<nfs4::GetdevicelistArgs>(reply.call, Opnum::OP_GETDEVICELIST);
  const bool first = args && args->gdla_cookie == 0 && args->gdla_cookieverf != nfs4::Verifier{};
  if (first) change_result<nfs4::GetdevicelistResult>(reply, Opnum::OP_GETDEVICELIST, change);
}

constexpr Deviation kDevices[] = {
    {.name = "stripe-index-beyond",
     .breaks = {"RFC8881-13.3-1"},
     .sentence = "A stripe index is the number of multipath lists.",
     .server = {.reply =
                    [](peer::ReplyStep& reply) {
                      change_device(reply, [](nfs4::FileLayoutDevice& device) {
                        device.nflda_stripe_indices.back() =
                            static_cast<std::uint32_t>(device.nflda_multipath_ds_list.size());
                      });
                    }},
     .script_shows = false},
    {.name = "multipath-list-unused",
     .breaks = {"RFC8881-13.3-2"},
     .sentence = "No stripe index names the last multipath list.",
     .server = {.reply =
                    [](peer::ReplyStep& reply) {
                      change_device(reply, [](nfs4::FileLayoutDevice& device) {
                        device.nflda_stripe_indices.back() = 0;
                      });
                    }},
     .script_shows = false},
    {.name = "device-address-plain",
     .breaks = {"RFC5665-5.2.3.3-1"},
     .sentence = "The universal address of a data server lacks its last number.",
     .server = {.reply =
                    [](peer::ReplyStep& reply) {
                      change_device(reply, [](nfs4::FileLayoutDevice& device) {
                        for (auto& list : device.nflda_multipath_ds_list) {
                          for (auto& each : list.addresses)
                            each.na_r_addr = each.na_r_addr.substr(0, each.na_r_addr.rfind('.'));
                        }
                      });
                    }},
     .script_shows = false},
    {.name = "device-address-bracketed",
     .breaks = {"RFC5665-5.2.3.4-1"},
     .sentence = "IPv6 addresses of data servers are in brackets.",
     .server = {.reply =
                    [](peer::ReplyStep& reply) {
                      Texts kept;
                      change_addresses(reply, [&](nfs4::NetAddr& each) {
                        const std::size_t port = behind_host(each.na_r_addr);
                        if (each.na_r_addr.find(':') == std::string_view::npos) return;
                        each.na_r_addr =
                            kept.emplace_back("[" + std::string(each.na_r_addr.substr(0, port)) +
                                              "]" + std::string(each.na_r_addr.substr(port)));
                      });
                    }},
     .script_shows = false,
     .argument = "--listen=iwarp://[::1]:0"},
    {.name = "device-port-number",
     .breaks = {"RFC8881-3.3.9-1"},
     .sentence = "The address of a data server ends in its port as one number.",
     .server = {.reply =
                    [](peer::ReplyStep& reply) {
                      Texts kept;
                      change_addresses(reply, [&](nfs4::NetAddr& each) {
                        const auto port = rpcbind::port_of(each.na_r_addr);
                        if (!port) return;
                        each.na_r_addr = kept.emplace_back(
                            std::string(each.na_r_addr.substr(0, behind_host(each.na_r_addr))) +
                            "." + std::to_string(*port));
                      });
                    }},
     .script_shows = false},
    {.name = "stripe-unit-zero",
     .breaks = {"RFC8881-13.3-3"},
     .sentence = "nfl_util has no stripe unit.",
     .server = {.reply =
                    [](peer::ReplyStep& reply) {
                      change_file_layout(reply, [](nfs4::FileLayout& layout, auto /*iomode*/) {
                        layout.nfl_util &= nfs4::kLayoutFlags;
                      });
                    }},
     .script_shows = false},
    {.name = "layout-handle-extra",
     .breaks = {"RFC8881-13.3-4"},
     .sentence = "A layout has one filehandle more than data servers.",
     .server = {.reply =
                    [](peer::ReplyStep& reply) {
                      change_file_layout(reply, [](nfs4::FileLayout& layout, auto /*iomode*/) {
                        layout.nfl_fh_list.push_back(nfs4::FileHandle(layout.nfl_fh_list.front()));
                      });
                    }},
     .script_shows = false},
    {.name = "layout-handle-of-open",
     .breaks = {"RFC8881-13.1-5"},
     .sentence = "Layouts have the filehandle of OPEN.",
     .server = {.reply =
                    [](peer::ReplyStep& reply) {
                      change_file_layout(reply, [](nfs4::FileLayout& layout, auto /*iomode*/) {
                        for (nfs4::FileHandle& each : layout.nfl_fh_list)
                          each = nfs4::FileHandle(each.view().first(peer::kHandleBytes));
                      });
                    }},
     .script_shows = false},
    {.name = "dense-handle-missing",
     .breaks = {"RFC8881-13.3-5"},
     .sentence = "With dense packing a layout has one filehandle less than stripe indices.",
     .server = {.reply =
                    [](peer::ReplyStep& reply) {
                      change_file_layout(reply, [](nfs4::FileLayout& layout, auto /*iomode*/) {
                        layout.nfl_fh_list.pop_back();
                      });
                    }},
     .script_shows = false,
     .argument = kDense},
    {.name = "dense-handle-repeated",
     .breaks = {"RFC8881-13.3-5"},
     .sentence = "With dense packing a data server has one filehandle for two stripe units.",
     .server = {.reply =
                    [](peer::ReplyStep& reply) {
                      change_file_layout(reply, [](nfs4::FileLayout& layout, auto /*iomode*/) {
                        const std::size_t half = layout.nfl_fh_list.size() / 2;
                        for (std::size_t i = 0; i < half; ++i)
                          layout.nfl_fh_list[half + i] = layout.nfl_fh_list[i];
                      });
                    }},
     .script_shows = false,
     .argument = kDense},
    {.name = "stripe-unit-by-iomode",
     .breaks = {"RFC8881-13.3-6"},
     .sentence = "Layouts for reading have a larger stripe unit than those for writing.",
     .server = {.reply =
                    [](peer::ReplyStep& reply) {
                      change_file_layout(reply, [](nfs4::FileLayout& layout, auto iomode) {
                        if (iomode == nfs4::LayoutIomode::LAYOUTIOMODE4_READ)
                          layout.nfl_util += kOneUnitMore;
                      });
                    }},
     .script_shows = false},
    {.name = "device-mincount-small",
     .breaks = {"RFC8881-18.40.3-1"},
     .sentence = "gdir_mincount is too small for the device.",
     .server = {.reply =
                    [](peer::ReplyStep& reply) {
                      change_result<nfs4::GetdeviceinfoResult>(
                          reply, Opnum::OP_GETDEVICEINFO, [](auto& result) {
                            if (result.status == Status::NFS4ERR_TOOSMALL) result.gdir_mincount = 8;
                          });
                    }},
     .script_shows = false},
    {.name = "unknown-device-invalid",
     .breaks = {"RFC8881-18.40.3-1", "RFC8881-18.40.3-2"},
     .sentence = "GETDEVICEINFO of an unknown device gets NFS4ERR_INVAL.",
     .server = {.reply =
                    [](peer::ReplyStep& reply) {
                      change_result<nfs4::GetdeviceinfoResult>(
                          reply, Opnum::OP_GETDEVICEINFO, [](auto& result) {
                            if (result.status == Status::NFS4ERR_NOENT)
                              result.status = Status::NFS4ERR_INVAL;
                          });
                    }},
     .script_shows = false},
    {.name = "device-id-reused",
     .breaks = {"RFC8881-12.2.10-1"},
     .sentence = "The device is deleted with the client's last layout, and the next one names it.",
     .server = {.options =
                    [](peer::ServerOptions& options) { options.pnfs_policy.keeps_device = false; }},
     .script_shows = false},
    {.name = "device-deleted-at-return",
     .breaks = {"RFC8881-18.43.4-1"},
     .sentence = "The first LAYOUTRETURN deletes the device, whatever other layouts there are.",
     .server = {.session_reply = forget_returned_device},
     .script_shows = false},
    {.name = "device-maxcount-zero-refused",
     .breaks = {"RFC8881-18.40.3-2"},
     .sentence = "GETDEVICEINFO with gdia_maxcount 0 gets NFS4ERR_TOOSMALL.",
     .server = {.call =
                    [](peer::CallStep& call) {
                      change_arguments<nfs4::GetdeviceinfoArgs>(
                          call, Opnum::OP_GETDEVICEINFO, [](auto& args) {
                            args.gdia_maxcount = std::max(args.gdia_maxcount, 1U);
                          });
                    }},
     .script_shows = false},
    {.name = "devicelist-zero-taken",
     .breaks = {"RFC8881-18.41.3-1"},
     .sentence = "GETDEVICELIST takes gdla_maxdevices 0.",
     .server = {.call =
                    [](peer::CallStep& call) {
                      change_arguments<nfs4::GetdevicelistArgs>(
                          call, Opnum::OP_GETDEVICELIST, [](auto& args) {
                            args.gdla_maxdevices = std::max(args.gdla_maxdevices, 1U);
                          });
                    }},
     .script_shows = false},
    {.name = "devicelist-verifier-checked",
     .breaks = {"RFC8881-18.41.3-1"},
     .sentence = "GETDEVICELIST with gdla_cookie 0 and a verifier gets NFS4ERR_NOT_SAME.",
     .server = {.reply =
                    [](peer::ReplyStep& reply) {
                      change_first_list(
                          reply, [](auto& result) { result.status = Status::NFS4ERR_NOT_SAME; });
                    }},
     .script_shows = false},
    {.name = "devicelist-too-long",
     .breaks = {"RFC8881-18.41.3-1"},
     .sentence = "GETDEVICELIST gives one device ID more than gdla_maxdevices.",
     .server = {.reply =
                    [](peer::ReplyStep& reply) {
                      change_result<nfs4::GetdevicelistResult>(
                          reply, Opnum::OP_GETDEVICELIST, [](auto& result) {
                            auto& list = result.resok4.gdlr_deviceid_list;
                            if (!list.empty()) list.push_back(nfs4::DeviceId(list.back()));
                          });
                    }},
     .script_shows = false},
    {.name = "devicelist-endless",
     .breaks = {"RFC8881-18.41.3-1"},
     .sentence = "gdlr_eof of GETDEVICELIST is never TRUE.",
     .server = {.reply =
                    [](peer::ReplyStep& reply) {
                      change_result<nfs4::GetdevicelistResult>(
                          reply, Opnum::OP_GETDEVICELIST,
                          [](auto& result) { result.resok4.gdlr_eof = false; });
                    }},
     .script_shows = false},
    {.name = "other-clients-device-invalid",
     .breaks = {"RFC8881-18.40.3-1"},
     .sentence = "GETDEVICEINFO gets NFS4ERR_INVAL before the client has got a layout.",
     .server = {.session_reply = refuse_other_clients_device},
     .script_shows = false},
    {.name = "device-notifications-refused",
     .breaks = {"RFC8881-12.2.10-2"},
     .sentence = "GETDEVICEINFO promises no notifications.",
     .server = {.reply =
                    [](peer::ReplyStep& reply) {
                      change_result<nfs4::GetdeviceinfoResult>(
                          reply, Opnum::OP_GETDEVICEINFO,
                          [](auto& result) { result.resok4.gdir_notification = {}; });
                    }},
     .script_shows = false},
    {.name = "device-notification-unasked",
     .breaks = {"RFC8881-12.2.10-2"},
     .sentence = "GETDEVICEINFO promises notifications that were not asked for.",
     .server = {.reply =
                    [](peer::ReplyStep& reply) {
                      change_result<nfs4::GetdeviceinfoResult>(
                          reply, Opnum::OP_GETDEVICEINFO,
                          [](auto& result) { result.resok4.gdir_notification.set(1); });
                    }},
     .script_shows = false},
};

}  // namespace

std::span<const Deviation> devices_family() {
  return kDevices;
}

}  // namespace steertag::deviations
