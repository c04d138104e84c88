// The limits of variable lengths in NFS version 4: those of the RFCs, and else ours.
#pragma once

#include <cstddef>

namespace steertag::nfs4 {

// RFC 8881 3.1, RFC 7530 2.1.
inline constexpr std::size_t kMostHandleOctets = 128;   // NFS4_FHSIZE
inline constexpr std::size_t kVerifierOctets = 8;       // NFS4_VERIFIER_SIZE
inline constexpr std::size_t kMostOpaqueOctets = 1024;  // NFS4_OPAQUE_LIMIT
inline constexpr std::size_t kSessionIdOctets = 16;     // NFS4_SESSIONID_SIZE
inline constexpr std::size_t kDeviceIdOctets = 16;      // NFS4_DEVICEID4_SIZE
inline constexpr std::size_t kStateIdOtherOctets = 12;  // `other` of stateid4

/// Largest READ and WRITE that servers offer in maxread and maxwrite (4 MiB).
inline constexpr std::size_t kMostDataOctets = std::size_t{4} << 20;
/// component4. File systems allow 255 octets; a longer name must decode, because its answer is
/// NFS4ERR_NAMETOOLONG and not NFS4ERR_BADXDR.
inline constexpr std::size_t kMostNameOctets = 1024;
/// linktext4: PATH_MAX of POSIX systems.
inline constexpr std::size_t kMostPathOctets = 4096;
/// Components of pathname4: a path of kMostPathOctets with names of one octet.
inline constexpr std::size_t kMostComponents = kMostPathOctets / 2;
/// `tag`: text for humans, which clients fill with the name of a system call.
inline constexpr std::size_t kMostTagOctets = 1024;
/// `who`, owner and owner_group: user@domain, a login name of 256 and a host name of 255 octets.
inline constexpr std::size_t kMostOwnerOctets = 512;
/// na_r_netid and na_r_addr: universal addresses of IPv6 have at most 47 octets.
inline constexpr std::size_t kMostNetaddrOctets = 128;
/// nii_domain, nii_name, mimetype and the like: short text of implementations.
inline constexpr std::size_t kMostTextOctets = 1024;

/// Words of bitmap4 that are looked at: 256 attributes. The registry has fewer than 96; clients
/// send three words.
inline constexpr std::size_t kMostBitmapWords = 8;
/// attrlist4: Linux bounds an extended attribute, and with it an ACL, by 64 KiB.
inline constexpr std::size_t kMostAttributeOctets = 65536;
/// Entries of an ACL: kMostAttributeOctets full of the smallest (16 octets).
inline constexpr std::size_t kMostAces = kMostAttributeOctets / 16;
/// Servers and locations of fs_locations and fs_locations_info.
inline constexpr std::size_t kMostLocations = 256;
/// Layout types in one list, and hints of mdsthreshold; six types are registered.
inline constexpr std::size_t kMostLayoutTypes = 32;

/// Operations of one COMPOUND. Linux clients send fewer than 16 and Linux servers take 50 at most;
/// a server that wants fewer says so in ca_maxoperations.
inline constexpr std::size_t kMostOperations = 128;
/// Entries of one READDIR: 1 MiB of the smallest (32 octets with its marker) is 32768 of them.
inline constexpr std::size_t kMostEntries = 65536;
/// Flavours of SECINFO, and callback_sec_parms4 of a session: a handful is in use.
inline constexpr std::size_t kMostFlavors = 64;
/// sec_oid4: the OIDs of GSS mechanisms and algorithms have some ten octets.
inline constexpr std::size_t kMostOidOctets = 128;
/// Algorithms in one list of ssv_sp_parms4.
inline constexpr std::size_t kMostAlgorithms = 32;
/// gsshandle4_t, and handles of ssv_prot_info4.
inline constexpr std::size_t kMostGssHandleOctets = 256;
inline constexpr std::size_t kMostGssHandles = 256;
/// SSV and its digest: the largest hash in use has 64 octets.
inline constexpr std::size_t kMostSsvOctets = 512;
/// Stateids of one TEST_STATEID: 1 MiB of them is 65536.
inline constexpr std::size_t kMostStateids = 65536;

/// Opaque bodies of layouts, updates, returns and device addresses.
inline constexpr std::size_t kMostLayoutOctets = 65536;
/// Segments of one LAYOUTGET, and devices of one GETDEVICELIST.
inline constexpr std::size_t kMostLayouts = 256;
inline constexpr std::size_t kMostDevices = 4096;
/// Stripe indices of a device of the file layout type: as many as Linux takes. Its lists of
/// addresses and the handles of a layout have the same limit.
inline constexpr std::size_t kMostStripes = 4096;
/// Addresses in one of these lists: ways to one data server.
inline constexpr std::size_t kMostPaths = 64;

/// Sessions and calls that a CB_SEQUENCE refers to: a call for each slot at most.
inline constexpr std::size_t kMostReferringLists = 256;
inline constexpr std::size_t kMostReferringCalls = 1024;
/// Changes of one CB_NOTIFY or CB_NOTIFY_DEVICEID, and octets of one of them.
inline constexpr std::size_t kMostNotifications = 1024;
inline constexpr std::size_t kMostNotificationOctets = 65536;

}  // namespace steertag::nfs4
