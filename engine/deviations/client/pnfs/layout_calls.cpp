// Deviations of the client: LAYOUTGET, LAYOUTCOMMIT, and what layouts are taken for.
// RFC 8881 12.2, 12.5 to 12.7, 18.42 to 18.44.
#include "deviations/client/client_compound.h"
#include "deviations/families.h"
#include "nfs/v4/layout_ops.h"

namespace steertag::deviations {
namespace {

using nfs4::LayoutIomode;
using nfs4::Opnum;
using peer::RequestStep;

constexpr auto kPrivateType = static_cast<nfs4::LayoutType>(0x80000000U);
constexpr std::uint32_t kInvented = 1000;  // above every seqid of a case

template <class Change>
void change_wish(RequestStep& step, Change change) {
  change_request<nfs4::LayoutgetArgs>(step, Opnum::OP_LAYOUTGET, change);
}

template <class Change>
void change_return(RequestStep& step, Change change) {
  change_request<nfs4::LayoutreturnArgs>(
      step, Opnum::OP_LAYOUTRETURN, [&](auto& args) { change(args.lora_layoutreturn.lr_layout); });
}

void ask_for_private_type(RequestStep& step, ClientHistory& /*history*/) {
  change_wish(step, [](auto& args) { args.loga_layout_type = kPrivateType; });
}

void commit_behind_last(RequestStep& step, ClientHistory& /*history*/) {
  change_request<nfs4::LayoutcommitArgs>(
      step, Opnum::OP_LAYOUTCOMMIT, [](auto& args) { ++args.loca_last_write_offset.no_offset; });
}

void ask_for_any_iomode(RequestStep& step, ClientHistory& /*history*/) {
  change_wish(step, [](auto& args) { args.loga_iomode = LayoutIomode::LAYOUTIOMODE4_ANY; });
}

void ask_for_writing(RequestStep& step, ClientHistory& /*history*/) {
  change_wish(step, [](auto& args) { args.loga_iomode = LayoutIomode::LAYOUTIOMODE4_RW; });
}

void ask_anonymously(RequestStep& step, ClientHistory& /*history*/) {
  change_wish(step, [](auto& args) { args.loga_stateid = {}; });
}

void commit_one_octet(RequestStep& step, ClientHistory& /*history*/) {
  change_request<nfs4::LayoutcommitArgs>(step, Opnum::OP_LAYOUTCOMMIT,
                                         [](auto& args) { args.loca_length = 1; });
}

void return_by_zero(RequestStep& step, ClientHistory& /*history*/) {
  change_return(step, [](auto& scope) { scope.lrf_stateid.seqid = 0; });
}

void return_by_invented(RequestStep& step, ClientHistory& /*history*/) {
  change_return(step, [](auto& scope) { scope.lrf_stateid.seqid += kInvented; });
}

constexpr Deviation kLayoutCalls[] = {
    {.name = "faulty-layout-used",
     .side = trace::Role::client,
     .breaks = {"RFC8881-13.3-8"},
     .sentence = "A layout with too few handles, or without a stripe unit, is used in some way.",
     .client = {.options =
                    [](peer::FileClientOptions& options) {
                      options.session.layouts.refuses_faults = false;
                    }}},
    {.name = "layout-type-private",
     .side = trace::Role::client,
     .breaks = {"RFC8881-3.3.13-1"},
     .sentence = "LAYOUTGET asks for the private layout type 0x80000000.",
     .client = {.request = ask_for_private_type}},
    {.name = "layout-iomode-any",
     .side = trace::Role::client,
     .breaks = {"RFC8881-12.2.9-1"},
     .sentence = "LAYOUTGET asks for LAYOUTIOMODE4_ANY.",
     .client = {.request = ask_for_any_iomode}},
    {.name = "layout-iomode-wider",
     .side = trace::Role::client,
     .breaks = {"RFC8881-13.8-1"},
     .sentence = "LAYOUTGET asks for LAYOUTIOMODE4_RW, whatever the file is open for.",
     .client = {.request = ask_for_writing}},
    {.name = "layoutget-by-special-stateid",
     .side = trace::Role::client,
     .breaks = {"RFC8881-12.5.2-1"},
     .sentence = "LAYOUTGET carries the anonymous stateid.",
     .client = {.request = ask_anonymously}},
    {.name = "layoutget-by-open-stateid",
     .side = trace::Role::client,
     .breaks = {"RFC8881-12.5.2-4"},
     .sentence = "A second LAYOUTGET of a file carries the stateid of its OPEN.",
     .client = {.options =
                    [](peer::FileClientOptions& options) {
                      options.session.layouts.asks_once = false;
                    }}},
    {.name = "layout-type-unchecked-by-client",
     .side = trace::Role::client,
     .breaks = {"RFC8881-12.2.7-2"},
     .sentence = "A layout, or device, of another type is taken for one of files.",
     .client = {.options =
                    [](peer::FileClientOptions& options) {
                      options.session.layouts.compares_type = false;
                    }}},
    {.name = "layouts-without-role",
     .side = trace::Role::client,
     .breaks = {"RFC8881-12.6-1"},
     .sentence = "Layouts are asked for from a server that is no metadata server.",
     .client = {.options =
                    [](peer::FileClientOptions& options) {
                      options.session.layouts.checks_role = false;
                    }}},
    {.name = "written-by-read-layout",
     .side = trace::Role::client,
     .breaks = {"RFC8881-12.5.1-1"},
     .sentence = "A layout for reading serves WRITE.",
     .client = {.options =
                    [](peer::FileClientOptions& options) {
                      options.session.layouts.heeds_iomode = false;
                    }}},
    {.name = "layouts-outlive-loss",
     .side = trace::Role::client,
     .breaks = {"RFC8881-12.7.2-2", "RFC8881-12.7.4-1", "RFC8881-12.2.10-3"},
     .sentence =
         "Layouts are used after a restart of the metadata server, and after their revocation.",
     .client = {.options =
                    [](peer::FileClientOptions& options) {
                      options.session.layouts.heeds_loss = false;
                    }}},
    {.name = "layout-commit-behind-return",
     .side = trace::Role::client,
     .breaks = {"RFC8881-12.5.4-1", "RFC8881-12.5.3-4"},
     .sentence = "LAYOUTCOMMIT follows the LAYOUTRETURN of all layouts.",
     .client = {.options =
                    [](peer::FileClientOptions& options) {
                      options.session.layouts.commits_first = false;
                    }}},
    {.name = "layout-commit-omitted",
     .side = trace::Role::client,
     .breaks = {"RFC8881-13.10-2"},
     .sentence = "What was written to data servers is committed without LAYOUTCOMMIT.",
     .client = {.options =
                    [](peer::FileClientOptions& options) {
                      options.session.layouts.commits_at_all = false;
                    }}},
    {.name = "layout-kept-at-close",
     .side = trace::Role::client,
     .breaks = {"RFC8881-18.43.3-9"},
     .sentence = "A layout is held behind the last close of its file.",
     .client = {.options =
                    [](peer::FileClientOptions& options) {
                      options.session.layouts.returns_at_close = false;
                    }}},
    {.name = "layout-commit-range-short",
     .side = trace::Role::client,
     .breaks = {"RFC8881-18.42.3-3"},
     .sentence = "LAYOUTCOMMIT names a range of one octet.",
     .client = {.request = commit_one_octet}},
    {.name = "layoutcommit-behind-last-octet",
     .side = trace::Role::client,
     .breaks = {"RFC8881-18.42.3-4"},
     .sentence = "LAYOUTCOMMIT names the octet behind the last that was written.",
     .client = {.request = commit_behind_last}},
    {.name = "layout-return-seqid-zero",
     .side = trace::Role::client,
     .breaks = {"RFC8881-18.44.3-3"},
     .sentence = "LAYOUTRETURN carries a layout stateid with seqid 0.",
     .client = {.request = return_by_zero}},
    {.name = "layout-return-seqid-invented",
     .side = trace::Role::client,
     .breaks = {"RFC8881-12.5.3-2"},
     .sentence = "LAYOUTRETURN carries a seqid that the server never gave.",
     .client = {.request = return_by_invented}},
};

}  // namespace

std::span<const Deviation> layout_calls_family() {
  return kLayoutCalls;
}

}  // namespace steertag::deviations
