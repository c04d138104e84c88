// Makes summaries of files with layouts.
#include "grade/file_summary.h"

#include <string_view>

#include "conformance/pnfs/server_end.h"

namespace steertag::grade {

namespace {

std::vector<std::string> addresses_of(const nfs4::MultipathList& list) {
  std::vector<std::string> made;
  for (const nfs4::NetAddr& each : list.addresses) {
    made.push_back(conformance::readable_address(each.na_r_addr) + " (" +
                   std::string(each.na_r_netid) + ")");
  }
  return made;
}

FileSummary summary_of(const conformance::Layouts& layouts, const conformance::StripedFile& file) {
  FileSummary made;
  made.client = file.client;
  made.handle = file.handle;
  for (const conformance::GrantedRange& each : file.ranges) {
    const bool writable = each.iomode == nfs4::LayoutIomode::LAYOUTIOMODE4_RW;
    made.ranges.push_back({each.offset, each.length, writable, each.granted, each.returned});
  }
  conformance::GrantedRange latest = file.ranges.back();
  layouts.resolve(file, latest);
  const nfs4::FileLayout& pattern = *latest.pattern;
  made.device.assign(reinterpret_cast<const char*>(pattern.nfl_deviceid.data()),
                     pattern.nfl_deviceid.size());
  made.stripe_unit_bytes = nfs4::stripe_unit(pattern.nfl_util);
  made.dense = nfs4::is_dense(pattern.nfl_util);
  made.commits_through_server = nfs4::commits_through_server(pattern.nfl_util);
  if (latest.device) {
    for (const auto& each : latest.device->address.nflda_multipath_ds_list) {
      made.data_servers.push_back(addresses_of(each));
    }
  }
  made.at_data_servers = file.at_data_servers;
  made.at_metadata_server = file.at_metadata_server;
  return made;
}

}  // namespace

std::vector<FileSummary> summaries_of(const conformance::Layouts& layouts) {
  std::vector<FileSummary> made;
  for (const conformance::StripedFile& each : layouts.files()) {
    if (!each.ranges.empty()) made.push_back(summary_of(layouts, each));
  }
  return made;
}

}  // namespace steertag::grade
