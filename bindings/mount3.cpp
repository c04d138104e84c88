// Binds MOUNT version 3 as steertag.nfs.mount3.
#include "nfs/mount3_procedures.h"
#include "nfs_parts.h"
#include "rpc_program.h"

namespace steertag::bindings {
namespace {

using namespace steertag::mount3;

struct Mount3 {
  using Procedure = mount3::Procedure;
  static constexpr std::uint32_t kProgram = mount3::kProgram;
  static constexpr std::uint32_t kVersion = mount3::kVersion;
  static auto named(std::string_view name) { return rpc::value_named<Procedure>(name); }
  static auto numbered(std::uint32_t number) { return rpc::value_numbered<Procedure>(number); }
  template <class Visit>
  static decltype(auto) with_signature(Procedure procedure, Visit&& visit) {
    return mount3::with_signature(procedure, [&]<class Args, class Res>(Signature<Args, Res>) {
      return visit.template operator()<Args, Res>();
    });
  }
};

}  // namespace

void bind_mount3(const py::module_& module, const std::shared_ptr<DataClasses>& classes) {
  classes->add_enum<Status>(module, "Status", "mountstat3 (RFC 1813 5.1.5).", true);
  classes->add<MountBody>(module, "MountBody", "mountbody");
  classes->add<GroupNode>(module, "GroupNode", "groupnode");
  classes->add<ExportNode>(module, "ExportNode", "exportnode; no groups means everyone.");
  classes->add<DirPath>(module, "DirPath", "dirpath, the argument of MNT and UMNT.");
  classes->add<MountList>(module, "MountList", "mountlist, the result of DUMP.");
  classes->add<ExportList>(module, "ExportList", "exports, the result of EXPORT.");
  add_codec_methods<DirPath>(classes);
  add_codec_methods<MountList>(classes);
  add_codec_methods<ExportList>(classes);
  RpcProgram<Mount3> program(module, classes);
  program.add_classes();
  program.add_functions();
}

}  // namespace steertag::bindings
