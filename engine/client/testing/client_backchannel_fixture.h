// What tests of a client's backchannel share: the calls of its server.
#pragma once

#include "client/testing/client_session_fixture.h"
#include "rpc/message.h"

namespace steertag::peer::testing {

using nfs4::CbOpnum;

class ClientBackchannelTest : public ClientSessionTest {
 protected:
  ClientBackchannelTest() : ClientSessionTest(ReverseLimits{4068, 996}) {}

  /// The status of a CB_COMPOUND with CB_SEQUENCE in slot 0 and this operation.
  template <class Args>
  Status callback(CbOpnum number, const Args& args) {
    rpc::CallHeader header;
    header.program = kCallbackProgram;
    header.version = nfs4::kCallbackVersion;
    header.procedure = nfs4::CB_COMPOUND;
    Bytes call;
    wire::Writer writer(call);
    header.encode(writer);
    nfs4::CbCompoundArgs{"", 1, 0}.encode(writer);
    nfs4::CallWriter<CbOpnum> operations(call);
    nfs4::CbSequenceArgs sequence;
    sequence.csa_sessionid[0] = static_cast<std::byte>(made);
    sequence.csa_sequenceid = ++callbacks;
    sequence.csa_referring_call_lists = referring;
    operations.add(CbOpnum::OP_CB_SEQUENCE, sequence);
    operations.add(number, args);
    const Bytes reply = transport.service->answer(call);
    wire::Reader reader(reply);
    rpc::ReplyHeader answered;
    answered.decode(reader);
    nfs4::CompoundResult result;
    result.decode(reader);
    EXPECT_TRUE(reader.ok());
    return result.status;
  }
  Status recall_slot(std::uint32_t highest_slot) {
    return callback(CbOpnum::OP_CB_RECALL_SLOT, nfs4::CbRecallSlotArgs{highest_slot});
  }
  /// Works off everything that waits.
  void settle() {
    for (int i = 0; i < 20; ++i) schedule.step(0ms);
  }

  std::uint32_t callbacks = 0;
  std::vector<nfs4::ReferringCallList> referring;
};

}  // namespace steertag::peer::testing
