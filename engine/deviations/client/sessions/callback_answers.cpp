// Deviations of the client: how it answers callbacks of NFS version 4.1 (RFC 8881 20.9.3).
#include <algorithm>
#include <limits>

#include "client/v4/callback_program.h"
#include "deviations/client/client_compound.h"
#include "deviations/families.h"
#include "nfs/v4/callback_ops.h"
#include "nfs/v4/compound.h"
#include "rpc/message.h"
#include "wire/encoded.h"
#include "wire/xdr.h"

namespace steertag::deviations {
namespace {

using nfs4::CbOpnum;
using nfs4::Status;

constexpr std::uint32_t kShortReply = 512;  // octets; no server finds it too short

/// A CB_COMPOUND that begins with CB_SEQUENCE.
struct Callback {
  nfs4::CbCompoundArgs compound;
  nfs4::CbSequenceArgs sequence;
  std::uint32_t xid = 0;
};

std::optional<Callback> callback_of(View call) {
  wire::Reader reader(call);
  rpc::CallHeader header;
  header.decode(reader);
  if (!reader.ok() || header.program != peer::kCallbackProgram ||
      header.procedure != nfs4::CB_COMPOUND)
    return std::nullopt;
  Callback callback;
  callback.xid = header.xid;
  callback.compound.decode(reader);
  nfs4::OperationReader<CbOpnum> operations(reader, "argarray");
  const auto first = operations.next();
  if (!first || *first != CbOpnum::OP_CB_SEQUENCE) return std::nullopt;
  callback.sequence.decode(reader);
  return reader.ok() ? std::optional(callback) : std::nullopt;
}

/// The answer as a transport header and CB_COMPOUND4res.
struct Answer {
  Status status = Status::NFS4_OK;  // of the COMPOUND
  std::optional<nfs4::CbSequenceOk> sequence;
  std::size_t sequence_end = 0;  // in octets of the message
};

std::optional<Answer> answer_of(View message) {
  const auto decoded = decode(message);
  if (!decoded || !decoded->is_reply()) return std::nullopt;
  wire::Reader reader(decoded->payload);
  rpc::ReplyHeader header;
  header.decode(reader);
  if (!reader.ok() || !header.success()) return std::nullopt;
  nfs4::CompoundResult compound;
  compound.decode(reader);
  Answer answer;
  answer.status = compound.status;
  nfs4::OperationReader<CbOpnum> results(reader, "resarray");
  const auto first = results.next();
  if (!reader.ok() || !first || *first != CbOpnum::OP_CB_SEQUENCE) return answer;
  nfs4::CbSequenceResult result;
  result.decode(reader);
  if (!reader.ok() || result.status != Status::NFS4_OK) return answer;
  answer.sequence = result.resok4;
  answer.sequence_end = message.size() - decoded->payload.size() + reader.offset();
  return answer;
}

/// Puts CB_COMPOUND4res in the place of that of an answer.
void put_results(Bytes& message, std::uint32_t xid,
                 const std::function<void(nfs4::ReplyWriter<CbOpnum>&)>& fill) {
  message.resize(wire::kSmallestHeaderBytes);
  wire::Writer writer(message);
  rpc::ReplyHeader::accepted(xid, rpc::AcceptStatus::SUCCESS).encode(writer);
  Bytes results;
  nfs4::ReplyWriter<CbOpnum> reply(results, {});
  fill(reply);
  message.insert(message.end(), results.begin(), results.end());
}

void refuse_sequence(peer::AnswerStep& step, std::uint32_t xid) {
  put_results(step.message, xid, [](auto& results) {
    results.add_status(CbOpnum::OP_CB_SEQUENCE, Status::NFS4ERR_SEQ_MISORDERED);
  });
}

void refuse_ident(peer::AnswerStep& step, ClientHistory& /*history*/) {
  const auto callback = callback_of(step.payload);
  if (!callback || callback->compound.callback_ident == 0) return;
  put_results(step.message, callback->xid,
              [](auto& results) { results.set_status(Status::NFS4ERR_INVAL); });
}

bool is_retry(const ClientHistory& history, const nfs4::CbSequenceArgs& sequence) {
  const auto found = history.spoilt_callbacks.find(sequence.csa_slotid);
  return found != history.spoilt_callbacks.end() && found->second == sequence.csa_sequenceid;
}

/// Which callbacks are spoilt: the retry is answered differently from the first call.
enum class Spoilt : std::uint8_t { all, kept, illegal };

template <Spoilt kWhich>
void spoil_retry(peer::AnswerStep& step, ClientHistory& history) {
  const auto callback = callback_of(step.payload);
  const auto answer = answer_of(step.message);
  if (!callback || !answer || !answer->sequence) return;
  const nfs4::CbSequenceArgs& sequence = callback->sequence;
  if (is_retry(history, sequence)) {
    if (kWhich != Spoilt::illegal) return refuse_sequence(step, callback->xid);
    put_results(step.message, callback->xid, [&](auto& results) {
      nfs4::CbSequenceResult ok;
      ok.resok4 = *answer->sequence;
      results.add(CbOpnum::OP_CB_SEQUENCE, ok);
      results.add_status(CbOpnum::OP_CB_ILLEGAL, Status::NFS4ERR_RETRY_UNCACHED_REP);
    });
    return;
  }
  const bool spoilt = kWhich == Spoilt::all || (kWhich == Spoilt::kept && sequence.csa_cachethis) ||
                      (kWhich == Spoilt::illegal && answer->status == Status::NFS4ERR_OP_ILLEGAL);
  if (spoilt) {
    history.spoilt_callbacks[sequence.csa_slotid] = sequence.csa_sequenceid;
  } else {
    history.spoilt_callbacks.erase(sequence.csa_slotid);
  }
}

/// `spoilt_callbacks` has the last call of a slot once CB_SEQUENCE has failed in it.
void drop_after_error(peer::AnswerStep& step, ClientHistory& history) {
  const auto callback = callback_of(step.payload);
  const auto answer = answer_of(step.message);
  if (!callback || !answer) return;
  const nfs4::CbSequenceArgs& sequence = callback->sequence;
  if (answer->sequence) {
    if (is_retry(history, sequence)) return refuse_sequence(step, callback->xid);
    history.answered_callbacks[sequence.csa_slotid] = sequence.csa_sequenceid;
    history.spoilt_callbacks.erase(sequence.csa_slotid);
    return;
  }
  const auto last = history.answered_callbacks.find(sequence.csa_slotid);
  if (last != history.answered_callbacks.end()) history.spoilt_callbacks.insert(*last);
}

/// The server uses a sequence id that is neither the last one of the slot nor the next.
bool is_misordered(const ArrivingMessage& arriving) {
  const auto decoded = decode(arriving.message());
  const auto callback =
      decoded && decoded->is_call() ? callback_of(decoded->payload) : std::nullopt;
  if (!callback) return false;
  const nfs4::CbSequenceArgs& sequence = callback->sequence;
  std::uint32_t& last = arriving.history.answered_callbacks[sequence.csa_slotid];
  if (sequence.csa_sequenceid != last && sequence.csa_sequenceid != last + 1) return true;
  last = sequence.csa_sequenceid;
  return false;
}

void lower_highest_slot(peer::AnswerStep& step, ClientHistory& /*history*/) {
  const auto answer = answer_of(step.message);
  if (!answer || !answer->sequence) return;
  constexpr std::size_t kHighestFromEnd = 8;  // csr_highest_slotid and the target
  wire::store_u32(step.message.data() + answer->sequence_end - kHighestFromEnd, 0);
}

/// The callback refers to a call under way: then the client puts it off.
void withhold_delayed(peer::AnswerStep& step, ClientHistory& /*history*/) {
  const auto answer = answer_of(step.message);
  step.withheld = answer && answer->status == Status::NFS4ERR_DELAY;
}

void ask_for_short(peer::RequestStep& step, ClientHistory& /*history*/) {
  if (step.again) return;
  change_request<nfs4::CreateSessionArgs>(step, nfs4::Opnum::OP_CREATE_SESSION, [](auto& args) {
    args.csa_back_chan_attrs.ca_maxresponsesize = kShortReply;
    args.csa_back_chan_attrs.ca_maxresponsesize_cached = kShortReply;
  });
}

void answer_long(peer::AnswerStep& step, ClientHistory& /*history*/) {
  if (callback_of(step.payload) && answer_of(step.message))
    step.message.resize(wire::kSmallestHeaderBytes + 2 * kShortReply);
}

/// CB_COMPOUND4res begins with its status.
void succeed_always(peer::AnswerStep& step, ClientHistory& /*history*/) {
  if (!callback_of(step.payload) || !answer_of(step.message)) return;
  const std::size_t status_at =
      wire::kSmallestHeaderBytes +
      wire::encoded(rpc::ReplyHeader::accepted(0, rpc::AcceptStatus::SUCCESS)).size();
  wire::store_u32(step.message.data() + status_at, 0);
}

/// A last result of CB_ILLEGAL gets the number that was called.
void echo_number(peer::AnswerStep& step, ClientHistory& /*history*/) {
  const auto answer = answer_of(step.message);
  if (!answer || answer->status != Status::NFS4ERR_OP_ILLEGAL) return;
  constexpr std::size_t kResultBytes = 8;  // number and status
  const View number = step.payload.last(4);
  std::ranges::copy(number, step.message.end() - kResultBytes);
}

void drop_tag(peer::AnswerStep& step, ClientHistory& /*history*/) {
  const auto callback = callback_of(step.payload);
  const auto answer = answer_of(step.message);
  if (!callback || !answer || !answer->sequence || answer->status != Status::NFS4_OK) return;
  put_results(step.message, callback->xid, [&](auto& results) {
    nfs4::CbSequenceResult ok;
    ok.resok4 = *answer->sequence;
    results.add(CbOpnum::OP_CB_SEQUENCE, ok);
  });
}

constexpr Deviation kCallbackAnswers[] = {
    {.name = "callback-goes-on-behind-error",
     .side = trace::Role::client,
     .breaks = {"RFC8881-19.2.4-1"},
     .sentence = "A CB_COMPOUND is executed to its end, also behind an operation that fails.",
     .client = {.options =
                    [](peer::FileClientOptions& options) {
                      options.session.callbacks.ends_at_error = false;
                    }}},
    {.name = "callback-status-always-ok",
     .side = trace::Role::client,
     .breaks = {"RFC8881-19.2.3-1"},
     .sentence = "The status of a CB_COMPOUND with CB_SEQUENCE is NFS4_OK.",
     .client = {.answer = succeed_always}},
    {.name = "illegal-callback-number-echoed",
     .side = trace::Role::client,
     .breaks = {"RFC8881-20.13.3-1"},
     .sentence = "An illegal callback gets its own number in the result.",
     .client = {.answer = echo_number}},
    {.name = "callback-minor-version-ignored",
     .side = trace::Role::client,
     .breaks = {"RFC8881-15.1.3.2-1"},
     .sentence = "A CB_COMPOUND of any minor version is executed.",
     .client = {.options =
                    [](peer::FileClientOptions& options) {
                      options.session.callbacks.compares_minor_version = false;
                    }}},
    {.name = "callback-tag-dropped",
     .side = trace::Role::client,
     .breaks = {"RFC8881-16.2.3-1"},
     .sentence = "The results of a callback have no tag.",
     .client = {.answer = drop_tag}},
    {.name = "callback-ident-refused",
     .side = trace::Role::client,
     .breaks = {"RFC8881-2.10.2.1-1"},
     .sentence = "A CB_COMPOUND with another callback_ident than 0 gets NFS4ERR_INVAL.",
     .client = {.answer = refuse_ident}},
    {.name = "callback-retry-executed",
     .side = trace::Role::client,
     .breaks = {"RFC8881-20.9.3-2"},
     .sentence = "A CB_COMPOUND with the sequence id of the last one is executed.",
     .client = {.options =
                    [](peer::FileClientOptions& options) {
                      options.session.callbacks.keeps_replies = false;
                    }}},
    {.name = "callback-slots-of-connection",
     .side = trace::Role::client,
     .breaks = {"RFC8881-20.9.3-2"},
     .sentence = "The slots of callbacks begin anew with each connection that is bound.",
     .client = {.options =
                    [](peer::FileClientOptions& options) {
                      options.session.callbacks.keeps_slots = false;
                    }}},
    {.name = "callback-retry-refused",
     .side = trace::Role::client,
     .breaks = {"RFC8881-20.9.3-2"},
     .sentence = "A CB_COMPOUND with the sequence id of the last one gets NFS4ERR_SEQ_MISORDERED.",
     .client = {.answer = spoil_retry<Spoilt::all>}},
    {.name = "misordered-callback-executed",
     .side = trace::Role::client,
     .breaks = {"RFC8881-20.9.3-2"},
     .sentence = "A CB_COMPOUND is executed whatever sequence id it has.",
     .client = {.options =
                    [](peer::FileClientOptions& options) {
                      options.session.callbacks.compares_sequence =
                          options.session.callbacks.compares_first_sequence = false;
                    }}},
    {.name = "unknown-referring-call-delayed",
     .side = trace::Role::client,
     .breaks = {"RFC8881-2.10.6.3-3"},
     .sentence = "A callback with any referring call is put off.",
     .client = {.options =
                    [](peer::FileClientOptions& options) {
                      options.session.callbacks.delays_any_referral = true;
                    }}},
    {.name = "first-referring-call-alone",
     .side = trace::Role::client,
     .breaks = {"RFC8881-2.10.6.3-5"},
     .sentence = "Of each list of referring calls the first one is heeded.",
     .client = {.options =
                    [](peer::FileClientOptions& options) {
                      options.session.callbacks.heeds_all_referrals = false;
                    }}},
    {.name = "referring-call-awaited",
     .side = trace::Role::client,
     .breaks = {"RFC8881-2.10.6.3-4"},
     .sentence = "A callback that refers to a call under way has no answer.",
     .client = {.answer = withhold_delayed}},
    {.name = "first-callback-any-number",
     .side = trace::Role::client,
     .breaks = {"RFC8881-18.36.3-15"},
     .sentence = "The first callback of a slot may have any sequence id.",
     .client = {.options =
                    [](peer::FileClientOptions& options) {
                      options.session.callbacks.compares_first_sequence = false;
                    }}},
    {.name = "callback-operations-unlimited",
     .side = trace::Role::client,
     .breaks = {"RFC8881-18.36.3-16"},
     .sentence = "A CB_COMPOUND may have any number of operations.",
     .client = {.options =
                    [](peer::FileClientOptions& options) {
                      options.session.callbacks.most_operations =
                          std::numeric_limits<std::uint32_t>::max();
                    }}},
    {.name = "second-callback-sequence-invalid",
     .side = trace::Role::client,
     .breaks = {"RFC8881-20.9.3-3"},
     .sentence = "CB_SEQUENCE behind another operation gets NFS4ERR_INVAL.",
     .client = {.options =
                    [](peer::FileClientOptions& options) {
                      options.session.callbacks.second_sequence_status = Status::NFS4ERR_INVAL;
                    }}},
    {.name = "callback-without-sequence-executed",
     .side = trace::Role::client,
     .breaks = {"RFC8881-20.9.3-4"},
     .sentence = "A CB_COMPOUND is executed without CB_SEQUENCE.",
     .client = {.options =
                    [](peer::FileClientOptions& options) {
                      options.session.callbacks.needs_sequence = false;
                    }}},
    {.name = "bad-callback-slot-misordered",
     .side = trace::Role::client,
     .breaks = {"RFC8881-20.9.3-5"},
     .sentence = "A callback in a slot that is not there gets NFS4ERR_SEQ_MISORDERED.",
     .client = {.options =
                    [](peer::FileClientOptions& options) {
                      options.session.callbacks.bad_slot_status = Status::NFS4ERR_SEQ_MISORDERED;
                    }}},
    {.name = "other-session-callback-executed",
     .side = trace::Role::client,
     .breaks = {"RFC8881-20.9.3-6"},
     .sentence = "Callbacks are executed whatever session they name.",
     .client = {.options =
                    [](peer::FileClientOptions& options) {
                      options.session.callbacks.compares_session = false;
                    }}},
    {.name = "kept-callback-reply-forgotten",
     .side = trace::Role::client,
     .breaks = {"RFC8881-20.9.3-7"},
     .sentence = "A reply that was to be kept is not, and its retry is misordered.",
     .client = {.answer = spoil_retry<Spoilt::kept>}},
    {.name = "misordered-callback-disconnects",
     .side = trace::Role::client,
     .breaks = {"RFC8881-20.9.3-2"},
     .sentence = "A callback out of the order of its slot ends the connection.",
     .client = {.arrival = disconnect_over<is_misordered>}},
    {.name = "callback-error-drops-reply",
     .side = trace::Role::client,
     .breaks = {"RFC8881-20.9.3-8"},
     .sentence = "An error of CB_SEQUENCE empties the reply cache of its slot.",
     .client = {.answer = drop_after_error}},
    {.name = "callback-highest-slot-low",
     .side = trace::Role::client,
     .breaks = {"RFC8881-20.9.3-9"},
     .sentence = "csr_highest_slotid is zero.",
     .client = {.answer = lower_highest_slot}},
    {.name = "illegal-callback-retry-uncached",
     .side = trace::Role::client,
     .breaks = {"RFC8881-20.9.3-10"},
     .sentence = "The retry of an illegal callback gets NFS4ERR_RETRY_UNCACHED_REP.",
     .client = {.answer = spoil_retry<Spoilt::illegal>}},
    {.name = "callback-replies-too-long",
     .side = trace::Role::client,
     .breaks = {"RFC8267-6.5.2-2"},
     .sentence = "Replies to callbacks are longer than the backchannel was asked for with.",
     .client = {.request = ask_for_short, .answer = answer_long}},
};

}  // namespace

std::span<const Deviation> callback_answers_family() {
  return kCallbackAnswers;
}

}  // namespace steertag::deviations
