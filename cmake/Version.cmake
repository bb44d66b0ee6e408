# The revision for --version: the one in the environment, or git's short hash, or "unknown" where the source has no git (a
# tarball, the build of the container image).
set(RDMA_EXPORTER_REVISION "$ENV{REVISION}")
if(NOT RDMA_EXPORTER_REVISION)
  execute_process(
    COMMAND git -C ${PROJECT_SOURCE_DIR} describe --always --dirty --exclude=*
    OUTPUT_VARIABLE RDMA_EXPORTER_REVISION OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
if(NOT RDMA_EXPORTER_REVISION)
  set(RDMA_EXPORTER_REVISION unknown)
endif()

# What --version says of the build.
if(RDMA_EXPORTER_PORTABLE)
  set(RDMA_EXPORTER_LINKING "static but for libc and libgcc_s; libibverbs is loaded if it is there")
else()
  set(RDMA_EXPORTER_LINKING "dynamic, libibverbs ${ibverbs_VERSION}")
endif()
set(RDMA_EXPORTER_LIBRARIES_TEXT "Boost ${Boost_VERSION_STRING}, CLI11 ${CLI11_VERSION}, fmt ${fmt_VERSION}, \
libcrypt ${crypt_VERSION}, libnl ${nl_VERSION}, nlohmann-json ${nlohmann_json_VERSION}, OpenSSL ${OPENSSL_VERSION}, \
libdeflate, re2, spdlog ${spdlog_VERSION}, yaml-cpp ${yaml-cpp_VERSION}, zlib ${ZLIB_VERSION_STRING}")
configure_file(${PROJECT_SOURCE_DIR}/cmake/version.h.in ${PROJECT_BINARY_DIR}/generated/app/version.h @ONLY)
