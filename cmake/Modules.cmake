# One static library (and up to four test programs) a folder of src/, from src/modules.txt.
#
# File names decide what a file is:
#   x.cpp               product code of the folder's library
#   x_kernels.cpp       inner loops, compiled with -O3 in a release build
#   x.cu                a CUDA kernel file: plain functions over pointers, sizes and a stream; only with MASKFIT_CUDA
#   x.proto             compiled to <folder>/x.pb.h
#   x_test.cpp          -> <folder>_test            label unit  (torch for a folder that may see LibTorch)
#   x_vectors_test.cpp  -> <folder>_vectors_test    label vectors
#   x_gpu_test.cpp      -> <folder>_gpu_test        label gpu   (skips itself where there is no GPU)
#   x_bench.cpp         -> <folder>_bench           only with MASKFIT_BENCH, see ./dev bench

include(GoogleTest)
set(MASKFIT_GENERATED_DIR "${CMAKE_BINARY_DIR}/generated")

# What clang-tidy needs before it can read a file: every header that is made by the build.
add_custom_target(generated_sources)
if(MASKFIT_BENCH)
  find_package(benchmark REQUIRED)
  add_custom_target(benchmarks)
endif()

function(maskfit_compile_protos target folder)
  file(GLOB protos CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/src/${folder}/*.proto")
  foreach(proto ${protos})
    get_filename_component(stem "${proto}" NAME_WE)
    set(out "${MASKFIT_GENERATED_DIR}/${folder}/${stem}")
    add_custom_command(
      OUTPUT "${out}.pb.cc" "${out}.pb.h"
      COMMAND ${CMAKE_COMMAND} -E make_directory "${MASKFIT_GENERATED_DIR}"
      COMMAND protobuf::protoc -I "${CMAKE_SOURCE_DIR}/src" -I "${Protobuf_INCLUDE_DIRS}"
              --cpp_out "${MASKFIT_GENERATED_DIR}" "${proto}"
      DEPENDS ${protos} COMMENT "protoc ${folder}/${stem}.proto")
    set_source_files_properties("${out}.pb.cc" PROPERTIES COMPILE_OPTIONS "-w")
    target_sources(${target} PRIVATE "${out}.pb.cc" "${out}.pb.h")
    list(APPEND headers "${out}.pb.h")
  endforeach()
  if(protos)
    add_custom_target(${target}_protos DEPENDS ${headers})
    add_dependencies(generated_sources ${target}_protos)
  endif()
endfunction()

# maskfit_discover_tests(TARGET PREFIX PROPERTIES ...): its tests as PREFIX/Suite.Name, asked for when they are run. A
# busy machine may take long to start a program with LibTorch.
function(maskfit_discover_tests target prefix)
  gtest_discover_tests(${target} TEST_PREFIX "${prefix}/" DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 120
    PROPERTIES ${ARGN})
endfunction()

function(maskfit_add_tests folder kind label suffix)
  if(NOT ARGN)
    return()
  endif()
  set(target ${folder}${suffix})
  add_executable(${target} ${ARGN})
  target_link_libraries(${target} PRIVATE maskfit_${folder} maskfit_test_support GTest::gmock GTest::gtest_main)
  maskfit_discover_tests(${target} ${folder} LABELS "${label}" TIMEOUT 900)
endfunction()

function(maskfit_add_folder folder includes externals)
  set(dir "${CMAKE_SOURCE_DIR}/src/${folder}")
  file(GLOB sources CONFIGURE_DEPENDS "${dir}/*.cpp" "${dir}/*.h")
  file(GLOB unit_tests CONFIGURE_DEPENDS "${dir}/*_test.cpp")
  file(GLOB vector_tests CONFIGURE_DEPENDS "${dir}/*_vectors_test.cpp")
  file(GLOB gpu_tests CONFIGURE_DEPENDS "${dir}/*_gpu_test.cpp")
  file(GLOB benchmarks CONFIGURE_DEPENDS "${dir}/*_bench.cpp")
  list(REMOVE_ITEM sources ${unit_tests} ${benchmarks} "${dir}/main.cpp" "")
  if(vector_tests OR gpu_tests)
    list(REMOVE_ITEM unit_tests ${vector_tests} ${gpu_tests})
  endif()
  if(MASKFIT_CUDA)
    file(GLOB kernels CONFIGURE_DEPENDS "${dir}/*.cu")
    list(APPEND sources ${kernels})
  endif()

  if(NOT CMAKE_BUILD_TYPE STREQUAL "Debug")
    file(GLOB kernel_loops CONFIGURE_DEPENDS "${dir}/*_kernels.cpp")
    set_source_files_properties(${kernel_loops} PROPERTIES COMPILE_OPTIONS "-O3")
  endif()
  add_library(maskfit_${folder} STATIC ${sources} "${CMAKE_SOURCE_DIR}/cmake/empty.cpp")
  maskfit_compile_protos(maskfit_${folder} ${folder})
  target_include_directories(maskfit_${folder} PUBLIC "${CMAKE_SOURCE_DIR}/src")
  target_include_directories(maskfit_${folder} SYSTEM PUBLIC "${MASKFIT_GENERATED_DIR}")
  target_compile_options(maskfit_${folder} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:${MASKFIT_WARNINGS}>)
  foreach(dep ${includes})
    target_link_libraries(maskfit_${folder} PUBLIC maskfit_${dep})
  endforeach()
  foreach(dep ${externals})
    target_link_libraries(maskfit_${folder} PUBLIC maskfit::${dep})
  endforeach()

  if(MASKFIT_TESTS)
    set(label unit)
    if("torch" IN_LIST externals)
      set(label torch)
    endif()
    maskfit_add_tests(${folder} unit ${label} _test ${unit_tests})
    maskfit_add_tests(${folder} vectors vectors _vectors_test ${vector_tests})
    maskfit_add_tests(${folder} gpu gpu _gpu_test ${gpu_tests})
  endif()
  if(MASKFIT_BENCH AND benchmarks)
    add_executable(${folder}_bench ${benchmarks})
    target_link_libraries(${folder}_bench PRIVATE maskfit_${folder} benchmark::benchmark_main)
    add_dependencies(benchmarks ${folder}_bench)
  endif()
endfunction()

# Reads the table and adds every folder that exists.
function(maskfit_add_modules)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/src/modules.txt")
  file(STRINGS "${CMAKE_SOURCE_DIR}/src/modules.txt" rows REGEX "^[a-z]")
  set(known "")
  foreach(row ${rows})
    string(REPLACE "|" ";" cells "${row}")
    list(GET cells 0 folder)
    list(GET cells 1 includes)
    list(GET cells 2 externals)
    string(STRIP "${folder}" folder)
    string(STRIP "${includes}" includes)
    separate_arguments(includes)
    separate_arguments(externals)
    if(includes STREQUAL "*")
      set(includes ${known})
    endif()
    maskfit_add_folder(${folder} "${includes}" "${externals}")
    list(APPEND known ${folder})
  endforeach()
endfunction()
