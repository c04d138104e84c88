# What is installed, and where. Each component makes a Debian package (SteertagPackages.cmake). `engine` is a CMake
# package and a pkg-config one. `python` is the command with all that it needs, `dissector` the Wireshark plugin.
include_guard()
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# The engine. `find_package(steertag)` gives steertag::engine, which is all of the engine's libraries. It also gives each
# of them by its folder's name (steertag::wire and so on).

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
  ${CMAKE_CURRENT_LIST_DIR}/FindISAL.cmake ${CMAKE_CURRENT_LIST_DIR}/FindRdmaCore.cmake
  DESTINATION ${package} COMPONENT engine)

# A linker takes the libraries that need others first; they are declared the other way round.
list(REVERSE libraries)
list(TRANSFORM libraries PREPEND -l OUTPUT_VARIABLE STEERTAG_LINK)
list(JOIN STEERTAG_LINK " " STEERTAG_LINK)
set(pkgconfig ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
file(RELATIVE_PATH STEERTAG_UP /${pkgconfig}/ /)
string(REGEX REPLACE "/$" "" STEERTAG_UP "${STEERTAG_UP}")
configure_file(${CMAKE_CURRENT_LIST_DIR}/steertag.pc.in ${PROJECT_BINARY_DIR}/steertag.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/steertag.pc DESTINATION ${pkgconfig} COMPONENT engine)

# The command. The Python package has the engine's module, the native tools, the suites and the baselines inside:
# steertag/build_paths.py finds them there when there is no checkout.

if(STEERTAG_PYTHON)
  set(STEERTAG_PYTHON_DIR lib/python3/dist-packages CACHE STRING "Where the Python package is installed")
  set(inside ${STEERTAG_PYTHON_DIR}/steertag)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/bindings/python/steertag DESTINATION ${STEERTAG_PYTHON_DIR}
    COMPONENT python PATTERN __pycache__ EXCLUDE PATTERN "*_test.py" EXCLUDE PATTERN testing EXCLUDE)
  install(TARGETS _engine LIBRARY DESTINATION ${inside} COMPONENT python)
  install(DIRECTORY ${PROJECT_BINARY_DIR}/python/steertag/ DESTINATION ${inside} COMPONENT python
    FILES_MATCHING PATTERN "*.pyi")
  install(TARGETS steertag-serve steertag-copy RUNTIME DESTINATION ${inside}/tools COMPONENT python)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/suites DESTINATION ${inside} COMPONENT python
    FILES_MATCHING PATTERN "*.py" PATTERN "*.yaml" PATTERN self EXCLUDE PATTERN __pycache__ EXCLUDE)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/fixtures/baselines DESTINATION ${inside}/fixtures COMPONENT python
    FILES_MATCHING PATTERN "*.yaml")

  # Off until an administrator enables the socket. The prefix is that of the packages (SteertagPackages.cmake).
  set(STEERTAG_SERVE /usr/${inside}/tools/steertag-serve)
  set(STEERTAG_UNIT_DIR lib/systemd/system CACHE STRING "Where units of systemd are installed")
  configure_file(${CMAKE_CURRENT_LIST_DIR}/systemd/steertag.service.in
    ${PROJECT_BINARY_DIR}/systemd/steertag.service @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/systemd/steertag.service
    ${CMAKE_CURRENT_LIST_DIR}/systemd/steertag.socket DESTINATION ${STEERTAG_UNIT_DIR} COMPONENT python)

  file(RELATIVE_PATH STEERTAG_FROM_BIN /${CMAKE_INSTALL_BINDIR} /${STEERTAG_PYTHON_DIR})
  configure_file(${CMAKE_CURRENT_LIST_DIR}/steertag.in ${PROJECT_BINARY_DIR}/bin/steertag @ONLY)
  install(PROGRAMS ${PROJECT_BINARY_DIR}/bin/steertag DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT python)
  set(completion ${PROJECT_SOURCE_DIR}/docs/completion)
  install(FILES ${completion}/steertag.bash RENAME steertag COMPONENT python
    DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
  install(FILES ${completion}/steertag.fish COMPONENT python
    DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT python
    FILES_MATCHING PATTERN "*.1")
  # As Debian's policy has them (12.1).
  install(CODE "
    file(GLOB pages \$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_MANDIR}/man1/steertag*.1)
    execute_process(COMMAND gzip --best --no-name --force \${pages} COMMAND_ERROR_IS_FATAL ANY)"
    COMPONENT python)
endif()

# The licences of the whole project, beside each part of it as Debian's policy has it (12.5). ci/package makes the changelogs.
function(steertag_documents component name)
  install(FILES ${PROJECT_SOURCE_DIR}/cmake/debian/copyright COMPONENT ${component}
    DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${name})
  install(FILES ${PROJECT_BINARY_DIR}/package/changelog.Debian.gz COMPONENT ${component} OPTIONAL
    DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${name})
endfunction()
steertag_documents(engine libsteertag-dev)
if(STEERTAG_PYTHON)
  steertag_documents(python steertag)
endif()
if(STEERTAG_DISSECTOR)
  steertag_documents(dissector steertag-wireshark)
endif()
