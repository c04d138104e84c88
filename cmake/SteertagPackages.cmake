# The Debian packages: one of each component of SteertagInstall.cmake. ci/package makes them by cpack.
include_guard()

set(CPACK_GENERATOR DEB)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_COMPONENTS_ALL engine)
set(CPACK_PACKAGE_VENDOR "The Steertag authors")
set(CPACK_PACKAGE_CONTACT "The Steertag authors <steertag@users.noreply.example>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

set(CPACK_DEBIAN_ENGINE_PACKAGE_NAME libsteertag-dev)
set(CPACK_DEBIAN_ENGINE_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_ENGINE_PACKAGE_DEPENDS "libexpected-dev, libibverbs-dev, libisal-dev, librdmacm-dev")
set(CPACK_DEBIAN_ENGINE_DESCRIPTION "engine of Steertag, for C++20
Messages of RPC-over-RDMA version 1 and NFS, the rules that judge them, software iWARP, and reference peers, as static
libraries.")

if(STEERTAG_PYTHON)
  list(APPEND CPACK_COMPONENTS_ALL python)
  # The engine's module is for this version of Python only.
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  math(EXPR next "${Python3_VERSION_MINOR} + 1")
  set(CPACK_DEBIAN_PYTHON_PACKAGE_NAME steertag)
  set(CPACK_DEBIAN_PYTHON_PACKAGE_SECTION net)
  string(CONCAT CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS
    "python3 (>= ${Python3_VERSION_MAJOR}.${Python3_VERSION_MINOR}~), python3 (<< ${Python3_VERSION_MAJOR}.${next}), "
    "python3-argcomplete, python3-hypothesis, python3-jinja2, python3-pytest, python3-pytest-xdist, python3-tqdm, "
    "python3-yaml")
  set(CPACK_DEBIAN_PYTHON_PACKAGE_SUGGESTS steertag-wireshark)
  set(CPACK_DEBIAN_PYTHON_PACKAGE_CONTROL_EXTRA
    ${CMAKE_CURRENT_LIST_DIR}/debian/postinst ${CMAKE_CURRENT_LIST_DIR}/debian/prerm)
  set(CPACK_DEBIAN_PYTHON_DESCRIPTION "conformance suite for RPC-over-RDMA version 1 and NFS/RDMA
Tests servers and clients, judges captures, and serves files over iWARP, RDMA devices and TCP. Each verdict names the
requirement of an RFC.")
endif()

if(STEERTAG_DISSECTOR)
  list(APPEND CPACK_COMPONENTS_ALL dissector)
  set(CPACK_DEBIAN_DISSECTOR_PACKAGE_NAME steertag-wireshark)
  set(CPACK_DEBIAN_DISSECTOR_PACKAGE_SECTION net)
  set(CPACK_DEBIAN_DISSECTOR_PACKAGE_RECOMMENDS "wireshark | tshark")
  set(CPACK_DEBIAN_DISSECTOR_DESCRIPTION "Wireshark plugin that judges RPC-over-RDMA by the rules of Steertag
Marks the frames of a capture that break a requirement of an RFC.")
endif()

include(CPack)
