// Reads calls and replies of the program of direct access, and of NFS.
#include "conformance/direct/direct_calls.h"

#include <algorithm>

#include "conformance/direct/direct_rules.h"
#include "conformance/direct/reference_check.h"
#include "conformance/text.h"
#include "nfs/binding.h"
#include "nfs/direct/procedures.h"
#include "nfs/nfs3_args.h"
#include "nfs/nfs3_procedures.h"
#include "nfs/v4/attribute_numbers.h"
#include "nfs/v4/callbacks.h"
#include "nfs/v4/compound.h"
#include "nfs/v4/delegation_ops.h"
#include "nfs/v4/limits.h"
#include "rpc/message.h"

namespace steertag::conformance {

namespace {

using direct::Procedure;
using nfs4::Opnum;

std::string text_of(View octets) {
  return {reinterpret_cast<const char*>(octets.data()), octets.size()};
}

std::string_view name_of(std::uint32_t procedure) {
  for (const auto& each : direct::kProcedureNames) {
    if (static_cast<std::uint32_t>(each.value) == procedure) return each.name;
  }
  return {};
}

/// The references of a READ's result whose status was read; its data may be in a write chunk.
std::vector<direct::Reference> references_of_read(wire::Reader& results, bool reduced) {
  results.u64("change");
  results.u64("size");
  results.boolean("eof");
  if (reduced) {
    results.u32("data");
  } else {
    results.opaque(nfs4::kMostDataOctets, "data");
  }
  direct::RefsOk rest;
  const std::uint32_t count = results.count(32, direct::kMostReferences, "refs");
  for (std::uint32_t i = 0; i < count && results.ok(); ++i) {
    rest.refs.emplace_back().decode(results);
  }
  return std::move(rest.refs);
}

/// What SETATTR of version 4 sets, as far as it is about data and who may read.
void note_attributes(const nfs4::Fattr& attributes, ContentChange& size, bool& denies) {
  const auto is_set = [&](std::uint32_t number) { return attributes.attrmask.test(number); };
  denies =
      is_set(nfs4::FATTR4_MODE) || is_set(nfs4::FATTR4_OWNER) || is_set(nfs4::FATTR4_OWNER_GROUP);
  // It is the first of the attributes that can be set.
  if (!is_set(nfs4::FATTR4_SIZE)) return;
  wire::Reader values(attributes.attr_vals);
  const std::uint64_t length = values.u64("size");
  if (values.ok()) size.size = length;
}

}  // namespace

DirectCalls::Pending* DirectCalls::remember(std::uint32_t xid, Kind kind) {
  if (calls_.size() >= kMostDirectCalls && !calls_.contains(xid)) {
    if (kind == Kind::hello) hello_unclear_ = true;
    if (kind == Kind::references && user_) user_->incomplete = true;
    return nullptr;
  }
  Pending& call = calls_[xid] = {};
  call.kind = kind;
  call.moment = access_.next_moment();
  return &call;
}

void DirectCalls::on_call(const Message& message, const RpcCall& rpc,
                          const Connection& /*connection*/) {
  if (rpc.wrapping != rpc::Wrapping::plain) return;
  if (message.sender == trace::Role::server) return on_callback(message, rpc);
  const bool is_direct = rpc.program == direct::kProgram && rpc.version == direct::kVersion;
  const bool is_nfs = rpc.program == nfs::kNfsProgram && access_.has_users();
  if (!is_direct && !is_nfs) return;
  wire::Reader reader(message.payload, wire::Values::any);
  rpc::CallHeader header;
  header.decode(reader);
  if (!reader.ok()) return;
  if (is_direct) return on_direct_call(message, rpc.procedure, reader);
  if (rpc.version == 3) return on_nfs3_call(message, rpc.procedure, reader);
  const bool is_compound = rpc.version == 4 && rpc.procedure == nfs4::NFSPROC4_COMPOUND;
  if (is_compound) on_compound(message, reader);
}

void DirectCalls::on_direct_call(const Message& message, std::uint32_t procedure,
                                 wire::Reader& arguments) {
  latest_.procedure = name_of(procedure);
  const auto wish = [](const auto& args) {
    return Wish{text_of(args.file.view()), args.offset, args.want_refs};
  };
  Pending made;
  switch (static_cast<Procedure>(procedure)) {
    case Procedure::DIRECTPROC1_HELLO:
      made.kind = Kind::hello;
      made.hello.decode(arguments);
      access_.doubt(made.hello.verifier);
      if (user_) user_->may_have_ended = true;
      break;
    case Procedure::DIRECTPROC1_REFS: {
      direct::RefsArgs args;
      args.decode(arguments);
      made.kind = Kind::references;
      made.wishes.push_back(wish(args));
      break;
    }
    case Procedure::DIRECTPROC1_READ: {
      direct::ReadArgs args;
      args.decode(arguments);
      made.kind = Kind::references;
      made.wishes.push_back(wish(args));
      if (arguments.ok()) note_read(made.wishes.back().file, args.offset, args.count);
      break;
    }
    case Procedure::DIRECTPROC1_BATCH: {
      direct::BatchArgs args;
      args.decode(arguments);
      made.kind = Kind::references;
      for (const direct::ReadArgs& each : args.reads) {
        made.wishes.push_back(wish(each));
        if (arguments.ok()) note_read(made.wishes.back().file, each.offset, each.count);
      }
      break;
    }
    case Procedure::DIRECTPROC1_RETURN: {
      direct::ReturnArgs args;
      args.decode(arguments);
      made.kind = Kind::give_back;
      for (const direct::Reference& each : args.refs) {
        made.generations.push_back(each.generation);
        Grant* grant = user_ ? user_->grants.find(each.generation) : nullptr;
        if (grant != nullptr) grant->returning = true;
      }
      break;
    }
    default:
      break;
  }
  if (!arguments.ok()) return;
  if (Pending* call = remember(message.words.xid, made.kind)) {
    made.moment = call->moment;
    made.procedure = latest_.procedure;
    *call = std::move(made);
  }
}

void DirectCalls::on_nfs3_call(const Message& message, std::uint32_t procedure,
                               wire::Reader& arguments) {
  const auto asked = static_cast<nfs3::Procedure>(procedure);
  const bool is_write = asked == nfs3::Procedure::NFSPROC3_WRITE;
  if (asked == nfs3::Procedure::NFSPROC3_READ) {
    const std::string file = text_of(arguments.opaque(nfs3::kMostHandleOctets, "file"));
    const std::uint64_t offset = arguments.u64("offset");
    const std::uint32_t count = arguments.u32("count");
    if (arguments.ok()) note_read(file, offset, count);
    return;
  }
  if (!is_write && asked != nfs3::Procedure::NFSPROC3_SETATTR) return;
  ContentChange change;
  change.file = text_of(arguments.opaque(nfs3::kMostHandleOctets, "file"));
  if (!access_.find_file(change.file)) return;
  bool matters = true;
  if (is_write) {
    change.offset = arguments.u64("offset");
    change.length = arguments.u32("count");
  } else {
    nfs3::Sattr attributes;
    attributes.decode(arguments);
    change.denies = attributes.mode || attributes.uid || attributes.gid;
    change.size = attributes.size;
    matters = change.denies || change.size;
  }
  if (!arguments.ok() || !matters) return;
  if (Pending* call = remember(message.words.xid, Kind::change)) {
    call->is_write = is_write;
    call->version = 3;
    call->change = std::move(change);
  }
}

/// Follows CB_SEQUENCE to one CB_RECALL. Other forms are not looked at.
void DirectCalls::on_callback(const Message& message, const RpcCall& rpc) {
  const bool is_compound = rpc.version == nfs4::kCallbackVersion &&
                           rpc.procedure == nfs4::CB_COMPOUND && access_.has_users();
  if (!is_compound) return;
  wire::Reader reader(message.payload, wire::Values::any);
  rpc::CallHeader header;
  header.decode(reader);
  nfs4::CbCompoundArgs head;
  head.decode(reader);
  const std::uint32_t count = std::min<std::uint32_t>(reader.u32("argarray"), 2);
  for (std::uint32_t i = 0; i < count && reader.ok(); ++i) {
    switch (static_cast<nfs4::CbOpnum>(reader.u32("argop"))) {
      case nfs4::CbOpnum::OP_CB_SEQUENCE: {
        nfs4::CbSequenceArgs args;
        args.decode(reader);
        break;
      }
      case nfs4::CbOpnum::OP_CB_RECALL: {
        nfs4::CbRecallArgs args;
        args.decode(reader);
        if (reader.ok()) access_.recall({args.stateid.other, text_of(args.fh.view())});
        return;
      }
      default:
        return;
    }
  }
}

/// The references of before serve no more: what was recalled goes back.
void DirectCalls::on_return(const Message& message, const FileDelegation& delegation) {
  const auto file = access_.find_file(delegation.file);
  if (!access_.take_recall(delegation) || !file || !user_) return;
  user_->grants.each_of(*file, [&](Grant& grant) { grant.given_up = message.event; });
}

/// Follows SEQUENCE and PUTFH to one READ, WRITE, SETATTR or DELEGRETURN. Other forms are not
/// looked at.
void DirectCalls::on_compound(const Message& message, wire::Reader& arguments) {
  nfs4::CompoundArgs head;
  head.decode(arguments);
  const std::uint32_t count = std::min<std::uint32_t>(arguments.u32("argarray"), 4);
  ContentChange change;
  for (std::uint32_t i = 0; i < count && arguments.ok(); ++i) {
    switch (static_cast<Opnum>(arguments.u32("argop"))) {
      case Opnum::OP_SEQUENCE:
        arguments.skip(nfs4::kSessionIdOctets + 4 * 4, "SEQUENCE");
        break;
      case Opnum::OP_PUTFH:
        change.file = text_of(arguments.opaque(nfs4::kMostHandleOctets, "object"));
        break;
      case Opnum::OP_READ: {
        arguments.skip(16, "stateid");
        const std::uint64_t offset = arguments.u64("offset");
        const std::uint32_t octets = arguments.u32("count");
        if (arguments.ok()) note_read(change.file, offset, octets);
        return;
      }
      case Opnum::OP_WRITE: {
        arguments.skip(16, "stateid");
        change.offset = arguments.u64("offset");
        arguments.u32("stable");
        change.length = arguments.u32("data");
        if (!arguments.ok() || !access_.find_file(change.file)) return;
        if (Pending* call = remember(message.words.xid, Kind::change)) {
          call->is_write = true;
          call->version = 4;
          call->operations = i;
          call->change = std::move(change);
        }
        return;
      }
      case Opnum::OP_DELEGRETURN: {
        nfs4::DelegreturnArgs args;
        args.decode(arguments);
        if (arguments.ok()) on_return(message, {args.deleg_stateid.other, change.file});
        return;
      }
      case Opnum::OP_SETATTR: {
        arguments.skip(16, "stateid");
        nfs4::Fattr attributes;
        attributes.decode(arguments);
        if (!arguments.ok() || !access_.find_file(change.file)) return;
        note_attributes(attributes, change, change.denies);
        if (!change.denies && !change.size) return;
        if (Pending* call = remember(message.words.xid, Kind::change)) {
          call->version = 4;
          call->operations = i;
          call->change = std::move(change);
        }
        return;
      }
      default:
        return;
    }
  }
}

/// A call that reads octets of a file may do what an optimistic Read failed to.
void DirectCalls::note_read(std::string_view file, std::uint64_t offset, std::uint64_t count) {
  const auto number = access_.find_file(file);
  if (!user_ || !number) return;
  const std::uint64_t block_bytes = std::max<std::uint32_t>(user_->block_bytes, 1);
  const auto found = std::ranges::find_if(user_->failed, [&](const FailedRead& each) {
    return each.file == *number && each.offset < offset + std::max<std::uint64_t>(count, 1) &&
           each.offset + block_bytes > offset;
  });
  if (found == user_->failed.end()) return;
  latest_.fallback = found->event;
  user_->failed.erase(found);
}

void DirectCalls::on_reply(const Message& message, Connection& connection) {
  if (message.sender != trace::Role::server) return;
  auto found = calls_.extract(message.words.xid);
  if (found.empty()) return;
  Pending& call = found.mapped();
  latest_.procedure = call.procedure;
  wire::Reader reader(message.payload, wire::Values::any);
  rpc::ReplyHeader header;
  header.decode(reader);
  if (!message.inline_payload() || !reader.ok()) {
    // The results are in the reply chunk, or damaged.
    if (call.kind == Kind::hello) hello_unclear_ = true;
    if (call.kind == Kind::references && user_) user_->incomplete = true;
    return;
  }
  if (!header.success()) return;
  switch (call.kind) {
    case Kind::hello:
      return take_hello(message, call, reader);
    case Kind::references:
      return take_references(message, call, reader, connection);
    case Kind::give_back:
      if (reader.u32("status") != 0 || !reader.ok() || !user_) return;
      for (const std::uint64_t each : call.generations) user_->grants.give_back(each);
      return;
    case Kind::change:
      return take_change(message, call, reader);
    case Kind::other:
      return;
  }
}

void DirectCalls::take_hello(const Message& message, const Pending& call, wire::Reader& results) {
  direct::HelloResult result;
  result.decode(results);
  if (!results.ok()) {
    hello_unclear_ = true;
    return;
  }
  if (result.status != nfs4::Status::NFS4_OK) return;
  if (user_) user_->ended = true;
  user_ = access_.add(call.hello, result.resok4, message.event);
}

void DirectCalls::take_references(const Message& message, const Pending& call,
                                  wire::Reader& results, Connection& connection) {
  const bool is_batch = call.procedure == "BATCH";
  const std::size_t count = is_batch ? results.u32("results") : call.wishes.size();
  const bool as_asked = count == call.wishes.size();
  std::vector<std::vector<direct::Reference>> granted(call.wishes.size());
  for (std::size_t i = 0; as_asked && i < granted.size() && results.ok(); ++i) {
    if (results.u32("status") != 0) continue;
    if (call.procedure == "REFS") {
      direct::RefsOk result;
      result.decode(results);
      granted[i] = std::move(result.refs);
      continue;
    }
    const wire::WriteList& chunks = message.header->write_list;
    const bool reduced = i < chunks.size() && wire::chunk_length(chunks[i]) != 0;
    granted[i] = references_of_read(results, reduced);
  }
  if (!as_asked || !results.ok()) {
    if (user_) user_->incomplete = true;
    return;
  }
  for (std::size_t i = 0; i < granted.size(); ++i) {
    latest_.references += granted[i].size();
    if (granted[i].size() <= call.wishes[i].most) continue;
    if (Finding* finding = open_finding(kReferencesAreAskedFor, message, connection)) {
      finding->expected =
          say("at most ", call.wishes[i].most, " references, as the call wants them");
      finding->observed = say(granted[i].size(), " references");
    }
  }
  if (latest_.references == 0) return;
  if (!user_) {
    const bool whole =
        connection.established() && !connection.history_lost && !connection.observation_lost;
    if (!whole || hello_unclear_) return;
    if (Finding* finding = open_finding(kReferencesFollowHello, message, connection)) {
      finding->expected = "no references before HELLO";
      finding->observed = say(latest_.references, " references");
    }
    return;
  }
  if (user_->asked == 0 && access_.sees_all() && access_.sees_optimistic()) {
    if (Finding* finding = open_finding(kReferencesFollowTheConnection, message, connection)) {
      finding->expected = "no references before the optimistic connection";
      finding->observed = say(latest_.references, " references, and no connection was asked for");
    }
  }
  ReferenceCheck check(message, access_, *user_, call.moment, connection);
  for (std::size_t i = 0; i < granted.size(); ++i) check.take(call.wishes[i].file, granted[i]);
  check.finish();
}

void DirectCalls::take_change(const Message& message, Pending& call, wire::Reader& results) {
  ContentChange& change = *call.change;
  if (call.version == 4) {
    nfs4::CompoundResult head;
    head.decode(results);
    results.u32("resarray");
    for (std::uint32_t i = 0; i < call.operations && results.ok(); ++i) {  // SEQUENCE and PUTFH
      const auto operation = static_cast<Opnum>(results.u32("resop"));
      if (results.u32("status") != 0) return;
      if (operation == Opnum::OP_SEQUENCE) results.skip(nfs4::kSessionIdOctets + 5 * 4, "SEQUENCE");
    }
    results.u32("resop");
  }
  const bool done = results.u32("status") == 0 && results.ok();
  if (!done) return;
  if (call.is_write) {
    if (call.version == 3) {
      nfs3::WccData attributes;
      attributes.decode(results);
    }
    const std::uint32_t written = results.u32("count");
    if (!results.ok()) return;
    change.length = std::min<std::uint64_t>(change.length, written);
    return access_.change(change, call.moment, message.event);
  }
  if (change.denies) access_.change(change, call.moment, message.event);
  change.denies = false;
  if (change.size) access_.change(change, call.moment, message.event);
}

void DirectCalls::on_end() {
  if (user_) user_->ended = user_->may_have_ended = true;
  calls_.clear();
}

void DirectCalls::forget_history() {
  access_.note_unseen();
  if (user_) user_->incomplete = user_->may_have_ended = true;
  hello_unclear_ = true;
  calls_.clear();
}

}  // namespace steertag::conformance
