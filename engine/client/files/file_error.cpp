// Sentences for what did not work with remote files.
#include "client/files/file_error.h"

namespace steertag::peer {
namespace {

FileError with_status(std::uint32_t status, std::string_view name, std::string_view what) {
  return {FileErrc::refused, std::string(what), status, std::string(name)};
}

}  // namespace

std::string_view sentence(FileErrc code) {
  switch (code) {
    case FileErrc::call_failed:
      return "the call failed";
    case FileErrc::refused:
      return "the server refused";
    case FileErrc::unsupported_version:
      return "the server does not offer this version of NFS";
    case FileErrc::no_mount:
      return "this port has no MOUNT version 3 (--mount-port names another port)";
    case FileErrc::bad_results:
      return "the server's results make no sense";
    case FileErrc::not_regular:
      return "this is no regular file";
    case FileErrc::outside_export:
      return "this leads out of the mounted export";
    case FileErrc::too_many_links:
      return "too many symbolic links lead on";
    case FileErrc::too_long:
      return "this is longer than the client takes";
    case FileErrc::state_lost:
      return "the server forgot the client's state more than once";
    case FileErrc::lease_in_doubt:
      return "the lease is in doubt, and the metadata server has to be asked first";
    case FileErrc::changed:
      return "the data changed meanwhile";
    case FileErrc::local_file:
      return "a local file";
  }
  return "unknown error";
}

std::string FileError::message() const {
  if (code != FileErrc::refused) {
    const std::string first(sentence(code));
    return detail.empty() ? first : first + ": " + detail;
  }
  // nfsstat3 and mountstat3 have the numbers of nfsstat4 where they mean the same.
  const std::string_view meaning = nfs4::sentence(static_cast<nfs4::Status>(status));
  std::string text = detail + ": " + status_name + " (" + std::to_string(status) + ")";
  if (!meaning.empty()) text += ": " + std::string(meaning);
  return text;
}

FileError FileError::in(std::string_view what) const {
  FileError error = *this;
  error.detail = detail.empty() ? std::string(what) : std::string(what) + ": " + detail;
  return error;
}

FileError refused(nfs3::Status status, std::string_view what) {
  return with_status(static_cast<std::uint32_t>(status), rpc::name(status), what);
}

FileError refused(mount3::Status status, std::string_view what) {
  return with_status(static_cast<std::uint32_t>(status), rpc::name(status), what);
}

FileError refused(nfs4::Status status, std::string_view what) {
  return with_status(static_cast<std::uint32_t>(status), rpc::name(status), what);
}

FileError failed(const CallError& error, std::string_view what) {
  return {FileErrc::call_failed, std::string(what) + ": " + error.message(), 0, {}};
}

}  // namespace steertag::peer
