# Warnings of every target of this project. g++ knows more of them than clang.
add_library(project_warnings INTERFACE)
target_compile_options(project_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wnon-virtual-dtor
  -Wold-style-cast -Woverloaded-virtual -Wcast-align -Wunused -Wdouble-promotion -Wformat=2
  $<$<CXX_COMPILER_ID:GNU>:-Wduplicated-cond;-Wduplicated-branches;-Wlogical-op;-Wnull-dereference;-Wuseless-cast>)
if(RDMA_EXPORTER_WERROR)
  target_compile_options(project_warnings INTERFACE -Werror)
endif()
