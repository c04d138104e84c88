// Notices of devices to clients (RFC 8881 12.2.10, 20.12).
#pragma once

#include "server/v4/state/bulk_recalls.h"

namespace steertag::peer {

/// Keeps what GETDEVICEINFO asks to hear of the device, in the place of what was asked before.
/// Gives what will be sent: nothing to a client that cannot be called. `is_current`: the device has
/// not been deleted, and is not kept for layouts alone.
nfs4::Bitmap note_interest(StateTables& tables, Client& client, const nfs4::DeviceId& device,
                           const nfs4::Bitmap& asked, bool is_current);

/// Whether a layout of the client names the device.
bool uses_device(const Client& client, const nfs4::DeviceId& device);

/// Other addresses belong to the device. Who has asked gets a notice. Of others that use it the
/// layouts are recalled by `scope` (RFC 8881 12.2.10).
void tell_change(StateTables& tables, const nfs4::DeviceId& device, const BulkScope& scope);

/// The device is deleted for each client as soon as no layout of the client names it, and not
/// before (RFC 8881 18.43.4, 20.12.3). Who has asked gets a notice then.
void delete_device(StateTables& tables, const nfs4::DeviceId& device);
/// Tells of the devices for which that holds by now.
void announce_deletions(StateTables& tables);

}  // namespace steertag::peer
