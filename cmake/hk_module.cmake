# Several .cpp files become one translation unit: what they include is read once (HK_UNITY files at
# a time, 0 = each alone). So the names in anonymous namespaces of a module are unique in it, and a
# file includes what it uses all the same: `./dev lint` compiles each alone. Tests repeat each other's
# names: what is in `namespace HK_TEST_FILE` is its file's own (alone, that is an anonymous namespace).
#
#   ROOT   the folder, among those that are searched for headers, below which the files are: they are
#          included by their paths in it, so that another clone finds in the compiler cache what this one
#          compiled (CMake's own unity builds name the checkout)
#   APART  a folder whose files are not mixed with the rest: who links one object of a module gets all
#          that is in it, marks of the simulator included
#   ALONE  files that are compiled alone all the same
function(hk_compile_together target)
  cmake_parse_arguments(C "" "ROOT;APART" "ALONE" ${ARGN})
  if(NOT HK_UNITY GREATER 1)
    target_compile_definitions(${target} PRIVATE HK_TEST_FILE=)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  list(REMOVE_ITEM sources ${C_ALONE})
  set(compiled ${C_ALONE})
  set(count_together 0)
  set(count_apart 0)
  foreach(source ${sources})
    set(where together)
    if(C_APART AND source MATCHES "/${C_APART}/")
      set(where apart)
    endif()
    math(EXPR group "${count_${where}} / ${HK_UNITY}")
    math(EXPR count_${where} "${count_${where}} + 1")
    file(RELATIVE_PATH path ${C_ROOT} ${source})
    string(MD5 own_name ${path})
    string(APPEND text_${where}_${group}
      "#define HK_TEST_FILE file_${own_name}\n#include \"${path}\"\n#undef HK_TEST_FILE\n")
    list(APPEND groups ${where}_${group})
  endforeach()
  list(REMOVE_DUPLICATES groups)
  foreach(group ${groups})
    set(file ${PROJECT_BINARY_DIR}/together/${target}/${group}.cpp)
    file(CONFIGURE OUTPUT ${file} CONTENT "${text_${group}}" @ONLY)  # keeps its time if nothing changes
    list(APPEND compiled ${file})
  endforeach()
  set_target_properties(${target} PROPERTIES SOURCES "${compiled}")
endfunction()

# One folder of src/ is one library that names its allowed neighbours. Each module has an include
# root of its own (build/roots/core/core -> src/core), so that a header of a module that is not a
# declared neighbour is not found: the dependency rule is checked by the compiler.
#
#   PUBLIC  modules that our headers include      PRIVATE  modules that only our .cpp files include
#   LIBS    system libraries                      APART    a folder whose objects hold nothing else
function(hk_module name)
  cmake_parse_arguments(M "" "APART" "PUBLIC;PRIVATE;LIBS" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${name}/*.cpp)
  list(REMOVE_ITEM sources ${PROJECT_SOURCE_DIR}/src/${name}/main.cpp)  # a program's own
  set(root ${PROJECT_BINARY_DIR}/roots/${name})
  get_filename_component(parent ${root}/${name} DIRECTORY)
  file(MAKE_DIRECTORY ${parent})
  file(CREATE_LINK ${PROJECT_SOURCE_DIR}/src/${name} ${root}/${name} SYMBOLIC)
  list(TRANSFORM M_PUBLIC PREPEND hk_)
  list(TRANSFORM M_PRIVATE PREPEND hk_)
  if(sources)
    add_library(hk_${name} STATIC ${sources})
    target_include_directories(hk_${name} PUBLIC ${root})
    target_link_libraries(hk_${name} PUBLIC ${M_PUBLIC} PRIVATE ${M_PRIVATE} ${M_LIBS} hk_warnings)
    hk_compile_together(hk_${name} ROOT ${PROJECT_SOURCE_DIR}/src APART ${M_APART})
  else()
    add_library(hk_${name} INTERFACE)
    target_include_directories(hk_${name} INTERFACE ${root})
    target_link_libraries(hk_${name} INTERFACE ${M_PUBLIC})
  endif()
endfunction()

# A GoogleTest binary made of every .cpp below a folder of tests/; registered with CTest as one test.
#   hk_test(unit_core DIR unit/core MODULES core LABELS quick)
function(hk_test name)
  cmake_parse_arguments(T "" "DIR;TIMEOUT" "MODULES;LIBS;LABELS" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/${T_DIR}/*.cpp)
  if(NOT sources)
    return()
  endif()
  add_executable(hk_${name} ${sources})
  list(TRANSFORM T_MODULES PREPEND hk_)
  target_include_directories(hk_${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  target_link_libraries(hk_${name} PRIVATE ${T_MODULES} ${T_LIBS} GTest::gtest GTest::gtest_main hk_warnings)
  # What is tested is optimised; optimising the tests themselves would double the time of a build.
  # Together they shadow each other's names.
  target_compile_options(hk_${name} PRIVATE -O0 -U_FORTIFY_SOURCE -Wno-shadow)
  if(HK_SANITIZE MATCHES "undefined")
    # Looked for in what is tested: its checks are a third of what a test takes to compile.
    target_compile_options(hk_${name} PRIVATE -fno-sanitize=undefined)
  endif()
  set(helpers ${sources})
  list(FILTER helpers EXCLUDE REGEX "_test\\.cpp$")
  hk_compile_together(hk_${name} ROOT ${PROJECT_SOURCE_DIR}/tests ALONE ${helpers})
  add_test(NAME ${name} COMMAND hk_${name} --gtest_brief=1)
  if(NOT T_TIMEOUT)
    set(T_TIMEOUT 1200)
  endif()
  set_tests_properties(${name} PROPERTIES LABELS "${T_LABELS}" TIMEOUT ${T_TIMEOUT})
  # The whole test runs unit tests with sanitizers only: in an optimised build they are for who asks for them.
  if(name MATCHES "^unit_" AND NOT HK_SANITIZE AND NOT HK_COVERAGE)
    set_target_properties(hk_${name} PROPERTIES EXCLUDE_FROM_ALL ON)
    add_dependencies(unit_tests hk_${name})
  endif()
endfunction()
