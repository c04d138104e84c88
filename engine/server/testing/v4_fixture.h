// What tests of the NFSv4 server share: COMPOUNDs through loopback iWARP to each storage.
// Tests see the results one by one.
#pragma once

#include <string>

#include "nfs/v4/attribute_codec.h"
#include "nfs/v4/compound.h"
#include "nfs/v4/reply_size.h"
#include "server/testing/nfs3_fixture.h"

namespace steertag::peer::testing {

using nfs4::Opnum;

/// The arguments of one COMPOUND.
class Compound {
 public:
  explicit Compound(std::uint32_t minorversion = 0, std::string_view tag = "test")
      : octets_(encode(minorversion, tag)), writer_(octets_) {}
  Compound(const Compound&) = delete;
  Compound& operator=(const Compound&) = delete;

  template <class Args>
  Compound& add(Opnum number, const Args& args) {
    writer_.add(number, args);
    return *this;
  }
  Compound& add(Opnum number) { return add(number, nfs4::Void{}); }
  Compound& putroot() { return add(Opnum::OP_PUTROOTFH); }
  Compound& lookup(std::string_view name) { return add(Opnum::OP_LOOKUP, nfs4::LookupArgs{name}); }
  /// The export's root becomes the current filehandle.
  Compound& root() { return putroot().lookup("export"); }
  Compound& put(const nfs4::FileHandle& handle) {
    return add(Opnum::OP_PUTFH, nfs4::PutfhArgs{handle});
  }
  Compound& getattr(const nfs4::Bitmap& wanted) {
    return add(Opnum::OP_GETATTR, nfs4::GetattrArgs{wanted});
  }

  const Bytes& octets() const { return octets_; }

 private:
  static Bytes encode(std::uint32_t minorversion, std::string_view tag) {
    Bytes octets;
    wire::Writer writer(octets);
    nfs4::CompoundArgs{tag, minorversion}.encode(writer);
    return octets;
  }

  Bytes octets_;
  nfs4::CallWriter<Opnum> writer_;
};

/// The results of one COMPOUND. What it gives points into it.
class Answer {
 public:
  Answer() = default;
  /// `reply` is an RPC reply from its XID on.
  explicit Answer(Bytes reply) : octets_(std::move(reply)), reader_(octets_) {
    rpc::ReplyHeader header;
    header.decode(reader_);
    results_.decode(reader_);
    count_ = reader_.u32("resarray");
    EXPECT_TRUE(reader_.ok()) << "no COMPOUND4res: " << reader_.fault().message();
  }
  Answer(Answer&&) = default;
  Answer& operator=(Answer&&) = default;

  nfs4::Status status() const { return results_.status; }
  std::string_view tag() const { return results_.tag; }
  std::uint32_t count() const { return count_; }

  /// The next result, which must be that of this operation.
  template <class Result>
  Result take(Opnum number) {
    Result result{};
    const auto found = static_cast<Opnum>(reader_.u32("resop"));
    EXPECT_EQ(found, number) << "a result of " << rpc::name(found) << " instead of "
                             << rpc::name(number);
    if (found == number) result.decode(reader_);
    EXPECT_TRUE(reader_.ok()) << reader_.fault().message();
    return result;
  }
  /// The next result's status; the rest of it is skipped.
  nfs4::Status skip(Opnum number) {
    wire::Reader ahead = reader_;
    ahead.u32("resop");
    const auto status = static_cast<nfs4::Status>(ahead.u32("status"));
    EXPECT_EQ(static_cast<Opnum>(reader_.u32("resop")), number);
    EXPECT_TRUE(nfs4::skip_result(reader_, number));
    return status;
  }
  void skip_root() {
    skip(Opnum::OP_PUTROOTFH);
    skip(Opnum::OP_LOOKUP);
  }
  /// The next words as they are, for results whose items are elsewhere.
  View take_words(std::size_t words) {
    const View taken = reader_.rest().first(std::min(4 * words, reader_.remaining()));
    reader_.skip(taken.size(), "resarray");
    return taken;
  }
  bool at_end() const { return reader_.remaining() == 0; }
  View octets() const { return octets_; }

 private:
  Bytes octets_;
  wire::Reader reader_{{}};
  nfs4::CompoundResult results_;
  std::uint32_t count_ = 0;
};

/// The encoded fattr4 of some attributes, which lives as long as this.
class Fattr4 {
 public:
  explicit Fattr4(const nfs4::Attributes& attributes)
      : fattr_(nfs4::fattr_of(attributes, nfs4::present(attributes), octets_)) {}
  Fattr4(const Fattr4&) = delete;
  Fattr4& operator=(const Fattr4&) = delete;
  operator const nfs4::Fattr&() const { return fattr_; }

