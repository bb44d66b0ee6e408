include(CMakeFindDependencyMacro)
find_dependency(prometheus-cpp)
include(${CMAKE_CURRENT_LIST_DIR}/rdma_exporter-targets.cmake)
