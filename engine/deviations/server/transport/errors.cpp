// Deviations in RDMA_ERROR messages.
#include "deviations/families.h"

namespace steertag::deviations {
namespace {

constexpr Deviation kErrors[] = {
    {.name = "version-range-wrong",
     .breaks = {"RFC8166-4.5.1-1"},
     .sentence = "ERR_VERS names the versions 2 to 3.",
     .server = {.mutation = {version_errors, "error.versions-2-3"}}},
    {.name = "version-range-swapped",
     .breaks = {"RFC8166-4.1.2-10", "RFC8166-4.5.1-1"},
     .sentence = "ERR_VERS carries the highest version before the lowest.",
     .server = {.mutation = {version_errors, "error.versions-1-0"}}},
    {.name = "version-error-own-vers",
     .breaks = {"RFC8166-4.5-5"},
     .sentence = "ERR_VERS carries 1 in rdma_vers whatever the call carried.",
     .server = {.mutation = {version_errors, "version.1"}}},
    {.name = "err-chunk-trailing-octets",
     .breaks = {"RFC8166-4.1.2-11", "RFC8166-4.2.4-3"},
     .sentence = "Eight octets follow ERR_CHUNK.",
     .server = {.mutation = {chunk_errors, "trailing.octets-8"}}},
    {.name = "err-chunk-wrong-xid",
     .breaks = {"RFC8166-4.5-4"},
     .sentence = "ERR_CHUNK carries XID 0.",
     .server = {.mutation = {chunk_errors, "xid.0"}}},
    {.name = "err-chunk-wrong-proc",
     .breaks = {"RFC8166-4.5-6"},
     .sentence = "ERR_CHUNK is sent with rdma_proc 5.",
     .server = {.mutation = {chunk_errors, "error.procedure-5"}}},
    {.name = "err-chunk-unknown-code",
     .breaks = {"RFC8166-4.1.2-9", "RFC8166-4.5-7"},
     .sentence = "ERR_CHUNK is sent as error 3.",
     .server = {.mutation = {chunk_errors, "error.code-3"}}},
    {.name = "err-chunk-grants-zero",
     .breaks = {"RFC8166-3.3.1-5"},
     .sentence = "ERR_CHUNK grants no credit.",
     .server = {.mutation = {chunk_errors, "credit.0"}}},
};

}  // namespace

std::span<const Deviation> errors_family() {
  return kErrors;
}

}  // namespace steertag::deviations
