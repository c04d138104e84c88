// What data servers and their metadata server may decide. The defaults conform to RFC 8881.
#pragma once

#include <cstdint>

namespace steertag::peer {

struct PnfsPolicy {
  bool checks_layout = true;         // false: I/O at data servers needs no layout
  bool checks_stateid_form = true;   // false: data servers take special stateids and any seqid
  bool checks_open = true;           // false: data servers do not ask for the open of a stateid
  bool checks_access = true;         // false: data servers let every user read and write
  bool checks_holes = true;          // false: sparse octets of other data servers are taken
  bool housekeeping_only = true;     // false: a data server has the operations of any server
  bool checks_when_executed = true;  // false: what a client could do as a call came is enough
  bool checks_commit = true;         // false: COMMIT at data servers needs no layout
  bool takes_every_stateid = true;   // false: data servers know the stateids of opens alone
  bool ends_stateids = true;         // false: data servers take those of former locks, delegations
  bool counts_stripes = true;        // false: dense components have the first stripe alone
  bool counts_grants_alone = true;   // false: a LAYOUTGET that fails moves the seqid on
  bool spares_silent = true;         // false: no I/O while a recall has no answer
  bool needs_backchannel = true;     // false: layouts that cannot be recalled are granted
  bool layouts_end_at_close = true;  // false: they outlive the last CLOSE of their file
  bool says_return_on_close = true;  // logr_return_on_close
  bool writes = true;                // false: WRITE at data servers leaves the file as it is
  bool reads_at_offset = true;       // false: READ at data servers gives the file's first octets
  bool checks_layoutget = true;      // false: LAYOUTGET takes any stateid
  bool layoutget_awaits_grace = true;    // false: layouts are granted in the grace period
  bool takes_old_seqids = true;          // false: layout seqids may be one behind, and no more
  bool keeps_device = true;              // false: a client without layouts does not find the device
  bool checks_locks = true;              // false: data servers let I/O through mandatory locks
  double patience = 1;                   // leases from a recall on, before data servers refuse I/O
  bool commit_keeps_size = true;         // false: LAYOUTCOMMIT truncates to the last write offset
  bool commit_keeps_time = true;         // false: LAYOUTCOMMIT sets the time back
  bool returns_all = true;               // false: LAYOUTRETURN4_ALL and _FSID return nothing
  bool last_return_ends_stateid = true;  // false: it leaves the current stateid as it was
  bool recall_awaits_scope = true;       // false: parts end a recall, as the whole file does
  bool skips_seqid_zero = true;          // false: layout seqids have 0 behind 0xffffffff
  std::uint32_t first_layout_seqid = 1;  // of the first LAYOUTGET of a file

  // What an administrator has it do.
  bool bulk_waits = true;                 // false: a bulk recall does not wait for other recalls
  bool bulk_refuses_layoutget = true;     // false: LAYOUTGET is as without one
  bool bulk_refuses_file_return = true;   // false: so is LAYOUTRETURN of a file
  bool bulk_refuses_other_return = true;  // false: so is LAYOUTRETURN of another type
  bool tells_who_asked = true;            // false: who asks for nothing hears of devices too
  bool tells_of_moves = true;             // false: other addresses of a device remain unsaid
  bool replaces_device_id = true;         // false: another device has the ID of the one before

  // Fencing, and what data servers have in common.
  bool restart_ends_layouts = true;      // false: the next instance of a client has its layouts
  bool lease_end_fences = true;          // false: what a client could do outlives its lease
  bool revocation_fences = true;         // false: a client whose layouts were revoked may go on
  bool removed_is_stale = true;          // false: data servers know no handle of a removed file
  bool layouts_unsupported = true;       // false: data servers have layouts, and none for anyone
  bool lease_of_metadata_server = true;  // false: data servers have a shorter one
  bool one_verifier = true;              // false: each data server has a write verifier of its own
  bool verifier_of_run = true;           // false: write verifiers are those of every run
  bool second_role = false;              // true: a data server is a server without pNFS too
  bool separates_roles = true;           // false: it lets a COMPOUND mix both
};

}  // namespace steertag::peer
