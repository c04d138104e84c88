// What deviations do to requests of a session and to their replies, as messages of a connection.
#include <utility>

#include "nfs/binding.h"
#include "rpc/message.h"
#include "server/rdma/kept_requests.h"
#include "server/rdma/server_connection.h"
#include "wire/xdr.h"

namespace steertag::peer {

std::optional<std::uint32_t> KeptRequests::first_xid(const SessionRequest& request,
                                                     std::uint32_t xid) {
  if (xids_.size() >= kMost) xids_.clear();
  const auto [known, first] = xids_.try_emplace(request.place, xid);
  return first ? std::nullopt : std::optional(known->second);
}

ServerConnection& KeptRequests::first_connection(const SessionRequest& request,
                                                 ServerConnection& connection) {
  if (connections_.size() >= kMost) connections_.clear();
  return *connections_.try_emplace(request.session, &connection).first->second;
}

void KeptRequests::forget(const ServerConnection& connection, std::optional<Bytes> reply) {
  std::erase_if(connections_, [&](const auto& each) { return each.second == &connection; });
  if (reply) lost_reply_ = std::move(reply);
}

std::optional<Bytes> KeptRequests::take_lost_reply() {
  return std::exchange(lost_reply_, std::nullopt);
}

bool ServerConnection::bend_request(Transaction& call, View message) {
  call.request.reset();
  call.first_xid.reset();
  if (!context_.options.deviations.any()) return false;
  if (ends_over(message)) {
    drop();
    finish(call);
    return true;
  }
  call.request = session_request(message);
  if (!call.request) return false;
  call.first_xid = context_.kept_requests.first_xid(*call.request, call.header.xid);
  if (!call.first_xid || !deviates(Deviation::repeated_request_discarded)) return false;
  discard(call);
  return true;
}

bool ServerConnection::ends_over(View call) {
  constexpr std::uint32_t kMostRequests = 50;
  wire::Reader reader(call);
  rpc::CallHeader header;
  header.decode(reader);
  if (!reader.ok()) return false;
  const bool version_four =
      header.program == nfs::kNfsProgram && header.version == nfs::kNfsVersion4;
  if (version_four && deviates(Deviation::version_zero_called_back)) {
    constexpr std::size_t kLongestTag = 1024;
    (void)reader.opaque(kLongestTag, "tag");
    if (reader.u32("minorversion") == 0 && reader.ok()) call_back();
  }
  if (deviates(Deviation::connections_short_lived) && version_four && ++requests_ == kMostRequests)
    return true;
  if (!program_) program_ = header.program;
  return program_ != header.program && deviates(Deviation::second_program_disconnects);
}

void ServerConnection::call_back() {
  constexpr std::uint32_t kSomeProgram = 0x40000000;  // of callbacks: the client's choice
  rpc::CallHeader header;
  header.xid = kFirstCallbackXid;
  header.rpcvers = rpc::kRpcVersion;
  header.program = kSomeProgram;
  header.version = 1;
  Bytes message;
  wire::Writer writer(message);
  header.encode(writer);
  (void)send_callback(std::move(message));
}

bool ServerConnection::send_elsewhere(const Transaction& call) {
  if (!call.request) return false;
  Bytes message;
  for (const View part : call.plan.parts()) message.insert(message.end(), part.begin(), part.end());
  if (deviates(Deviation::lost_reply_sent_later) && call.request->cachethis) last_reply_ = message;
  if (!deviates(Deviation::reply_on_first_connection)) return false;
  ServerConnection& first = context_.kept_requests.first_connection(*call.request, *this);
  if (&first == this) return false;
  first.send_besides(std::move(message));
  return true;
}

void ServerConnection::send_besides(Bytes message) {
  Transaction* const spare = take_idle();
  if (!spare) return;
  spare->state = TransactionState::replying;
  spare->error = std::move(message);
  spare->posting.clear();
  spare->posting.stretches.push_back(Stretch::error);
  start_posting(*spare);
}

}  // namespace steertag::peer
