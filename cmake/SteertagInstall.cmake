# Installs the engine as a CMake package. `find_package(steertag)` gives steertag::engine, which is
# all of the engine's libraries. It also gives each of them by its folder's name (steertag::wire and
# so on).
include_guard()
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

get_property(libraries GLOBAL PROPERTY STEERTAG_LIBRARIES)
add_library(steertag_engine INTERFACE)
add_library(steertag::engine ALIAS steertag_engine)
set_target_properties(steertag_engine PROPERTIES EXPORT_NAME engine)
target_link_libraries(steertag_engine INTERFACE ${libraries})

# Where steertag_library's INSTALL_INTERFACE points to.
set(headers ${CMAKE_INSTALL_INCLUDEDIR}/steertag)
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/steertag)

install(TARGETS ${libraries} steertag_engine EXPORT steertagTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT engine)
# Without what only tests and fuzzers include, which needs GoogleTest and rapidcheck.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/engine/ ${PROJECT_BINARY_DIR}/generated/
  DESTINATION ${headers} COMPONENT engine FILES_MATCHING PATTERN "*.h"
  PATTERN requirements EXCLUDE PATTERN testing EXCLUDE PATTERN testing.h EXCLUDE PATTERN fuzz EXCLUDE
  PATTERN *_fixture.h EXCLUDE PATTERN raw_client.h EXCLUDE PATTERN temporary_directory.h EXCLUDE
  PATTERN trace_builder.h EXCLUDE PATTERN precompiled.h EXCLUDE)
install(EXPORT steertagTargets NAMESPACE steertag:: DESTINATION ${package} COMPONENT engine)

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/steertagConfig.cmake.in
  ${PROJECT_BINARY_DIR}/steertagConfig.cmake INSTALL_DESTINATION ${package})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/steertagConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/steertagConfig.cmake ${PROJECT_BINARY_DIR}/steertagConfigVersion.cmake
  ${CMAKE_CURRENT_LIST_DIR}/FindISAL.cmake ${CMAKE_CURRENT_LIST_DIR}/FindRdmaCore.cmake DESTINATION ${package} COMPONENT engine)

# The Python package: its modules, the engine beside them, and the reference server that the suite
# starts. Outside of a checkout steertag/build_paths.py looks for the server there.
if(STEERTAG_PYTHON)
  set(STEERTAG_PYTHON_DIR lib/python3/dist-packages CACHE STRING "Where the Python package is installed")
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/bindings/python/steertag DESTINATION ${STEERTAG_PYTHON_DIR}
    COMPONENT python PATTERN __pycache__ EXCLUDE PATTERN "*_test.py" EXCLUDE PATTERN testing EXCLUDE)
  install(TARGETS _engine LIBRARY DESTINATION ${STEERTAG_PYTHON_DIR}/steertag COMPONENT python)
  install(TARGETS steertag-serve steertag-copy RUNTIME DESTINATION ${STEERTAG_PYTHON_DIR}/steertag/tools COMPONENT python)
endif()