 private:
  Bytes octets_;
  nfs4::Fattr fattr_;
};

inline nfs4::Attributes with_mode(std::uint32_t mode) {
  nfs4::Attributes attributes;
  attributes.mode = mode;
  return attributes;
}

class Nfs4Test : public KeptIn, public PeerTest, public ::testing::WithParamInterface<Keeper> {
 protected:
  explicit Nfs4Test(const MemoryLimits& limits = {}) : PeerTest(keep(GetParam(), limits)) {}
  static bool in_memory() { return GetParam() == Keeper::memory; }
  static bool has_root() { return in_memory() || ::geteuid() == 0; }
  void SetUp() override {
    serve();
    client = std::make_unique<RpcClient>(*provider, url, RequesterOptions{}, next_xid);
  }

  /// An RPC call with these arguments.
  Request request(View arguments, std::uint32_t procedure = nfs4::NFSPROC4_COMPOUND) {
    Request request;
    request.program = nfs4::kProgram;
    request.version = nfs4::kVersion;
    request.procedure = procedure;
    rpc::CallHeader header;
    header.program = request.program;
    header.version = request.version;
    header.procedure = procedure;
    rpc::AuthSys parameters;
    parameters.machine_name = "test";
    parameters.uid = uid;
    parameters.gid = gid;
    const Bytes credential = rpc::encode_auth_sys(parameters);
    header.credential = {rpc::AuthFlavor::AUTH_SYS, credential};
    wire::Writer writer(request.stream);
    header.encode(writer);
    writer.raw(arguments);
    const auto bound = nfs4::largest_reply(request.stream);
    request.reply.payload = bound ? bound->payload : kReplyBytes;
    return request;
  }
  Answer call(View arguments) {
    auto reply = client->round_trip(request(arguments));
    EXPECT_TRUE(reply) << reply.error().message();
    return reply ? Answer(copy(*reply)) : Answer();
  }
  Answer call(const Compound& compound) { return call(View(compound.octets())); }
  /// How RPC refuses these arguments; "" when it does not.
  std::string refusal(View arguments) {
    const auto reply = client->round_trip(request(arguments));
    return reply ? "" : reply.error().message();
  }

  nfs4::Status status_of(const Compound& compound) { return call(compound).status(); }
  nfs4::FileHandle handle_of(std::string_view name) {
    Compound compound;
    compound.root().lookup(name).add(Opnum::OP_GETFH);
    Answer answer = call(compound);
    EXPECT_EQ(answer.status(), nfs4::Status::NFS4_OK) << name;
    answer.skip_root();
    answer.skip(Opnum::OP_LOOKUP);
    return answer.take<nfs4::GetfhResult>(Opnum::OP_GETFH).resok4.object;
  }
  nfs4::FileHandle handle_in_storage(NodeId node) {
    const Handle handle = storage->handle(node);
    return nfs4::FileHandle(View(handle));
  }
  nfs4::FileHandle root4() { return handle_in_storage(storage->root()); }
  nfs4::FileHandle make_file4(std::string_view name, View content) {
    return nfs4::FileHandle(make_file(name, content).view());
  }
  /// All supported attributes of what the handle names.
  nfs4::Attributes attributes4(const nfs4::FileHandle& handle, const nfs4::Bitmap& wanted,
                               std::uint32_t minorversion = 0) {
    Compound compound(minorversion);
    compound.put(handle).getattr(wanted);
    kept_ = call(compound);
    EXPECT_EQ(kept_.status(), nfs4::Status::NFS4_OK);
    kept_.skip(Opnum::OP_PUTFH);
    const auto result = kept_.take<nfs4::GetattrResult>(Opnum::OP_GETATTR);
    const auto decoded = nfs4::decode_attributes(result.resok4.obj_attributes);
    EXPECT_TRUE(decoded) << decoded.error().message();
    return decoded ? decoded->known : nfs4::Attributes{};
  }
  nfs4::CreateArgs directory_args(std::string_view name, const nfs4::Fattr& attributes) {
    nfs4::CreateArgs args;
    args.objtype.type = nfs4::FileType::NF4DIR;
    args.objname = name;
    args.createattrs = attributes;
    return args;
  }

  // Enough for any answer to a COMPOUND that the estimate does not understand.
  static constexpr std::size_t kReplyBytes = 65536;

  std::unique_ptr<RpcClient> client;
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;

 private:
  Answer kept_;
};

}  // namespace steertag::peer::testing
