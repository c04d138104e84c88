// All results of NFS version 3, one header for those who need every procedure.
#pragma once

#include "nfs/nfs3_result.h"
#include "nfs/nfs3_results_attributes.h"
#include "nfs/nfs3_results_directory.h"
#include "nfs/nfs3_results_filesystem.h"
#include "nfs/nfs3_results_io.h"
