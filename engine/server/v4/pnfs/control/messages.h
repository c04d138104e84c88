// What a metadata server and its data servers tell each other, in XDR (RFC 8881 12.2.6).
// A message is a word with the length of what follows, a word with its kind, and its fields.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "server/v4/pnfs/data_servers.h"
#include "support/expected.h"

namespace steertag::peer::control {

/// Both sides have to be of one version.
inline constexpr std::uint32_t kVersion = 2;
inline constexpr std::size_t kLengthOctets = 4;
/// Behind the length; the largest is a Hello.
inline constexpr std::size_t kMostMessageOctets = 8192;
inline constexpr std::size_t kMostAddresses = 16;  // of one data server
inline constexpr std::size_t kMostRefusalOctets = 512;
inline constexpr std::size_t kMostAddressOctets = 128;  // of a netid or a universal address

// --- from a data server

/// The first message. The data server holds no grants.
struct Hello {
  std::uint32_t version = kVersion;
  std::uint32_t index = 0;
  std::vector<DataServerAddress> addresses;
};

/// What a client is about to do.
enum class Deed : std::uint32_t { read = 0, write = 1, commit = 2 };

/// May a client do this? Answered by an Answer of the same number.
struct Ask {
  std::uint64_t number = 0;
  Handle file{};
  std::string owner;  // co_ownerid
  nfs4::StateId stateid{};
  Deed deed = Deed::read;
  bool has_range = false;
  std::uint64_t first = 0;  // octets of the file
  std::uint64_t last = 0;
};

/// All Revokes up to this epoch are heeded.
struct Acknowledgement {
  std::uint64_t epoch = 0;
};

/// Asks for a Pong, by which the data server knows that its grants still hold.
struct Ping {
  std::uint64_t number = 0;
};

// --- from a metadata server

/// Answers a Hello.
struct Welcome {
  HandleSecret secret{};
  StripePattern pattern;
  std::uint64_t lease_ms = 0;
  std::uint64_t verifier = 0;  // of WRITEs whose COMMIT goes through the metadata server
};

/// Answers a Hello, and the connection ends.
struct Refusal {
  std::string why;  // a clause
};

/// With NFS4_OK the client may do it to all octets of the range, until a Revoke of the file.
struct Answer {
  std::uint64_t number = 0;
  nfs4::Status status = nfs4::Status::NFS4_OK;
  std::uint64_t first = 0;
  std::uint64_t last = 0;
};

/// All that was granted for the file before is over.
struct Revoke {
  std::uint64_t epoch = 0;  // ascends
  Handle file{};
};

struct Pong {
  std::uint64_t number = 0;
};

/// Takes the place of Welcome::verifier.
struct NewVerifier {
  std::uint64_t verifier = 0;
};

using Message = std::variant<Hello, Ask, Acknowledgement, Ping, Welcome, Refusal, Answer, Revoke,
                             Pong, NewVerifier>;

/// Appends the message with its length.
void append(const Message& message, Bytes& to);

/// A message without its length. The error is a clause.
Expected<Message, std::string> read(View octets);

}  // namespace steertag::peer::control
