# Finds LibTorch and defines the target maskfit::torch.
#
# Three places, in this order:
#   1. -DTorch_DIR=... or CMAKE_PREFIX_PATH: a LibTorch zip or a wheel's torch/ folder
#   2. the Python wheel of the python3 on the PATH
#   3. Debian's libtorch-dev (headers and libraries on the system path, no package file of its own)
# We do not use the package file that LibTorch ships: it insists on finding a CUDA toolkit and MKL of its own choice.

set(_torch_roots "")
if(Torch_DIR)
  # Torch_DIR is by convention ROOT/share/cmake/Torch
  get_filename_component(_root "${Torch_DIR}/../../.." ABSOLUTE)
  list(APPEND _torch_roots "${Torch_DIR}" "${_root}")
endif()
list(APPEND _torch_roots ${CMAKE_PREFIX_PATH})

find_path(Torch_INCLUDE_DIR ATen/ATen.h HINTS ${_torch_roots} PATH_SUFFIXES include NO_DEFAULT_PATH)
if(NOT Torch_INCLUDE_DIR AND NOT MASKFIT_SYSTEM_TORCH)
  find_program(MASKFIT_PYTHON3 python3)
  if(MASKFIT_PYTHON3)
    execute_process(
      COMMAND ${MASKFIT_PYTHON3} -c "import torch, os; print(os.path.dirname(torch.__file__))"
      OUTPUT_VARIABLE _wheel OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    if(_wheel)
      find_path(Torch_INCLUDE_DIR ATen/ATen.h HINTS "${_wheel}" PATH_SUFFIXES include NO_DEFAULT_PATH)
    endif()
  endif()
endif()
find_path(Torch_INCLUDE_DIR ATen/ATen.h)

get_filename_component(_torch_root "${Torch_INCLUDE_DIR}" DIRECTORY)
foreach(_lib torch torch_cpu c10)
  find_library(Torch_${_lib}_LIBRARY ${_lib} HINTS "${_torch_root}/lib")
  mark_as_advanced(Torch_${_lib}_LIBRARY)
endforeach()
foreach(_lib torch_cuda c10_cuda)
  find_library(Torch_${_lib}_LIBRARY ${_lib} HINTS "${_torch_root}/lib" NO_DEFAULT_PATH)
  mark_as_advanced(Torch_${_lib}_LIBRARY)
endforeach()

# Up to 2.8 one line holds the whole version; later the numbers stand one by one in torch/headeronly/version.h.
set(_parts "")
foreach(_header torch/headeronly/version.h torch/csrc/api/include/torch/version.h)
  if(EXISTS "${Torch_INCLUDE_DIR}/${_header}" AND NOT _parts)
    foreach(_part MAJOR MINOR PATCH)
      file(STRINGS "${Torch_INCLUDE_DIR}/${_header}" _line REGEX "define TORCH_VERSION_${_part} [0-9]+")
      string(REGEX MATCH "[0-9]+" _number "${_line}")
      if(NOT _number STREQUAL "")
        list(APPEND _parts ${_number})
      endif()
    endforeach()
  endif()
endforeach()
list(JOIN _parts "." Torch_VERSION)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Torch
  REQUIRED_VARS Torch_INCLUDE_DIR Torch_torch_LIBRARY Torch_torch_cpu_LIBRARY Torch_c10_LIBRARY
  VERSION_VAR Torch_VERSION)

# A wheel's include folder also holds its own fmt, protobuf and oneDNN, of other versions than the libraries we link: take
# LibTorch's folders alone.
set(_torch_include "${Torch_INCLUDE_DIR}")
if(Torch_FOUND AND NOT Torch_INCLUDE_DIR IN_LIST CMAKE_CXX_IMPLICIT_INCLUDE_DIRECTORIES)
  set(_torch_include "${CMAKE_BINARY_DIR}/torch_include")
  file(MAKE_DIRECTORY "${_torch_include}")
  foreach(_dir ATen c10 caffe2 torch)
    file(CREATE_LINK "${Torch_INCLUDE_DIR}/${_dir}" "${_torch_include}/${_dir}" SYMBOLIC)
  endforeach()
endif()

if(Torch_FOUND AND NOT TARGET maskfit::torch)
  add_library(maskfit::torch INTERFACE IMPORTED)
  # SYSTEM: LibTorch's headers do not compile without warnings.
  target_include_directories(maskfit::torch SYSTEM INTERFACE
    "${_torch_include}" "${_torch_include}/torch/csrc/api/include")
  target_link_libraries(maskfit::torch INTERFACE
    ${Torch_torch_LIBRARY} ${Torch_torch_cpu_LIBRARY} ${Torch_c10_LIBRARY})
  if(Torch_torch_cuda_LIBRARY AND MASKFIT_CUDA)
    # --no-as-needed: nothing of ours names a symbol of torch_cuda, yet without it there are no CUDA kernels.
    target_link_libraries(maskfit::torch INTERFACE
      "-Wl,--no-as-needed" ${Torch_torch_cuda_LIBRARY} ${Torch_c10_cuda_LIBRARY} "-Wl,--as-needed")
  endif()
endif()
