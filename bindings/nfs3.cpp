// Binds NFS version 3 as steertag.nfs.nfs3.
#include "nfs/nfs3_procedures.h"

#include "nfs_parts.h"
#include "rpc_program.h"

namespace steertag::bindings {
namespace {

using namespace steertag::nfs3;
using Classes = std::shared_ptr<DataClasses>;

struct Nfs3 {
  using Procedure = nfs3::Procedure;
  static constexpr std::uint32_t kProgram = nfs3::kProgram;
  static constexpr std::uint32_t kVersion = nfs3::kVersion;
  static auto named(std::string_view name) { return rpc::value_named<Procedure>(name); }
  static auto numbered(std::uint32_t number) { return rpc::value_numbered<Procedure>(number); }
  template <class Visit>
  static decltype(auto) with_signature(Procedure procedure, Visit&& visit) {
    return nfs3::with_signature(procedure, [&]<class Args, class Res>(Signature<Args, Res>) {
      return visit.template operator()<Args, Res>();
    });
  }
};

void add_enums(const py::module_& module, DataClasses& classes) {
  classes.add_enum<Status>(module, "Status", "nfsstat3 (RFC 1813 2.6).", true);
  classes.add_enum<FileType>(module, "FileType", "ftype3 (RFC 1813 2.5).", true);
  classes.add_enum<TimeHow>(module, "TimeHow", "time_how (RFC 1813 2.6).", true);
  classes.add_enum<StableHow>(module, "StableHow", "stable_how (RFC 1813 3.3.7).", true);
  classes.add_enum<CreateMode>(module, "CreateMode", "createmode3 (RFC 1813 3.3.8).", true);
}

void add_types(const py::module_& module, DataClasses& classes) {
  classes.add<SpecData>(module, "SpecData", "specdata3");
  classes.add<Time>(module, "Time", "nfstime3");
  classes.add<Fattr>(module, "Fattr", "fattr3");
  classes.add<WccAttr>(module, "WccAttr", "wcc_attr");
  classes.add<WccData>(module, "WccData", "wcc_data");
  classes.add<SetTime>(module, "SetTime", "set_atime and set_mtime");
  classes.add<Sattr>(module, "Sattr", "sattr3; None leaves an attribute as it is.");
  classes.add<DirOpArgs>(module, "DirOpArgs", "diropargs3");
  classes.add<CreateHow>(module, "CreateHow", "createhow3; `mode` selects the arm.");
  classes.add<SymlinkData>(module, "SymlinkData", "symlinkdata3");
  classes.add<MknodData>(module, "MknodData", "mknoddata3; `type` selects the arm.");
  classes.add<Entry>(module, "Entry", "entry3");
  classes.add<EntryPlus>(module, "EntryPlus", "entryplus3");
  classes.add<ObjectFail>(module, "ObjectFail", "A failure arm with obj_attributes.");
  classes.add<FileWccFail>(module, "FileWccFail", "A failure arm with file_wcc.");
  classes.add<DirWcc>(module, "DirWcc", "An arm with dir_wcc.");
  classes.add<DirFail>(module, "DirFail", "A failure arm with dir_attributes.");
}

template <class Ok, class Fail>
void add_arms_of(const py::module_& module, DataClasses& classes, const std::string& procedure,
                 const Result<Ok, Fail>*) {
  classes.add<Ok>(module, procedure + "Ok", "The arm of NFS3_OK.");
  classes.add<Fail>(module, procedure + "Fail", "The arm of every other status.");
}
void add_arms_of(const py::module_&, DataClasses&, const std::string&, const Void*) {}

/// "ReadOk" and "ReadFail" of READ, and so on.
void add_arms(const py::module_& module, DataClasses& classes) {
  for (const auto& entry : kProcedureNames) {
    Nfs3::with_signature(entry.value, [&]<class Args, class Res>() {
      add_arms_of(module, classes, RpcProgram<Nfs3>::capitalized(entry.name),
                  static_cast<const Res*>(nullptr));
    });
  }
}

void add_constants(const py::module_& module) {
  module.attr("ACCESS3_READ") = ACCESS3_READ;
  module.attr("ACCESS3_LOOKUP") = ACCESS3_LOOKUP;
  module.attr("ACCESS3_MODIFY") = ACCESS3_MODIFY;
  module.attr("ACCESS3_EXTEND") = ACCESS3_EXTEND;
  module.attr("ACCESS3_DELETE") = ACCESS3_DELETE;
  module.attr("ACCESS3_EXECUTE") = ACCESS3_EXECUTE;
  module.attr("FSF3_LINK") = FSF3_LINK;
  module.attr("FSF3_SYMLINK") = FSF3_SYMLINK;
  module.attr("FSF3_HOMOGENEOUS") = FSF3_HOMOGENEOUS;
  module.attr("FSF3_CANSETTIME") = FSF3_CANSETTIME;
  module.attr("MOST_HANDLE_OCTETS") = kMostHandleOctets;
  module.attr("MOST_NAME_OCTETS") = kMostNameOctets;
  module.attr("MOST_PATH_OCTETS") = kMostPathOctets;
  module.attr("MOST_DATA_OCTETS") = kMostDataOctets;
}

}  // namespace

void bind_nfs3(const py::module_& module, const Classes& classes) {
  add_enums(module, *classes);
  add_types(module, *classes);
  add_arms(module, *classes);
  add_constants(module);
  add_codec_methods<Fattr>(classes);
  add_codec_methods<Sattr>(classes);
  RpcProgram<Nfs3> program(module, classes);
  program.add_classes();
  program.add_functions();
}

}  // namespace steertag::bindings
