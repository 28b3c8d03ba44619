# The web pages of ui/, as a part of the binary. Debian's esbuild bundles each with Debian's React; nothing is
# downloaded, and two builds of the same files are the same bytes. Without those packages AUTO builds a server
# that says so in place of its pages; ON fails.
set(HK_UI AUTO CACHE STRING "Build the web pages into the server: AUTO (if esbuild and React are there), ON or OFF")
set_property(CACHE HK_UI PROPERTY STRINGS AUTO ON OFF)

find_program(ESBUILD esbuild)
find_program(GZIP gzip)
# What Debian's packages of Node libraries are found in.
find_path(HK_NODE_LIBRARIES react-dom/client.js PATHS /usr/share/nodejs NO_DEFAULT_PATH)
set(hk_ui_built OFF)
if(HK_UI AND ESBUILD AND GZIP AND HK_NODE_LIBRARIES)
  set(hk_ui_built ON)
elseif(HK_UI STREQUAL "ON")
  message(FATAL_ERROR "HK_UI is ON, but these are missing: apt-get install esbuild node-react node-react-dom gzip")
elseif(NOT HK_UI STREQUAL "OFF")
  message(STATUS "Without web pages: apt-get install esbuild node-react node-react-dom to have them")
endif()

# hk_ui_page(portal): ui/portal/main.tsx and what it imports become ${CMAKE_BINARY_DIR}/ui/portal.cpp, a part of the
# library hk_pages, which has the function hk::api::pages::portal().
add_library(hk_pages STATIC)
target_include_directories(hk_pages PRIVATE ${PROJECT_SOURCE_DIR}/src)
target_link_libraries(hk_pages PRIVATE hk_warnings)
function(hk_ui_page page)
  set(made ${PROJECT_BINARY_DIR}/ui/${page}.cpp)
  set(script ${PROJECT_SOURCE_DIR}/cmake/hk_ui_bundle.cmake)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/ui/lib/* ${PROJECT_SOURCE_DIR}/ui/${page}/*)
  if(NOT hk_ui_built)
    set(sources "")
  endif()
  add_custom_command(OUTPUT ${made}
    COMMAND ${CMAKE_COMMAND} -D PAGE=${page} -D BUILT=${hk_ui_built} -D SOURCE=${PROJECT_SOURCE_DIR}/ui
            -D OUT=${PROJECT_BINARY_DIR}/ui -D ESBUILD=${ESBUILD} -D GZIP=${GZIP} -D LIBRARIES=${HK_NODE_LIBRARIES}
            -P ${script}
    DEPENDS ${sources} ${script}
    COMMENT "Bundling ui/${page}" VERBATIM)
  target_sources(hk_pages PRIVATE ${made})
endfunction()
