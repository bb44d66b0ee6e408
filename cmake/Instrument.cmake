# Hardening of every build, and the instrumentation of the asan, tsan and coverage presets.
add_compile_options(-fno-omit-frame-pointer)
# Libraries that are HOT have -O3 (Library.cmake).
string(REPLACE "-O3" "-Os" CMAKE_CXX_FLAGS_RELEASE "${CMAKE_CXX_FLAGS_RELEASE}")
add_compile_options($<$<CONFIG:Release,RelWithDebInfo>:-fstack-protector-strong>)
# Functions and lines, for a backtrace of what ships: scripts/package takes them out of the program and packs them apart.
# Paths as if the sources were there, whichever folder they are in.
add_compile_options($<$<CONFIG:Release>:-g1> $<$<CONFIG:Release>:-ffile-prefix-map=${PROJECT_SOURCE_DIR}=/usr/src/rdma_exporter>)
# The folder of the build too (of two maps that fit, the later wins): the presets release and portable share objects in the cache.
add_compile_options($<$<CONFIG:Release>:-ffile-prefix-map=${CMAKE_BINARY_DIR}=/usr/src/rdma_exporter/build>)
add_compile_definitions($<$<CONFIG:Debug>:_GLIBCXX_ASSERTIONS>)
if(NOT RDMA_EXPORTER_SANITIZE)
  add_compile_definitions($<$<CONFIG:Release,RelWithDebInfo>:_FORTIFY_SOURCE=2>)
endif()
add_link_options(-Wl,-z,relro -Wl,-z,now -Wl,--as-needed)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

if(RDMA_EXPORTER_SANITIZE)
  add_compile_options(-fsanitize=${RDMA_EXPORTER_SANITIZE} -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${RDMA_EXPORTER_SANITIZE})
  if(RDMA_EXPORTER_SANITIZE MATCHES "undefined" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # With these, g++ 12 takes no comparison of addresses for a constant, and the static_asserts of the tables do not
    # compile. The address sanitizer traps null pointers all the same.
    add_compile_options(-fno-sanitize=null,nonnull-attribute,returns-nonnull-attribute)
  endif()
  if(RDMA_EXPORTER_SANITIZE MATCHES "thread" AND CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    # clang++ would link the runtime's operator new, and tests of memory that runs out define their own.
    add_link_options(--driver-mode=gcc)
    string(APPEND CMAKE_CXX_STANDARD_LIBRARIES " -lstdc++ -lm")
  endif()
  if(RDMA_EXPORTER_SANITIZE MATCHES "thread" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options(-Wno-tsan)  # Asio uses atomic_thread_fence, which g++ 12 only warns about
  endif()
endif()
if(RDMA_EXPORTER_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)  # the libraries tell the fuzzer which branches an input took
endif()
if(RDMA_EXPORTER_COVERAGE)
  add_compile_options(--coverage -fprofile-abs-path)
  add_link_options(--coverage)
endif()
