// The names of transport header fields in faults, drafts and traces.
#pragma once

#include <string_view>

namespace steertag::wire::field_name {

inline constexpr std::string_view kHeader = "transport header";

inline constexpr std::string_view kXid = "rdma_xid";
inline constexpr std::string_view kVers = "rdma_vers";
inline constexpr std::string_view kCredit = "rdma_credit";
inline constexpr std::string_view kProc = "rdma_proc";

inline constexpr std::string_view kAlign = "rdma_align";
inline constexpr std::string_view kThresh = "rdma_thresh";
inline constexpr std::string_view kErr = "rdma_err";
inline constexpr std::string_view kVersLow = "rdma_vers_low";
inline constexpr std::string_view kVersHigh = "rdma_vers_high";

inline constexpr std::string_view kExtra = "rdma_extra";  // RFC 5666 4.3

inline constexpr std::string_view kPayload = "payload stream";

/// The fields of one chunk list. `position` is empty for lists of plain segments, `count` for the
/// read list.
struct List {
  std::string_view presence;
  std::string_view position;
  std::string_view count;
  std::string_view handle;
  std::string_view length;
  std::string_view offset;
};

inline constexpr List kReadList = {
    .presence = "read list presence",
    .position = "read list position",
    .count = {},
    .handle = "read list handle",
    .length = "read list length",
    .offset = "read list offset",
};
inline constexpr List kWriteList = {
    .presence = "write list presence",
    .position = {},
    .count = "write list count",
    .handle = "write list handle",
    .length = "write list length",
    .offset = "write list offset",
};
inline constexpr List kReplyChunk = {
    .presence = "reply chunk presence",
    .position = {},
    .count = "reply chunk count",
    .handle = "reply chunk handle",
    .length = "reply chunk length",
    .offset = "reply chunk offset",
};

/// The fields of the prototype's header (Callaghan et al. 2003 4.4).
namespace prototype {

inline constexpr std::string_view kXid = "prototype xid";
inline constexpr std::string_view kVersion = "prototype version";
inline constexpr std::string_view kType = "prototype type";
inline constexpr std::string_view kPresence = "chunk list presence";
inline constexpr std::string_view kOffset = "chunk list XDR offset";
inline constexpr std::string_view kLength = "chunk list length";
inline constexpr std::string_view kHandle = "chunk list handle";
inline constexpr std::string_view kAddress = "chunk list address";

}  // namespace prototype

}  // namespace steertag::wire::field_name
