// The file of an OPEN: found or to be made, before anything is changed.
#pragma once

#include "server/v4/compound_call.h"

namespace steertag::peer {

struct OpenTarget {
  std::optional<Object> directory;  // the claim names an entry of it
  std::string_view name;
  std::optional<Object> file;  // none: it is to be made
  AttributeChange change;      // for one that is made, and the size of one that is there
  nfs4::Bitmap attrset;        // the attributes that the reply names
  bool truncates = false;
  bool same_verifier = false;  // an exclusive OPEN was repeated, by the creator or a guesser
};

/// Looks the file up as claim and openhow say (RFC 7530 16.16.5, RFC 8881 18.16.3). Changes
/// nothing. NFS4ERR_NOFILEHANDLE, NOTDIR, SYMLINK, ISDIR, WRONG_TYPE, NOENT, EXIST, ACCESS, INVAL,
/// NOTSUPP, and those of check_component and requested_change.
Expected<OpenTarget, nfs4::Status> find_open_target(const nfs4::OpenArgs& args, CompoundCall& call);

/// Whether the caller may have these directions of share_access on a file that is there.
nfs4::Status check_open_access(const OpenTarget& target, const nfs4::OpenArgs& args,
                               const CompoundCall& call);

/// Makes or truncates the file, and makes it the current filehandle. The only change to the
/// storage.
nfs4::Status create_or_truncate(OpenTarget& target, CompoundCall& call);

}  // namespace steertag::peer
