# What every room compiles with: an INTERFACE target linked PRIVATE, so that tests, which expand other people's
# macros, need not meet -Wconversion. Included by the root and by kernels/ when that room is built alone.
include_guard(GLOBAL)

add_library(tare_options INTERFACE)
target_include_directories(tare_options INTERFACE ${CMAKE_CURRENT_LIST_DIR}/../..)
target_compile_definitions(tare_options INTERFACE _GNU_SOURCE)
target_compile_options(tare_options INTERFACE
  $<$<COMPILE_LANGUAGE:C>:-ffp-contract=off -fno-math-errno>
  $<$<AND:$<COMPILE_LANGUAGE:C>,$<BOOL:${TARE_WERROR}>>:-Werror>)

add_library(tare_strict INTERFACE)
target_link_libraries(tare_strict INTERFACE tare_options)
target_compile_options(tare_strict INTERFACE
  $<$<COMPILE_LANGUAGE:C>:-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wvla -Wfloat-equal -Wstrict-prototypes
    -Wmissing-prototypes -Wno-sign-conversion>)

if(TARE_SANITIZE)
  add_compile_options($<$<COMPILE_LANGUAGE:C,CXX>:-fsanitize=address,undefined>
                      $<$<COMPILE_LANGUAGE:C,CXX>:-fno-omit-frame-pointer>
                      $<$<COMPILE_LANGUAGE:C,CXX>:-fno-sanitize-recover=undefined>)
  add_link_options(-fsanitize=address,undefined)
endif()
