// Keeps what the messages of all connections of one observer say of file layouts (RFC 8881 13).
//
// The judges of these connections share it. It judges nothing.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "nfs/v4/file_layout.h"
#include "nfs/v4/layout_ops.h"
#include "nfs/v4/striping.h"
#include "nfs/v4/types.h"

namespace steertag::conformance {

/// At most this many owners of clients, and as many of servers. Beyond it new ones are not kept.
inline constexpr std::size_t kMostPnfsOwners = 1024;
/// At most this many sessions, on connections that create them. Beyond it new ones are not kept.
inline constexpr std::size_t kMostPnfsSessions = 8192;
/// At most this many devices. A body has at most kMostLayoutOctets.
inline constexpr std::size_t kMostFileDevices = 256;
/// At most this many files with layouts. Beyond it the layouts of others are not kept.
inline constexpr std::size_t kMostStripedFiles = 4096;
/// At most this many ranges of a file, with both iomodes. Beyond it the oldest is forgotten, and
/// the file's layouts are no longer known whole.
inline constexpr std::size_t kMostGrantedRanges = 16;
/// At most this many filehandles of layouts in all, at some 300 octets each.
inline constexpr std::size_t kMostStripeHandles = 65536;
/// At most this many verifiers of WRITEs are kept of a file.
inline constexpr std::size_t kMostVerifiers = 8;

/// A message, for texts: its connection and its index.
struct MessagePlace {
  std::uint64_t connection = 0;
  std::uint64_t event = 0;
};

/// What EXCHANGE_ID and CREATE_SESSION say of a session.
struct PnfsSession {
  nfs4::SessionId id{};
  std::size_t client = 0;  // number of its co_ownerid
  std::size_t server = 0;  // number of its so_major_id
  std::uint32_t roles = 0;

  bool is_data_server() const;
  bool is_data_server_only() const;
  bool is_metadata_server() const;
};

/// A device of the file layout type. `address` refers to `body`.
struct FileDevice {
  Bytes body;
  nfs4::FileLayoutDevice address;
  /// By list of addresses: the number of the server that did I/O for it, as its filehandle and its
  /// stripe unit say. 0: none was seen.
  std::vector<std::size_t> server_of_list;
};

/// A range of a file that LAYOUTGET granted.
struct GrantedRange {
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
  nfs4::LayoutIomode iomode = nfs4::LayoutIomode::LAYOUTIOMODE4_READ;
  std::shared_ptr<const nfs4::FileLayout> pattern;
  std::shared_ptr<FileDevice> device;  // once it is known
  bool usable = false;                 // the device is known, and the pattern fits it
  MessagePlace granted;
  std::uint64_t moment = 0;              // of the answer to LAYOUTGET
  bool doubtful = false;                 // a part of it was returned, or may have been
  std::optional<MessagePlace> returned;  // the answer to LAYOUTRETURN
  std::uint64_t return_began = 0;        // moment of its call

  bool covers(std::uint64_t from, std::uint64_t octets) const;
};

struct IoOctets {
  std::uint64_t read = 0;
  std::uint64_t written = 0;
};

/// A file for which LAYOUTGET gave a client a layout.
struct StripedFile {
  std::size_t client = 0;
  std::size_t server = 0;  // the metadata server
  std::string handle;      // of the metadata server
  std::vector<GrantedRange> ranges;
  std::optional<decltype(nfs4::StateId::other)> layout_stateid;
  std::uint32_t asking = 0;  // LAYOUTGETs without a reply
  bool complete = true;      // the client has no layouts but `ranges`
  IoOctets at_data_servers;
  IoOctets at_metadata_server;
  std::set<std::string, std::less<>> unstable;  // handles with WRITEs that wait for COMMIT
  bool unstable_at_metadata_server = false;
  std::vector<nfs4::Verifier> verifiers;  // of WRITEs, in order; the last one is in use
  std::uint64_t latest_verifier = 0;      // moment of the first reply with the last one

  /// Whether every range has this answer for its nfl_util.
  bool commits_through_server() const;
  bool commits_at_data_servers() const;
};

/// The metadata server said that it revoked state.
struct Revocation {
  std::uint32_t flags = 0;
  bool is_shown = true;  // the latest reply has flags too
  nfs4::SessionId session{};
  std::uint32_t slot = 0;
  MessagePlace place;
  std::uint64_t moment = 0;
  /// Moment at which the client used the slot again, so that it had received the reply.
  std::optional<std::uint64_t> received;
  /// The reply brought the address of this device. Who does I/O by it has received the reply.
  std::optional<nfs4::DeviceId> device;

