// Records in, calls executed, replies out.
#include "server/stream/stream_connection.h"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "rpc/direction.h"
#include "wire/xdr.h"

namespace steertag::peer {
namespace {

using net::Errc;
using net::Error;

std::string host_of(const net::Address& peer) {
  const std::string text = peer.text();
  return text.substr(0, text.rfind(':'));
}

/// In the first octet of a marking word.
constexpr std::byte kLastFragment{0x80};

std::string duration_text(std::chrono::milliseconds time) {
  return std::to_string(time.count()) + " ms";
}

}  // namespace

StreamConnection::StreamConnection(StreamRuntime& runtime, std::uint64_t id,
                                   net::SourceQuota::Slot slot, net::Socket socket,
                                   const net::Address& peer)
    : runtime_(runtime),
      id_(id),
      slot_(std::move(slot)),
      socket_(std::move(socket)),
      peer_(peer),
      source_(peer),
      callbacks_(std::make_shared<ConnectionBackchannel>(static_cast<Sender&>(*this),
                                                         runtime.context.callbacks,
                                                         kFirstCallbackXid, kReverseCredits)),
      info_{id, false, host_of(peer), callbacks_, peer.port()} {}

StreamConnection::~StreamConnection() {
  if (!down_) go_down();
}

Expected<void, Error> StreamConnection::start() {
  const auto key = runtime_.reactor.add(*this, socket_.fd(), EPOLLIN);
  if (!key) return tl::unexpected(key.error());
  key_ = *key;
  last_received_ = last_sent_ = runtime_.reactor.round_time();
  set_deadline();
  return {};
}

void StreamConnection::on_ready(std::uint32_t events) {
  ++runtime_.notices;
  begin_turn();
  // Not the end of the client's half alone: the client takes no replies any more.
  if ((events & (EPOLLERR | EPOLLHUP)) != 0) return go_down();
  if ((events & EPOLLOUT) != 0) flush();
  if ((events & EPOLLIN) != 0 && !down_) receive();
  if (!down_) go_on();
}

void StreamConnection::begin_turn() {
  // Real time whatever clock was given: it is the others' patience.
  const auto& options = runtime_.context.options;
  runtime_.slice_end = std::chrono::steady_clock::now() + options.time_slice;
}

bool StreamConnection::slice_over() const {
  return std::chrono::steady_clock::now() >= runtime_.slice_end;
}

void StreamConnection::receive() {
  Bytes& buffer = runtime_.read_buffer;
  buffer.resize(kStreamReadBytes);
  for (int i = 0; i < kMostStreamReadsPerTurn && !down_ && held_.empty() && may_take_records();
       ++i) {
    const ssize_t count = ::recv(socket_.fd(), buffer.data(), buffer.size(), 0);
    if (count == 0) return on_end_of_stream();
    if (count < 0) {
      if (errno != EAGAIN && errno != EINTR) go_down();
      return;
    }
    last_received_ = runtime_.reactor.round_time();
    const View octets = View(buffer).first(static_cast<std::size_t>(count));
    const std::size_t taken = take_records(octets);
    if (down_) return;
    held_.assign(octets.begin() + static_cast<std::ptrdiff_t>(taken), octets.end());
    flush();
    // Most likely nothing else waits if the buffer was not filled.
    if (octets.size() < buffer.size() || slice_over()) return;
  }
}

std::size_t StreamConnection::take_records(View octets) {
  std::size_t taken = 0;
  while (taken < octets.size() && !down_ && may_take_records()) {
    const View left = octets.subspan(taken);
    if (!reader_) {
      if (const auto record = rpc::whole_record(left, kLargestStreamRecord)) {
        taken += rpc::kRecordMarkOctets + record->size();
        take_record(*record);
        if (!runtime_.context.options.records.takes_pipelined) return octets.size();
        if (slice_over()) return taken;
        continue;
      }
      const bool fragment = (left.front() & kLastFragment) == std::byte{0};
      if (fragment && !runtime_.context.options.records.takes_fragments) {
        drop({Errc::bad_record, "a record has several fragments"});
        return taken;
      }
      begin_partial_record(left);
    }
    if (!make_room(left.size())) return taken;
    const auto more = reader_->take(left);
    if (!more) {
      drop({Errc::bad_record, "record marking: " + more.error().message()});
      return taken;
    }
    taken += *more;
    record_octets_ += *more;
    if (reader_->complete()) {
      auto reader = std::move(reader_);
      take_record(reader->record());
      end_partial_record();
      reader->restart();
      runtime_.spare_reader = std::move(reader);
      if (slice_over()) return taken;
    }
  }
  return taken;
}

void StreamConnection::begin_partial_record(View octets) {
  const std::size_t announced = rpc::announced_octets(octets).value_or(kLargestStreamRecord);
  largest_ = std::min(announced, kLargestStreamRecord);
  reader_ = std::move(runtime_.spare_reader);
  if (!reader_) reader_ = std::make_unique<rpc::RecordReader>(kLargestStreamRecord);
  record_begun_ = runtime_.reactor.round_time();
}

bool StreamConnection::make_room(std::size_t octets) {
  const std::size_t needed = std::min(reader_->size() + octets, largest_);
  if (has_set_aside_ || needed <= reserved_) return true;
  // Doubled, so that few copies are made of what has arrived.
  const std::size_t wanted = std::max({needed, 2 * reserved_, kFirstRecordBytes});
  const std::size_t more = std::min(wanted, kLargestStreamRecord) - reserved_;
  waits_ = !runtime_.records.take({this, source_, proven_}, more);
  if (!waits_) grow(more);
  return !waits_;
}

void StreamConnection::grow(std::size_t octets) {
  if (reserved_ == 0) forget_stall();
  reserved_ += octets;
  reader_->reserve(reserved_);
}

void StreamConnection::end_partial_record() {
  reader_.reset();
  runtime_.records.give_back(source_, std::exchange(reserved_, 0));
  if (std::exchange(has_set_aside_, false)) runtime_.records.give_back_set_aside();
}

void StreamConnection::stop_waiting(const RecordBudget::Grant& grant) {
  waits_ = false;
  if (grant.is_set_aside) {
    if (reserved_ == 0) forget_stall();
    has_set_aside_ = true;
    reader_->reserve(kLargestStreamRecord);
  } else {
    grow(grant.octets);
  }
  begin_turn();
  go_on();
}

void StreamConnection::take_record(View record) {
  const auto direction = rpc::direction(record);
  // Where a message was expected there is none, so what follows cannot be trusted either.
  if (!direction) return drop({Errc::bad_record, "a record is neither an RPC call nor a reply"});
  proven_ = true;
  ++runtime_.context.statistics.messages;
  if (*direction == rpc::MessageType::CALL) return answer(record);
  if (!callbacks_->take_reply(record)) ++runtime_.context.statistics.discarded;
}

bool StreamConnection::decided_by_interposer(View& call, OutgoingMessage& message,
                                             Outcome& outcome) {
  const auto& interposer = runtime_.context.options.interposer;
  if (!interposer) return false;
  CallStep step{info_.id, false, call, {}, message.payload, {}, {}, false};
  interposer->on_call(step);
  if (step.disconnects) {
    go_down();
    return true;
  }
  if (step.instead) call = replaced_ = std::move(*step.instead);
  if (step.outcome) outcome = *step.outcome;
  return step.outcome.has_value();
}

void StreamConnection::answer(View call) {
  Dispatcher& dispatcher = runtime_.context.dispatcher;
  const View original = call;
  auto message = take_message();
  Outcome outcome = Outcome::reply;
  if (!decided_by_interposer(call, *message, outcome)) {
    if (auto admitted = dispatcher.admit(call, message->payload))
      dispatcher.execute(*admitted, info_, message->payload);
  }
  if (down_) return;
  bool last_fragment = true;
  if (const auto& interposer = runtime_.context.options.interposer) {
    ReplyStep step{info_.id, false, original, message->payload, outcome};
    if (outcome == Outcome::reply) interposer->on_reply(step);
    last_fragment = step.last_fragment;
    if (step.outcome != Outcome::reply) {
      ++runtime_.context.statistics.discarded;
      return;
    }
  }
  ++runtime_.context.statistics.replies;
  if (runtime_.context.held.must_wait(message->payload.tickets()))
    return hold(std::move(message), last_fragment);
  queue(std::move(message), last_fragment);
}

void StreamConnection::hold(std::unique_ptr<OutgoingMessage> message, bool last_fragment) {
  const auto place = held_replies_.insert(held_replies_.end(), std::move(message));
  runtime_.context.held.hold(id_, (*place)->payload.tickets(), [this, place, last_fragment] {
    queue(std::move(*place), last_fragment);
    held_replies_.erase(place);
    begin_turn();
    go_on();
  });
}

void StreamConnection::on_end_of_stream() {
  if (reader_) return drop({Errc::peer_reset, "the stream ended inside a record"});
  ended_ = true;  // what the client has asked for is still answered
  callbacks_->close();
}

bool StreamConnection::send_callback(Bytes message) {
  if (ended_ || down_) return false;
  if (const auto& interposer = runtime_.context.options.interposer) {
    CallbackStep step{info_.id, false, message};
    interposer->on_callback(step);
    if (step.withheld) return true;
  }
  auto outgoing = take_message();
  outgoing->payload.stream() = std::move(message);
  queue(std::move(outgoing));
  set_watch();  // it leaves in the next round: whoever calls back may be anywhere
  return true;
}

std::unique_ptr<OutgoingMessage> StreamConnection::take_message() {
  auto& spare = runtime_.spare;
  if (spare.empty()) return std::make_unique<OutgoingMessage>();
  auto message = std::move(spare.back());
  spare.pop_back();
  return message;
}

void StreamConnection::queue(std::unique_ptr<OutgoingMessage> message, bool last_fragment) {
  const std::size_t size = message->payload.size();
  wire::store_u32(message->mark.data(),
                  rpc::record_mark(static_cast<std::uint32_t>(size), last_fragment));
  message->octets = message->mark.size() + size;
  message->held_bytes = message->payload.held_bytes();
  reply_bytes_ += message->held_bytes;
  runtime_.context.replies.take(message->held_bytes);
  if (outgoing_.empty()) last_sent_ = runtime_.reactor.round_time();
  outgoing_.push_back(std::move(message));
}

void StreamConnection::retire(std::unique_ptr<OutgoingMessage> message) {
  reply_bytes_ -= message->held_bytes;
  runtime_.context.replies.give_back(message->held_bytes);
  message->payload.clear();
  if (runtime_.spare.size() < kKeptMessages) runtime_.spare.push_back(std::move(message));
}

void StreamConnection::gather() {
  auto& parts = runtime_.parts;
  parts.clear();
  for (const auto& message : outgoing_) {
    parts.push_back(View(message->mark));
    message->payload.stream_parts(parts);
    if (parts.size() >= kMostGatheredParts) break;
  }
  // What has left of the first message goes off the front.
  std::size_t sent = front_sent_;
  auto first = parts.begin();
  while (sent > 0 && sent >= first->size()) sent -= (first++)->size();
  parts.erase(parts.begin(), first);
  if (sent > 0) parts.front() = parts.front().subspan(sent);
  parts.resize(std::min(parts.size(), kMostGatheredParts));
}

void StreamConnection::flush() {
  while (!outgoing_.empty() && !down_) {
    gather();
    std::array<iovec, kMostGatheredParts> vectors;
    std::size_t wanted = 0;
    for (std::size_t i = 0; i < runtime_.parts.size(); ++i) {
      const View part = runtime_.parts[i];
      // The system takes no pointer to const, though it only reads.
      vectors[i] = {const_cast<std::byte*>(part.data()), part.size()};
      wanted += part.size();
    }
    msghdr header{};
    header.msg_iov = vectors.data();
    header.msg_iovlen = runtime_.parts.size();
    const ssize_t count = ::sendmsg(socket_.fd(), &header, MSG_NOSIGNAL);
    if (count < 0) {
      if (errno != EAGAIN && errno != EINTR) go_down();
      return;
    }
    last_sent_ = runtime_.reactor.round_time();
    forget_sent(static_cast<std::size_t>(count));
    if (static_cast<std::size_t>(count) < wanted) return;  // the socket is full
  }
}

void StreamConnection::forget_sent(std::size_t octets) {
  front_sent_ += octets;
  while (!outgoing_.empty() && front_sent_ >= outgoing_.front()->octets) {
    front_sent_ -= outgoing_.front()->octets;
    retire(std::move(outgoing_.front()));
    outgoing_.pop_front();
  }
}

bool StreamConnection::may_execute() const {
  return outgoing_.size() + held_replies_.size() < kMostQueuedMessages &&
         runtime_.context.replies.allows(reply_bytes_);
}

void StreamConnection::go_on() {
  flush();
  // Ends with the octets that are held, which are at most kStreamReadBytes.
  while (!down_ && !held_.empty() && may_take_records()) {
    held_taken_ += take_records(View(held_).subspan(held_taken_));
    if (held_taken_ == held_.size()) {
      Bytes().swap(held_);
      held_taken_ = 0;
    }
    flush();
    if (slice_over()) break;
  }
  const bool answered = held_.empty() && outgoing_.empty() && held_replies_.empty();
  if (!down_ && ended_ && answered) go_down();
  if (down_) return;
  set_watch();
  set_deadline();
}

void StreamConnection::set_watch() {
  const bool may_go_on = may_take_records();
  const bool reads = !ended_ && held_.empty() && may_go_on;
  // Its turn was over. A socket that has room gives it the next one; without room it gets one when
  // the client takes replies.
  const bool turn_wanted = !held_.empty() && may_go_on;
  if (turn_wanted) turn_wanted_at_ = runtime_.reactor.round_time();
  wants_turn_ = turn_wanted;
  // It was us who did not read, so the client's waits begin anew.
  if (reads && !reads_) last_received_ = record_begun_ = runtime_.reactor.round_time();
  reads_ = reads;
  const bool writes = !outgoing_.empty() || turn_wanted;
  runtime_.reactor.watch(key_, (reads ? EPOLLIN : 0U) | (writes ? EPOLLOUT : 0U));
}

void StreamConnection::set_deadline() {
  const StreamTimeouts& timeouts = runtime_.context.options.stream_timeouts;
  const auto idle = runtime_.context.options.idle_timeout;
  net::Time deadline = net::kNever;
  if (idle.count() > 0) deadline = net::after(std::max(last_received_, last_sent_), idle);
  if (awaits_room()) deadline = std::min(deadline, net::after(room_awaited(), timeouts.unsent));
  if (reader_ && reads_) {
    deadline = std::min({deadline, net::after(last_received_, timeouts.mid_record),
                         net::after(record_begun_, timeouts.whole_record)});
  }
  runtime_.reactor.set_deadline(key_, deadline);
}

std::optional<Error> StreamConnection::overdue() const {
  const StreamTimeouts& timeouts = runtime_.context.options.stream_timeouts;
  const auto idle = runtime_.context.options.idle_timeout;
  const net::Time now = runtime_.reactor.round_time();
  const auto passed = [now](net::Time since, std::chrono::milliseconds wait) {
    return now >= net::after(since, wait);
  };
  if (awaits_room() && passed(room_awaited(), timeouts.unsent))
    return Error{Errc::timed_out, "replies were not taken for " + duration_text(timeouts.unsent)};
  if (reader_ && reads_) {
    if (passed(last_received_, timeouts.mid_record))
      return Error{Errc::timed_out,
                   "silence in mid-record for " + duration_text(timeouts.mid_record)};
    if (passed(record_begun_, timeouts.whole_record))
      return Error{Errc::timed_out,
                   "a record was not whole within " + duration_text(timeouts.whole_record)};
  }
  if (idle.count() > 0 && passed(std::max(last_received_, last_sent_), idle))
    return Error{Errc::timed_out, "no traffic for " + duration_text(idle)};
  return std::nullopt;
}

void StreamConnection::on_deadline() {
  if (const auto why = overdue()) return drop(*why);
  set_deadline();
}

void StreamConnection::drop_if_stalled(net::Time step) {
  const bool is_wanted =
      has_set_aside_ || (reserved_ > 0 && runtime_.records.is_wanted_from(source_));
  // What is not read yet is no fault of the client.
  if (down_ || !is_wanted || !reads_ || record_octets_ - octets_before_ >= kLeastProgressBytes)
    return forget_stall();
  still_for_ += step;
  if (still_for_ < net::after(0, kContendedWait)) return;
  drop({Errc::timed_out, "less than " + std::to_string(kLeastProgressBytes) +
                             " octets of a record came in " + duration_text(kContendedWait) +
                             " while others waited for memory"});
}

void StreamConnection::forget_stall() {
  still_for_ = 0;
  octets_before_ = record_octets_;
}

void StreamConnection::drop(const Error& why) {
  ++runtime_.context.statistics.dropped_connections;
  if (runtime_.context.on_trouble) runtime_.context.on_trouble(peer_.text(), why);
  go_down();
}

void StreamConnection::go_down() {
  down_ = true;
  runtime_.reactor.remove(std::exchange(key_, 0));
  socket_.close();
  for (auto& message : outgoing_) retire(std::move(message));
  outgoing_.clear();
  runtime_.context.held.forget(id_);
  held_replies_.clear();
  end_partial_record();
  if (std::exchange(waits_, false)) runtime_.records.forget(*this);
  callbacks_->close();
  ++runtime_.notices;
  runtime_.ended.push_back(id_);
}

}  // namespace steertag::peer
