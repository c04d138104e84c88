# Finds rdma-core's libraries: targets RdmaCore::rdmacm and RdmaCore::ibverbs. Installed beside
# steertagConfig.cmake, because the engine's fabric needs them when it is linked.
find_path(RDMACM_INCLUDE_DIR rdma/rdma_cma.h)
find_library(RDMACM_LIBRARY rdmacm)
find_path(IBVERBS_INCLUDE_DIR infiniband/verbs.h)
find_library(IBVERBS_LIBRARY ibverbs)
mark_as_advanced(RDMACM_INCLUDE_DIR RDMACM_LIBRARY IBVERBS_INCLUDE_DIR IBVERBS_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(RdmaCore
  REQUIRED_VARS RDMACM_LIBRARY RDMACM_INCLUDE_DIR IBVERBS_LIBRARY IBVERBS_INCLUDE_DIR)
if(RdmaCore_FOUND AND NOT TARGET RdmaCore::rdmacm)
  add_library(RdmaCore::ibverbs UNKNOWN IMPORTED)
  set_target_properties(RdmaCore::ibverbs PROPERTIES
    IMPORTED_LOCATION ${IBVERBS_LIBRARY} INTERFACE_INCLUDE_DIRECTORIES ${IBVERBS_INCLUDE_DIR})
  add_library(RdmaCore::rdmacm UNKNOWN IMPORTED)
  set_target_properties(RdmaCore::rdmacm PROPERTIES
    IMPORTED_LOCATION ${RDMACM_LIBRARY} INTERFACE_INCLUDE_DIRECTORIES ${RDMACM_INCLUDE_DIR}
    INTERFACE_LINK_LIBRARIES RdmaCore::ibverbs)
endif()
