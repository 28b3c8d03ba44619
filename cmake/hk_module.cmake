# Several .cpp files become one translation unit: what they include is read once (HK_UNITY files at
# a time, 0 = each alone). So the names in anonymous namespaces of a module are unique in it, and a
# file includes what it uses all the same: `./dev lint` compiles each alone. Tests repeat each other's
# names: what is in `namespace HK_TEST_FILE` is its file's own (alone, that is an anonymous namespace).
# What is in a folder named after APART is not mixed with the rest: whoever links one object of a
# module gets all that is in it, marks of the simulator included.
function(hk_compile_together target)
  cmake_parse_arguments(C "" "APART" "" ${ARGN})
  if(NOT HK_UNITY GREATER 1)
    target_compile_definitions(${target} PRIVATE HK_TEST_FILE=)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP
                        UNITY_BUILD_UNIQUE_ID HK_TEST_FILE)
  get_target_property(sources ${target} SOURCES)
  set(count_together 0)
  set(count_apart 0)
  foreach(source ${sources})
    set(where together)
    if(C_APART AND source MATCHES "/${C_APART}/")
      set(where apart)
    endif()
    math(EXPR group "${count_${where}} / ${HK_UNITY}")
    math(EXPR count_${where} "${count_${where}} + 1")
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${where}_${group})
  endforeach()
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
    hk_compile_together(hk_${name} APART ${M_APART})
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
  hk_compile_together(hk_${name})
  set(helpers ${sources})
  list(FILTER helpers EXCLUDE REGEX "_test\\.cpp$")
  set_source_files_properties(${helpers} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
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
