# What `install` puts where, and the packages that CPack makes of it. scripts/package calls it so that the same source
# gives the same bytes.
include(GNUInstallDirs)
set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY ON)  # the tests are not for the package
set(deploy ${PROJECT_SOURCE_DIR}/deploy)
set(generated ${PROJECT_BINARY_DIR}/package-files)
set(documents ${CMAKE_INSTALL_DATADIR}/doc/rdma-exporter)
set(maintainer "rdma_exporter maintainers <maintainers@rdma-exporter.example>")
string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)  # of SOURCE_DATE_EPOCH

# From the program itself, so that they cannot differ from it.
list(JOIN CMAKE_CROSSCOMPILING_EMULATOR " " emulator)  # CMake puts it only before a command that is a target
configure_file(${deploy}/packages/changelog.Debian.in ${generated}/changelog.Debian @ONLY)
add_custom_command(
  OUTPUT ${generated}/rdma_exporter.1.gz ${generated}/rdma_exporter ${generated}/changelog.gz
    ${generated}/changelog.Debian.gz
  COMMAND sh -c "${emulator} $<TARGET_FILE:rdma_exporter> --describe=man | gzip -9n >${generated}/rdma_exporter.1.gz"
  COMMAND sh -c "${emulator} $<TARGET_FILE:rdma_exporter> --describe=bash-completion >${generated}/rdma_exporter"
  COMMAND sh -c "gzip -9nc ${PROJECT_SOURCE_DIR}/CHANGELOG.md >${generated}/changelog.gz"
  COMMAND sh -c "gzip -9nc ${generated}/changelog.Debian >${generated}/changelog.Debian.gz"
  DEPENDS rdma_exporter ${PROJECT_SOURCE_DIR}/CHANGELOG.md ${generated}/changelog.Debian
  VERBATIM)
add_custom_target(package_files DEPENDS ${generated}/rdma_exporter.1.gz)

install(TARGETS rdma_exporter RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(FILES ${generated}/rdma_exporter.1.gz DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${generated}/rdma_exporter DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES ${deploy}/systemd/rdma_exporter.service ${deploy}/systemd/rdma_exporter.socket
  DESTINATION lib/systemd/system)
install(FILES config/rdma_exporter.yml DESTINATION /etc/rdma_exporter)
install(FILES ${deploy}/packages/default RENAME rdma_exporter DESTINATION /etc/default)
install(FILES README.md ${generated}/changelog.gz ${generated}/changelog.Debian.gz ${deploy}/packages/copyright
  DESTINATION ${documents})
# Licences of what is linked statically; of scripts/package.
install(FILES ${generated}/NOTICE DESTINATION ${documents} OPTIONAL)
install(FILES ${deploy}/packages/lintian-overrides RENAME rdma-exporter
  DESTINATION ${CMAKE_INSTALL_DATADIR}/lintian/overrides)
install(DIRECTORY docs DESTINATION ${documents})
install(FILES config/web-config.yml ${deploy}/systemd/probe.conf ${deploy}/systemd/link.conf DESTINATION ${documents}/examples)
install(DIRECTORY alerts dashboards DESTINATION ${documents}/examples)
# Not with the documents, which images of Debian leave out: to try the exporter where there is no RDMA device.
install(DIRECTORY tests/captures DESTINATION ${CMAKE_INSTALL_DATADIR}/rdma-exporter)

set(CPACK_GENERATOR DEB RPM TGZ)
set(CPACK_SET_DESTDIR ON)  # the configuration is in /etc, not in /usr/etc
set(CPACK_INSTALL_PREFIX /usr)
set(CPACK_PACKAGE_NAME rdma-exporter)
set(CPACK_PACKAGE_VENDOR "the rdma_exporter authors")
set(CPACK_PACKAGE_CONTACT "${maintainer}")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Prometheus exporter for hosts with RDMA devices")
set(CPACK_PACKAGE_DESCRIPTION
  "Serves link state, traffic, congestion, loss and resources of RoCE, InfiniBand
and iWARP devices to Prometheus, under the same names for every vendor. It
reads sysfs, ethtool statistics and netlink, and needs no privilege.")
set(CPACK_STRIP_FILES ON)
string(REPLACE x86_64 amd64 architecture ${CMAKE_SYSTEM_PROCESSOR})
string(REPLACE aarch64 arm64 architecture ${architecture})
set(CPACK_PACKAGE_FILE_NAME rdma_exporter-${PROJECT_VERSION}.linux-${architecture})  # of the tarball and its folder

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_ARCHITECTURE ${architecture})
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SECTION net)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS ibverbs-providers)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${deploy}/packages/conffiles ${deploy}/packages/postinst
  ${deploy}/packages/prerm ${deploy}/packages/postrm)

set(CPACK_RPM_FILE_NAME RPM-DEFAULT)
set(CPACK_RPM_PACKAGE_ARCHITECTURE ${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_RPM_PACKAGE_LICENSE Apache-2.0)
set(CPACK_RPM_PACKAGE_GROUP "System Environment/Daemons")
set(CPACK_RPM_USER_FILELIST "%config(noreplace) /etc/rdma_exporter/rdma_exporter.yml"
  "%config(noreplace) /etc/default/rdma_exporter")
set(CPACK_RPM_EXCLUDE_FROM_AUTO_FILELIST_ADDITION /etc /etc/default /usr/lib/systemd /usr/lib/systemd/system
  /usr/share/man /usr/share/man/man1 /usr/share/bash-completion /usr/share/bash-completion/completions)
set(CPACK_RPM_POST_INSTALL_SCRIPT_FILE ${deploy}/packages/rpm-post)
set(CPACK_RPM_PRE_UNINSTALL_SCRIPT_FILE ${deploy}/packages/rpm-preun)
set(CPACK_RPM_POST_UNINSTALL_SCRIPT_FILE ${deploy}/packages/rpm-postun)
# Nothing of the machine or the moment of the build.
set(CPACK_RPM_SPEC_MORE_DEFINE "%define _buildhost localhost
%define use_source_date_epoch_as_buildtime 1
%define clamp_mtime_to_source_date_epoch 1
%define _build_id_links none")
include(CPack)
