# The portable build: one file for every Linux distribution with glibc 2.34 or newer. Libraries from outside are static, but
# for libc and libgcc_s, which every system has, and libibverbs, which is loaded when it is there (src/portable).
# tests/deploy/test_portable.py looks at the result.
option(RDMA_EXPORTER_PORTABLE "Link all but libc and libgcc_s statically, load libibverbs when needed" OFF)

if(RDMA_EXPORTER_PORTABLE)
  set(CMAKE_FIND_LIBRARY_SUFFIXES .a)
  # Not -static-libgcc, whose unwinder needs glibc 2.35. Without --exclude-libs the program would offer its copies of
  # symbols to the libraries that libibverbs loads.
  add_link_options(-static-libstdc++ -Wl,--exclude-libs,ALL -Wl,--gc-sections)
  # Debian has no static fmt and spdlog. src/portable makes one of fmt's headers, so that everything else is compiled as for
  # the release, of which ccache then has it.
  set(FMT_TARGET portable_fmt)
  set(SPDLOG_TARGET portable_spdlog)
  find_library(YAML_CPP_TARGET yaml-cpp REQUIRED)  # its package offers the shared one
else()
  set(FMT_TARGET fmt::fmt)
  set(SPDLOG_TARGET spdlog::spdlog)
  set(YAML_CPP_TARGET yaml-cpp)
endif()

# To be called when libibverbs is needed: the target `ibverbs`.
macro(rdma_exporter_find_ibverbs)
  if(RDMA_EXPORTER_PORTABLE)
    add_subdirectory(src/portable)
    add_library(ibverbs ALIAS ibverbs_loader)
  else()
    pkg_check_modules(ibverbs REQUIRED libibverbs)
    add_library(ibverbs INTERFACE)
    target_link_libraries(ibverbs INTERFACE ${ibverbs_LINK_LIBRARIES})  # its headers are in /usr/include
  endif()
endmacro()
