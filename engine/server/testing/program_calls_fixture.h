// Calls of the programs of a server without a server.
// Tests of rules that are NFSv3's and NFSv4's at once need them.
#pragma once

#include <gtest/gtest.h>

#include <optional>

#include "nfs/nfs3_procedures.h"
#include "nfs/v4/attribute_codec.h"
#include "nfs/v4/compound.h"
#include "server/rpc/programs.h"

namespace steertag::peer::testing {

class ProgramCalls {
 public:
  ProgramCalls(Backend& storage, const Nfs4StateOptions& options)
      : programs_(make_programs(storage, options)) {}

  Caller caller{0, 0, {}};

  void tend() {
    for (const auto& program : programs_) program->tend();
  }

  /// The status of a procedure of NFSv3.
  template <class Args>
  nfs3::Status run3(nfs3::Procedure procedure, const Args& args) {
    Bytes octets;
    wire::Writer writer(octets);
    args.encode(writer);
    return static_cast<nfs3::Status>(
        first_word(nfs3::kProgram, nfs3::kVersion, static_cast<std::uint32_t>(procedure), octets));
  }

  /// SETATTR of the mode of a file of the export's root, by NFSv4.0.
  nfs4::Status set_mode4(std::string_view name, std::uint32_t mode) {
    nfs4::Attributes wanted;
    wanted.mode = mode;
    Bytes values;
    const nfs4::Fattr attributes = nfs4::fattr_of(wanted, nfs4::present(wanted), values);
    Bytes octets;
    wire::Writer writer(octets);
    nfs4::CompoundArgs{"test", 0}.encode(writer);
    nfs4::CallWriter<nfs4::Opnum> operations(octets);
    operations.add(nfs4::Opnum::OP_PUTROOTFH);
    operations.add(nfs4::Opnum::OP_LOOKUP, nfs4::LookupArgs{"export"});
    operations.add(nfs4::Opnum::OP_LOOKUP, nfs4::LookupArgs{name});
    operations.add(nfs4::Opnum::OP_SETATTR, nfs4::SetattrArgs{{}, attributes});
    return static_cast<nfs4::Status>(
        first_word(nfs4::kProgram, nfs4::kVersion, nfs4::NFSPROC4_COMPOUND, octets));
  }

 private:
  std::uint32_t first_word(std::uint32_t number, std::uint32_t version, std::uint32_t procedure,
                           View arguments) {
    for (const auto& program : programs_) {
      if (program->number() != number || program->version() != version) continue;
      wire::Reader reader(arguments);
      const ConnectionInfo info;
      ReplyPayload reply;
      EXPECT_EQ(program->call(procedure, reader, {caller, info}, reply),
                rpc::AcceptStatus::SUCCESS);
      return wire::load_u32(reply.stream().data());
    }
    ADD_FAILURE() << "there is no program " << number << " version " << version;
    return ~std::uint32_t{0};
  }

  std::vector<std::unique_ptr<Program>> programs_;
};

}  // namespace steertag::peer::testing
