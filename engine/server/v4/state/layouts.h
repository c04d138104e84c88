// Layouts (RFC 8881 12.5): which parts of a file a client may reach at the data servers.
// Their stateids, and their recall.
#pragma once

#include "server/v4/state/byte_ranges.h"
#include "server/v4/state/tables.h"

namespace steertag::peer {

/// The client's layouts of a file; nullptr: it has none.
LayoutState* layout_of(const File& file, const Client& client);

/// The layouts that a layout stateid stands for. Nullptr when the stateid is none of a layout.
/// NFS4ERR_BAD_STATEID for another file, for seqid 0 and for one of the future. NFS4ERR_OLD_STATEID
/// for one further back than all operations that the client may have under way (RFC 8881
/// 12.5.5.2.1.4).
Expected<LayoutState*, nfs4::Status> find_layout(StateTables& tables, Client& client,
                                                 const nfs4::StateId& stateid, const File* file);

/// Adds the range, with what there is of the same iomode, and moves the seqid on.
void grant_range(LayoutState& layout, nfs4::LayoutIomode iomode, ByteRange range);
/// Takes the range away from layouts of this iomode, LAYOUTIOMODE4_ANY for all of them.
void return_range(LayoutState& layout, nfs4::LayoutIomode iomode, ByteRange range);
/// Whether a layout of this iomode (LAYOUTIOMODE4_ANY: of any) has a part of the range.
bool overlaps(const LayoutState& layout, nfs4::LayoutIomode iomode, ByteRange range);
/// The range around this one that layouts of any iomode have whole between them; nullopt: there is
/// none.
std::optional<ByteRange> covering(const LayoutState& layout, ByteRange range);

/// Recalls the layouts that others than `client` have of the file. True when there is something to
/// wait for.
bool recall_layouts(StateTables& tables, File& file, std::optional<ClientId> client);

/// What one client has, the other has too.
void inherit_layouts(StateTables& tables, const Client& from, Client& to);

}  // namespace steertag::peer