  /// Whether the client sent a call after it had received the reply. The call uses the device, and
  /// an answer at the moment `behind` went before it.
  bool precedes(std::uint64_t behind, const nfs4::DeviceId& used) const;
};

/// A client ID of a metadata server, by the call that makes a session for it.
struct ClientIdUse {
  std::uint64_t id = 0;
  nfs4::Verifier verifier{};  // co_verifier: another one is a client that has restarted itself
  MessagePlace place;
  std::uint64_t moment = 0;
};

class Layouts {
 public:
  /// A moment behind all before it.
  std::uint64_t next_moment() { return ++moment_; }
  /// The number of a new connection.
  std::uint64_t add_connection() { return ++connections_; }

  std::optional<std::size_t> client_of(View co_ownerid) { return number_of(clients_, co_ownerid); }
  std::optional<std::size_t> server_of(View so_major_id) {
    return number_of(servers_, so_major_id);
  }
  void add_session(const PnfsSession& session);
  /// nullptr if it is unknown, or if two servers have sessions of this id.
  const PnfsSession* find_session(const nfs4::SessionId& id) const;

  /// The address of a device, as GETDEVICEINFO gave it to the client. Returns whether it is new.
  bool add_device(std::size_t client, const nfs4::DeviceId& id, View body);

  /// The file of a client, added if it is new. nullptr if there are too many.
  StripedFile* add_file(std::size_t client, std::size_t server, View handle);
  StripedFile* find_file(std::size_t client, std::size_t server, View handle);
  /// The only file of the client with this handle at data servers, or nullptr.
  StripedFile* find_striped(std::size_t client, View handle);
  /// Adds what LAYOUTGET granted. Layouts of other types, and damaged ones, are not kept.
  void grant(StripedFile& file, const nfs4::LayoutgetOk& granted, const MessagePlace& place);
  /// LAYOUTRETURN of a range, called at the moment `began`, was answered; `present`: the client
  /// still has some of the file.
  void give_back(StripedFile& file, const nfs4::LayoutreturnArgs& args, bool present,
                 const MessagePlace& place, std::uint64_t began);
  /// LAYOUTRETURN4_FSID or _ALL was answered.
  void give_back_all(std::size_t client, std::size_t server, bool of_all, const MessagePlace& place,
                     std::uint64_t began);
  /// Finds the device of a range, and whether the range is of use with it.
  void resolve(const StripedFile& file, GrantedRange& range) const;

  /// Messages of a connection that may carry layouts were not seen.
  void lose();
  /// Whether all connections are seen, from their beginning.
  bool sees_all() const { return sees_all_; }
  void note_unseen() { sees_all_ = false; }
  bool has_files() const { return !files_.empty(); }
  const std::deque<StripedFile>& files() const { return files_; }

  /// The client makes a session for this client ID. It has received the reply with it, and knows
  /// whether the metadata server has forgotten what it had by another one (RFC 8881 12.7.4).
  void use_client_id(const PnfsSession& session, const ClientIdUse& use);
  /// The latest use of a client ID that took the place of another one; nullptr: there is none.
  const ClientIdUse* restart(std::size_t client, std::size_t server) const;

  std::optional<Revocation>& revocation(std::size_t client) { return revocations_[client]; }

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>{}(text);
    }
  };
  template <class Value>
  using ByText = std::unordered_map<std::string, Value, Hash, std::equal_to<>>;
  struct SharedSession {
    PnfsSession session;
    bool ambiguous = false;
  };

  static std::optional<std::size_t> number_of(ByText<std::size_t>& numbers, View owner);
  void forget_device(std::size_t client, const nfs4::DeviceId& id);
  void add_handles(StripedFile& file, const nfs4::FileLayout& layout);

  std::uint64_t moment_ = 0;
  std::uint64_t connections_ = 0;
  bool sees_all_ = true;
  ByText<std::size_t> clients_;
  ByText<std::size_t> servers_;
  ByText<SharedSession> sessions_;                    // by session id
  ByText<std::shared_ptr<FileDevice>> devices_;       // by client and device id
  std::deque<StripedFile> files_;                     // which stay where they are
  ByText<std::vector<StripedFile*>> by_handle_;       // of metadata servers
  ByText<std::vector<StripedFile*>> by_data_handle_;  // of data servers
  std::size_t handles_ = 0;                           // in by_data_handle_
  std::unordered_map<std::size_t, std::optional<Revocation>> revocations_;  // by client
  struct ClientIds {
    ClientIdUse latest;
    std::optional<ClientIdUse> restart;
  };
  ByText<ClientIds> client_ids_;  // by client and metadata server
};

/// "frame 7 of connection 2"; `counts` is Visibility::index_counts.
std::string text_of(const MessagePlace& place, std::string_view counts);

}  // namespace steertag::conformance
