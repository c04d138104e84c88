// Rules on an optimistic connection: checks and texts.
#include "conformance/direct/optimistic_connection.h"

#include <algorithm>
#include <array>
#include <utility>
#include <variant>

#include "conformance/direct/direct_rules.h"
#include "conformance/rules/connection_rules.h"
#include "conformance/text.h"
#include "nfs/direct/private_data.h"

namespace steertag::conformance {

namespace {

/// RFC 5040 4.8: STag, bounds, rights, association and wrap have the codes 0 to 4.
constexpr std::uint8_t kLastCodeOfMemory = 4;

std::string read_text(const OptimisticRead& read) {
  return say("an answered RDMA Read of ", read.length, " octets at STag ", Hex{read.stag},
             " offset ", Hex{read.offset, true});
}

}  // namespace

std::string_view name(ReadState state) {
  constexpr std::array<std::string_view, kReadStates> kNames{
      "waiting", "valid", "revoked", "torn", "unknown", "part", "outside", "faulted"};
  return kNames[static_cast<std::size_t>(state)];
}

void OptimisticConnection::on_event(const trace::Event& event) {
  latest_.reset();
  std::visit([&](const auto& body) { on(event, body); }, event.body);
}

void OptimisticConnection::forget_history() {
  lost_ = true;
  reads_.clear();
}

void OptimisticConnection::on(const trace::Event& /*event*/, const trace::Connect& body) {
  access_.note_optimistic();
  const auto ticket = direct::find_ticket(body.private_data);
  has_ticket_ = ticket.has_value();
  asked_recovery_ = direct::is_recoverable(body.private_data);
  if (ticket) user_ = access_.find(*ticket);
  if (user_) ++user_->asked;
}

void OptimisticConnection::on(const trace::Event& event, const trace::Accept& body) {
  recovers_ = asked_recovery_ && direct::is_recoverable(body.private_data);
  if (connection_.observation_lost) return;
  const bool is_new = user_ && user_->opened++ == 0;
  if (is_new && !user_->ended) return;
  const bool is_unknown = has_ticket_ && !user_;
  if (is_unknown && !(access_.sees_all() && access_.has_users())) return;
  const bool again = user_ && !is_new;
  Finding* finding = connection_.findings.open(again ? kTicketOpensOneConnection : kTicketWasGiven,
                                               event.actor, event.index);
  if (finding == nullptr) return;
  finding->expected = "a rejection";
  finding->observed = again         ? "a ticket that had opened a connection was accepted"
                      : user_       ? "a ticket whose user had ended was accepted"
                      : has_ticket_ ? "a ticket that no reply to HELLO has was accepted"
                                    : "private data without a ticket were accepted";
}

void OptimisticConnection::on_other_operation(const trace::Event& event, std::string_view what) {
  if (event.actor == trace::Role::client) {
    if (illegal_.empty()) {
      illegal_ = what;
      illegal_event_ = event.index;
    }
    return;
  }
  if (Finding* finding = connection_.findings.open(kServerOnlyResponds, event.actor, event.index)) {
    finding->expected = "Read Responses alone";
    finding->observed = what;
  }
}

void OptimisticConnection::on(const trace::Event& event, const trace::Send& /*body*/) {
  check_after_terminate(event, connection_);
  on_other_operation(event, "a Send");
}

void OptimisticConnection::on(const trace::Event& event, const trace::RdmaWrite& body) {
  check_after_terminate(event, connection_);
  // MPA's ready-to-receive message may be one without octets (RFC 6581 7).
  if (body.length > 0) on_other_operation(event, "an RDMA Write");
}

void OptimisticConnection::on(const trace::Event& event, const trace::RdmaRead& body) {
  check_after_terminate(event, connection_);
  if (event.actor == trace::Role::server) {
    if (body.length > 0) on_other_operation(event, "an RDMA Read");
    return;
  }
  OptimisticRead read{event.index, body.source_stag, body.source_offset, body.length};
  find_block(read);
  latest_ = read;
  if (is_blind()) return;
  judge_use(event, read);
  if (reads_.size() == kMostOptimisticReads) return forget_history();
  reads_.push_back({read, access_.next_moment(), body.length, !illegal_.empty(), ++read_count_});
  if (reads_.size() == 1) frame_.begin(body.length);
}

// A Read that has ended before the DELEGRETURN was seen before it, wherever the capture was made.
void OptimisticConnection::judge_use(const trace::Event& event, const OptimisticRead& read) {
  if (!read.in_frame || read.length == 0 || user_->incomplete || user_->ended) return;
  const Grant* grant = user_->grants.covering(read.stag, read.offset, read.length);
  if (!grant->given_up) return;
  if (Finding* finding = connection_.findings.open(kRecallEndsTheUse, event.actor, event.index)) {
    const std::string_view counts = connection_.visibility.index_counts;
    finding->expected =
        say("no use of a reference of before the DELEGRETURN in ", counts, " ", *grant->given_up);
    finding->observed = say("an RDMA Read of the block at ", read.block_offset, ", granted in ",
                            counts, " ", grant->event);
  }
}

void OptimisticConnection::find_block(OptimisticRead& read) const {
  if (!user_) return;
  const Grant* grant = user_->grants.covering(read.stag, read.offset, read.length);
  read.in_frame = grant != nullptr;
  if (grant == nullptr) return;
  read.file = grant->file;
  read.block_offset = grant->reference.offset;
  read.block_length = grant->reference.length;
  read.grant_event = grant->event;
}

// RFC 5040 5.2.1: responses come in the order of their requests.
void OptimisticConnection::on(const trace::Event& event, const trace::RdmaReadResponse& body) {
  check_after_terminate(event, connection_);
  if (event.actor == trace::Role::client || is_blind() || reads_.empty()) return;
  Pending& first = reads_.front();
  if (body.length > first.left) return forget_history();  // it is of another Read
  if (body.payload.size() == body.length) {
    frame_.take(body.payload);
  } else {
    frame_.lose();
  }
  first.left -= body.length;
  if (first.left == 0) return finish(event);
  latest_ = first.read;
}

void OptimisticConnection::finish(const trace::Event& event) {
  const Pending pending = reads_.front();
  OptimisticRead read = pending.read;
  find_block(read);
  if (pending.behind_illegal) {
    if (Finding* finding =
            connection_.findings.open(kIllegalOperationEndsIt, event.actor, event.index)) {
      finding->expected = "the end of the connection";
      finding->observed = say(illegal_, " in ", connection_.visibility.index_counts, " ",
                              illegal_event_, ", and an answer to a Read behind it");
    }
  }
  read.state = read.in_frame ? ReadState::part : ReadState::outside;
  if (read.length > 0 && user_) {
    if (!read.in_frame) {
      judge_place(event, read);
    } else if (read.length == read.block_length + kFrameBytes) {
      judge_frame(event, pending, read);
    }
  }
  latest_ = read;
  reads_.pop_front();
  if (!reads_.empty()) frame_.begin(reads_.front().left);
}

void OptimisticConnection::judge_place(const trace::Event& event, const OptimisticRead& read) {
  if (user_->incomplete || user_->ended || !access_.sees_all()) return;
  const bool foreign = access_.is_foreign(*user_, read.stag, read.offset, read.length);
  const Rule& rule = foreign ? kReadShowsNoForeignFrame : kReadShowsItsFrameAlone;
  if (Finding* finding = connection_.findings.open(rule, event.actor, event.index)) {
    finding->expected = foreign ? "no answer to a Read by the reference of another user"
                                : "no answer to a Read that no reference of the user covers";
    finding->observed = read_text(read);
  }
}

void OptimisticConnection::judge_frame(const trace::Event& event, const Pending& pending,
                                       OptimisticRead& read) {
  const auto generation = frame_.generation();
  read.state = ReadState::unknown;
  if (!generation) return;
  if (*generation == 0) {
    read.state = ReadState::revoked;
  } else if (!frame_.is_sealed()) {
    read.state = ReadState::torn;
  } else if (const Grant* grant = user_->grants.find(*generation)) {
    read.state = ReadState::valid;
    judge_age(event, pending, *grant);
  }
  if (read.state == ReadState::valid) return;
  user_->fail({read.file, read.block_offset, event.index});
}

/// The frame is valid by this grant.
void OptimisticConnection::judge_age(const trace::Event& event, const Pending& pending,
                                     const Grant& grant) {
  const auto is_old = [&](std::uint64_t moment) { return moment != 0 && pending.moment > moment; };
  const bool changed = is_old(grant.changed);
  if (!changed && !is_old(grant.denied)) return;
  const Rule& rule = changed ? kChangeVoidsTheFrame : kDenialVoidsTheFrame;
  if (Finding* finding = connection_.findings.open(rule, event.actor, event.index)) {
    const std::uint64_t since = changed ? grant.change_event : grant.denial_event;
    const std::string_view counts = connection_.visibility.index_counts;
    finding->expected = say("no valid frame of before the change answered in ", counts, " ", since);
    finding->observed = say("a valid frame with generation ", Hex{grant.reference.generation, true},
                            ", granted in ", counts, " ", grant.event, ", of the block at ",
                            grant.reference.offset);
  }
}

/// Returns the Reads without an answer: the server refused one of them. The first is shown.
std::deque<OptimisticConnection::Pending> OptimisticConnection::fault(const trace::Event& event) {
  if (event.actor != trace::Role::server || is_blind() || reads_.empty()) return {};
  latest_ = reads_.front().read;
  latest_->state = ReadState::faulted;
  std::deque<Pending> unanswered = std::exchange(reads_, {});
  for (const Pending& each : unanswered) {
    if (user_ && each.read.in_frame) {
      user_->fail({each.read.file, each.read.block_offset, event.index});
    }
  }
  return unanswered;
}

bool OptimisticConnection::is_leased(const OptimisticRead& read, std::int64_t time_ns) const {
  const Grant* grant = user_->grants.covering(read.stag, read.offset, read.length);
  return grant != nullptr && !grant->returning &&
         time_ns - grant->granted_ns < user_->certain_lease_ns();
}

/// Only iWARP tells a fault of memory from other ends. The Reads are those without an answer.
void OptimisticConnection::judge_fault(const trace::Event& event, const trace::Terminate& terminate,
                                       const std::deque<Pending>& unanswered) {
  // RFC 5040 4.8: a Remote Protection Error of RDMAP.
  const bool is_of_memory = terminate.layer == 0 && terminate.type == 1;
  if (!is_of_memory || unanswered.empty()) return;
  if (recovers_) return judge_agreed_fault(event, terminate);
  if (!user_ || user_->may_have_ended) return;
  // A server may look at a Read before it has answered those in front of it.
  const auto is_kept = [&](const Pending& each) { return is_leased(each.read, event.time_ns); };
  if (!std::ranges::all_of(unanswered, is_kept)) return;
  if (Finding* finding = connection_.findings.open(kGrantedMemoryStays, event.actor, event.index)) {
    const OptimisticRead& first = unanswered.front().read;
    finding->expected = say("memory that stays registered for ", user_->lease_seconds, " s");
    // Without their number: which of them the server had seen depends on the observer.
    finding->observed = say("a fault of a Read of ", first.length, " octets at STag ",
                            Hex{first.stag}, " offset ", Hex{first.offset, true});
  }
}

void OptimisticConnection::judge_agreed_fault(const trace::Event& event,
                                              const trace::Terminate& terminate) {
  if (terminate.code > kLastCodeOfMemory) return;
  if (Finding* finding =
          connection_.findings.open(kAgreedFaultIsRefused, event.actor, event.index)) {
    finding->expected = "a refusal of this Read alone";
    finding->observed = say("a Terminate for a Read of ", latest_->length, " octets at STag ",
                            Hex{latest_->stag}, " offset ", Hex{latest_->offset, true});
  }
}

void OptimisticConnection::on(const trace::Event& event, const trace::Terminate& body) {
  connection_.terminated[static_cast<std::size_t>(event.actor)] = true;
  judge_fault(event, body, fault(event));
}

void OptimisticConnection::on(const trace::Event& event, const trace::Disconnect& body) {
  if (!body.clean) fault(event);
}

void OptimisticConnection::on(const trace::Event& event, const trace::RdmaReadRefused& body) {
  check_after_terminate(event, connection_);
  if (is_blind()) return;
  if (!recovers_) {
    if (Finding* finding =
            connection_.findings.open(kRefusalNeedsBothWords, event.actor, event.index)) {
      finding->expected = "a Read Response or a Terminate";
      finding->observed = say("a refusal of Read ", body.read, ", without the word of ",
                              asked_recovery_ ? "the server" : "the client");
    }
    return;
  }
  const bool is_oldest =
      !reads_.empty() && event.actor == trace::Role::server && reads_.front().number == body.read;
  if (!is_oldest) {
    if (Finding* finding =
            connection_.findings.open(kRefusalIsOfTheOldestRead, event.actor, event.index)) {
      finding->expected = reads_.empty() ? std::string("no refusal without a Read")
                                         : say("a refusal of Read ", reads_.front().number);
      finding->observed = say("a refusal of Read ", body.read);
    }
    return;
  }
  latest_ = reads_.front().read;
  find_block(*latest_);
  latest_->state = ReadState::faulted;
  if (user_ && latest_->in_frame) user_->fail({latest_->file, latest_->block_offset, event.index});
  reads_.pop_front();
  if (!reads_.empty()) frame_.begin(reads_.front().left);
}

}  // namespace steertag::conformance
