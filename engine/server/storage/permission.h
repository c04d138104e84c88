// UNIX permission bits: what a caller may do with an object.
#pragma once

#include "server/rpc/program.h"
#include "server/storage/backend.h"

namespace steertag::peer {

/// What a caller wants to do with an object, by the bits of a mode.
enum class AccessMode : std::uint32_t { read = 4, write = 2, execute = 1 };

bool is_superuser(const Caller& caller);
bool in_group(const Caller& caller, std::uint32_t gid);
/// By the mode bits of the first class (owner, group, others) that the caller belongs to.
bool permits(const Attributes& attributes, const Caller& caller, AccessMode want);
/// As `permits`, but the owner may always: the file may have been opened before its mode was
/// changed (RFC 1813 4.4).
bool permits_io(const Attributes& attributes, const Caller& caller, AccessMode want);
/// Whether the caller may take this object's name out of the directory, as far as its sticky bit
/// goes.
bool permits_unlink(const Attributes& directory, const Attributes& object, const Caller& caller);
/// The mode of a permitted `change`, if it has one, as the caller may set it on this object. A
/// caller outside of the object's group cannot make programs run with that group. Where the
/// superuser does not own all (Backend::superuser_owns_all), only the owner can make programs run
/// as the owner.
std::optional<std::uint32_t> permitted_mode(const Attributes& attributes, const Caller& caller,
                                            const AttributeChange& change, bool superuser_owns_all);
/// Status::ok, or why the caller may not make this change.
Status permits_change(const Attributes& attributes, const Caller& caller,
                      const AttributeChange& change);

}  // namespace steertag::peer
