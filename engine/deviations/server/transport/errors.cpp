// Deviations in RDMA_ERROR messages.
#include "deviations/families.h"

namespace steertag::deviations {
namespace {

/// The code stays the fifth word. `draft` would leave it out with an rdma_proc that has no code.
void change_procedure(Departing& error) {
  if (!error.is_error(wire::ErrorCode::chunk)) return;
  constexpr std::size_t kProcAt = 12;
  Bytes message;
  wire::encode(error.draft, message);
  message[kProcAt + 3] = std::byte{5};
  error.draft.cut_to = 0;
  error.draft.append = std::move(message);
}

constexpr Deviation kFamily[] = {
    {.name = "version-range-wrong",
     .breaks = {"RFC8166-4.5.1-1"},
     .sentence = "ERR_VERS names the versions 2 to 3.",
     .server = {.departure =
                    [](Departing& error) {
                      if (error.is_error(wire::ErrorCode::vers))
                        error.draft.vers_low = 2, error.draft.vers_high = 3;
                    }}},
    {.name = "version-range-swapped",
     .breaks = {"RFC8166-4.1.2-10"},
     .sentence = "ERR_VERS carries the highest version before the lowest.",
     .server = {.departure =
                    [](Departing& error) {
                      if (error.is_error(wire::ErrorCode::vers))
                        error.draft.vers_low = 1, error.draft.vers_high = 0;
                    }}},
    {.name = "version-error-own-vers",
     .breaks = {"RFC8166-4.5-5"},
     .sentence = "ERR_VERS carries 1 in rdma_vers whatever the call carried.",
     .server = {.departure =
                    [](Departing& error) {
                      if (error.is_error(wire::ErrorCode::vers)) error.draft.vers = wire::kVersion;
                    }}},
    {.name = "err-chunk-trailing-octets",
     .breaks = {"RFC8166-4.1.2-11", "RFC8166-4.2.4-3"},
     .sentence = "Eight octets follow ERR_CHUNK.",
     .server = {.departure =
                    [](Departing& error) {
                      if (error.is_error(wire::ErrorCode::chunk)) error.draft.append.resize(8);
                    }}},
    {.name = "err-chunk-wrong-xid",
     .breaks = {"RFC8166-4.5-4"},
     .sentence = "ERR_CHUNK carries XID 0.",
     .server = {.departure =
                    [](Departing& error) {
                      if (error.is_error(wire::ErrorCode::chunk)) error.draft.xid = 0;
                    }}},
    {.name = "err-chunk-wrong-proc",
     .breaks = {"RFC8166-4.5-6"},
     .sentence = "ERR_CHUNK is sent with rdma_proc 5.",
     .server = {.departure = change_procedure}},
    {.name = "err-chunk-unknown-code",
     .breaks = {"RFC8166-4.1.2-9", "RFC8166-4.5-7"},
     .sentence = "ERR_CHUNK is sent as error 3.",
     .server = {.departure =
                    [](Departing& error) {
                      if (error.is_error(wire::ErrorCode::chunk)) error.draft.error = 3;
                    }}},
    {.name = "err-chunk-grants-zero",
     .breaks = {"RFC8166-3.3.1-5"},
     .sentence = "ERR_CHUNK grants no credit.",
     .server = {.departure =
                    [](Departing& error) {
                      if (error.is_error(wire::ErrorCode::chunk)) error.draft.credit = 0;
                    }}},
};

}  // namespace

std::span<const Deviation> errors_family() {
  return kFamily;
}

}  // namespace steertag::deviations
