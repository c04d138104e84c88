// The submodules of steertag.nfs, each bound by a source of its own.
#pragma once

#include <memory>

#include "data_classes.h"

namespace steertag::bindings {

void bind_nfs3(const py::module_& module, const std::shared_ptr<DataClasses>& classes);
void bind_mount3(const py::module_& module, const std::shared_ptr<DataClasses>& classes);
/// Its values include some of version 4, which is bound first.
void bind_direct(py::module_ module, const std::shared_ptr<DataClasses>& classes);
void bind_nfs4(py::module_ module, const std::shared_ptr<DataClasses>& classes);
void bind_nfs4_compound(py::module_& module, const std::shared_ptr<DataClasses>& classes);

}  // namespace steertag::bindings
