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
configure_file(${PROJECT_SOURCE_DIR}/cmake/version.h.in ${PROJECT_BINARY_DIR}/generated/app/version.h @ONLY)
