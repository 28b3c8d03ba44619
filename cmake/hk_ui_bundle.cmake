# Bundles one page of ui/ and writes the source file that holds it (hk_ui.cmake calls it). The bytes come in by the
# assembler's .incbin: as array literals they would take the compiler seconds.
set(folder ${OUT}/${PAGE})
set(code "// Made by cmake/hk_ui_bundle.cmake from ui/${PAGE}.\n#include \"api/pages/asset.h\"\n\n")

function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE failed OUTPUT_VARIABLE said ERROR_VARIABLE said)
  if(failed)
    message(FATAL_ERROR "${said}")
  endif()
endfunction()

if(NOT BUILT)
  string(APPEND code "namespace hk::api::pages {\nstd::span<const Asset> ${PAGE}() { return {}; }\n}  // namespace hk::api::pages\n")
  file(WRITE ${OUT}/${PAGE}.cpp "${code}")
  return()
endif()

file(REMOVE_RECURSE ${folder})
file(MAKE_DIRECTORY ${folder})
run(${CMAKE_COMMAND} -E env NODE_PATH=${LIBRARIES}
    ${ESBUILD} ${SOURCE}/${PAGE}/main.tsx --bundle --minify --jsx=automatic "--define:process.env.NODE_ENV=\"production\""
    --target=es2020 --format=esm --charset=utf8 --log-level=warning --outfile=${folder}/${PAGE}.js)
file(SHA256 ${folder}/${PAGE}.js script_hash)
file(SHA256 ${folder}/${PAGE}.css style_hash)
file(READ ${SOURCE}/${PAGE}/index.html document)
file(SHA256 ${SOURCE}/${PAGE}/icon.svg icon_hash)
string(SHA256 version "${script_hash}${style_hash}${icon_hash}${document}")
string(SUBSTRING ${version} 0 16 version)
string(REPLACE "@VERSION@" "${version}" document "${document}")
file(WRITE ${folder}/index.html "${document}")
file(COPY_FILE ${SOURCE}/${PAGE}/icon.svg ${folder}/icon.svg)

set(symbols "")
set(externs "")
set(rows "")
foreach(file index.html:text/html ${PAGE}.js:text/javascript ${PAGE}.css:text/css icon.svg:image/svg+xml)
  string(REPLACE ":" ";" file ${file})
  list(GET file 0 name)
  list(GET file 1 type)
  run(${GZIP} -9nk ${folder}/${name})
  string(MAKE_C_IDENTIFIER "hk_page_${PAGE}_${name}" symbol)
  set(row "    {\"${name}\", \"${type}\"")
  foreach(form "" ".gz")
    string(MAKE_C_IDENTIFIER "${symbol}${form}" one)
    file(SIZE ${folder}/${name}${form} size)
    string(APPEND symbols "${one}:\n.incbin \"${folder}/${name}${form}\"\n")
    string(APPEND externs "extern const char ${one}[] __attribute__((visibility(\"hidden\")));\n")
    string(APPEND row ", {${one}, ${size}}")
  endforeach()
  string(APPEND rows "${row}, \"${version}\"},\n")
endforeach()
string(APPEND code
  "asm(R\"(.pushsection .rodata\n${symbols}.popsection\n)\");\n\n"
  "extern \"C\" {\n${externs}}\n\n"
  "namespace hk::api::pages {\n\nstd::span<const Asset> ${PAGE}() {\n  static const Asset assets[] = {\n${rows}  };\n"
  "  return assets;\n}\n\n}  // namespace hk::api::pages\n")
file(WRITE ${OUT}/${PAGE}.cpp "${code}")
