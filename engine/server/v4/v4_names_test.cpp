// What a name in a COMPOUND may be, to each operation that takes one.
#include "server/testing/v4_fixture.h"

namespace steertag::peer::testing {
namespace {

using nfs4::Status;

class Nfs4NamesTest : public Nfs4Test {
 protected:
  /// The operation with the export's root as current and saved filehandle.
  Status in_root(Opnum number, const auto& args) {
    Compound compound;
    compound.root().add(Opnum::OP_SAVEFH).add(number, args);
    return status_of(compound);
  }
  Status make_directory(std::string_view name) {
    const Fattr4 mode(with_mode(0755));
    return in_root(Opnum::OP_CREATE, directory_args(name, mode));
  }
  Status rename(std::string_view from, std::string_view to) {
    return in_root(Opnum::OP_RENAME, nfs4::RenameArgs{from, to});
  }
};
INSTANTIATE_TEST_SUITE_P(Storage, Nfs4NamesTest,
                         ::testing::Values(Keeper::memory, Keeper::directory), name_of);

TEST_P(Nfs4NamesTest, NamesHaveRules) {
  const std::pair<std::string, Status> names[] = {
      {"", Status::NFS4ERR_INVAL},
      {".", Status::NFS4ERR_BADNAME},
      {"..", Status::NFS4ERR_BADNAME},
      {"a/b", Status::NFS4ERR_BADCHAR},
      {std::string("a\0b", 3), Status::NFS4ERR_BADCHAR},
      {std::string(256, 'x'), Status::NFS4ERR_NAMETOOLONG},
  };
  for (const auto& [name, status] : names) {
    EXPECT_EQ(in_root(Opnum::OP_LOOKUP, nfs4::LookupArgs{name}), status) << "LOOKUP " << name;
    EXPECT_EQ(make_directory(name), status) << "CREATE " << name;
    EXPECT_EQ(in_root(Opnum::OP_REMOVE, nfs4::RemoveArgs{name}), status) << "REMOVE " << name;
    EXPECT_EQ(in_root(Opnum::OP_SECINFO, nfs4::SecinfoArgs{name}), status) << "SECINFO " << name;
    EXPECT_EQ(rename("a", name), status) << "RENAME to " << name;
  }
}

TEST_P(Nfs4NamesTest, NamesNeedNotBeUtf8) {
  // The last five: no first octet, a longer form of '/', a surrogate, above U+10FFFF, and cut.
  const std::string names[] = {"Gr\xc3\xbcn",      "\x80",    "\xc0\xaf", "\xed\xa0\x80",
                               "\xf4\x90\x80\x80", "\xe2\x82"};
  for (const std::string& name : names) {
    SCOPED_TRACE("the name " + ::testing::PrintToString(name));
    EXPECT_EQ(make_directory(name), Status::NFS4_OK) << "CREATE";
    EXPECT_EQ(in_root(Opnum::OP_LOOKUP, nfs4::LookupArgs{name}), Status::NFS4_OK) << "LOOKUP";
    EXPECT_EQ(in_root(Opnum::OP_SECINFO, nfs4::SecinfoArgs{name}), Status::NFS4_OK) << "SECINFO";
    EXPECT_EQ(rename(name, "other"), Status::NFS4_OK) << "RENAME from it";
    EXPECT_EQ(rename("other", name), Status::NFS4_OK) << "RENAME to it";
    EXPECT_EQ(in_root(Opnum::OP_REMOVE, nfs4::RemoveArgs{name}), Status::NFS4_OK) << "REMOVE";
    EXPECT_EQ(in_root(Opnum::OP_LOOKUP, nfs4::LookupArgs{name}), Status::NFS4ERR_NOENT)
        << "it was removed";
  }
}

TEST_P(Nfs4NamesTest, NamesAreComparedOctetByOctet) {
  // One letter in two normal forms, and in Latin-1.
  for (const std::string_view name : {"\xc3\xa4", "a\xcc\x88", "\xe4"})
    EXPECT_EQ(make_directory(name), Status::NFS4_OK)
        << ::testing::PrintToString(std::string(name)) << " was taken for an earlier name";
}

}  // namespace
}  // namespace steertag::peer::testing
