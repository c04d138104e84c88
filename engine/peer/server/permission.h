// UNIX permission bits: what a caller may do with an object.
#pragma once

#include "peer/server/backend.h"
#include "peer/server/program.h"

namespace steertag::peer {

enum class Want : std::uint32_t { read = 4, write = 2, execute = 1 };

bool is_superuser(const Caller& caller);
bool in_group(const Caller& caller, std::uint32_t gid);
/// By the mode bits of the first class (owner, group, others) that the caller belongs to.
bool permits(const Attributes& attributes, const Caller& caller, Want want);
/// As `permits`, but the owner may always: the file may have been opened before its mode was
/// changed (RFC 1813 4.4).
bool permits_io(const Attributes& attributes, const Caller& caller, Want want);
/// Status::ok, or why the caller may not make this change.
Status permits_change(const Attributes& attributes, const Caller& caller,
                      const AttributeChange& change);

}  // namespace steertag::peer
