# A mutant is the code that ships with one mistake from a patch; it proves that a test finds that mistake.
find_program(TENURE_PATCH patch REQUIRED)

# planted(PATCH TREE VARIABLE): copies the sources that PATCH touches to TREE, and plants the mistake there.
# VARIABLE lists the copies, VARIABLE_units their originals, as paths in the project. A patch may not touch a
# header, as nothing else would be compiled against it. A patch that does not apply any more fails the build.
function(planted patch tree variable)
  cmake_path(GET patch STEM name)
  touched_by(units ${patch})
  list(FILTER units INCLUDE REGEX "cpp$")
  set(copies)
  foreach(unit IN LISTS units)
    cmake_path(GET unit PARENT_PATH folder)
    list(APPEND copies COMMAND ${CMAKE_COMMAND} -E make_directory ${tree}/${folder}
                       COMMAND ${CMAKE_COMMAND} -E copy ${PROJECT_SOURCE_DIR}/${unit} ${tree}/${unit})
  endforeach()
  list(TRANSFORM units PREPEND "${tree}/" OUTPUT_VARIABLE mutated)
  list(TRANSFORM units PREPEND "${PROJECT_SOURCE_DIR}/" OUTPUT_VARIABLE originals)
  add_custom_command(
    OUTPUT ${mutated}
    COMMAND ${CMAKE_COMMAND} -E rm -rf ${tree}
    ${copies}
    COMMAND ${TENURE_PATCH} -p1 --fuzz=0 --quiet -d ${tree} -i ${patch}
    DEPENDS ${patch} ${originals}
    COMMENT "Mutant ${name}"
    VERBATIM)
  set(${variable} ${mutated} PARENT_SCOPE)
  set(${variable}_units ${units} PARENT_SCOPE)
endfunction()

# drawn(VARIABLE): leaves those patches of a list that this run of the suite has drawn: those that build/PRESET/mutants.txt
# names, which ./dev test writes; all if there is no such file. The others are not built.
function(drawn variable)
  set(list ${PROJECT_BINARY_DIR}/mutants.txt)
  if(NOT EXISTS ${list})
    return()
  endif()
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${list})
  file(STRINGS ${list} names)
  set(left)
  foreach(patch IN LISTS ${variable})
    cmake_path(RELATIVE_PATH patch BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE name)
    if(name IN_LIST names)
      list(APPEND left ${patch})
    endif()
  endforeach()
  set(${variable} ${left} PARENT_SCOPE)
endfunction()

# breaks_its_rule(TEST TARGET PATCH): the simulator TARGET, with the mistake of PATCH in it, breaks the rule that the
# line "Breaks RULE" of PATCH names, or one of several. Its seeds are drawn anew in each run, 6,000 at most; a line
# "Where TRAIT,..." says of which worlds.
function(breaks_its_rule test target patch)
  # CMake reads the first lines of the patch when it runs.
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${patch})
  file(STRINGS ${patch} rule REGEX "^Breaks ")
  string(REPLACE "Breaks " "" rule "${rule}")
  file(STRINGS ${patch} where REGEX "^Where ")
  string(REPLACE "Where " "" where "${where}")
  set(worlds --from random --seeds 6000)
  if(where)
    list(APPEND worlds --where ${where})
  endif()
  add_test(NAME ${test} COMMAND ${tenure_burning} $<TARGET_FILE:${target}> ${worlds} --expect "${rule}")
  burns(${test} LABELS sim)
endfunction()

# unit_mutants(TARGET): for each patch in the folder `mutants` of the caller that this run has drawn, the unit tests TARGET over a room
# with that mistake in it; the test that the line "Found by NAME" of the patch names fails.
function(unit_mutants target)
  file(GLOB mutants CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/mutants/*.patch)
  if(TENURE_SANITIZE)
    set(mutants)  # their proof is in the suite without sanitizers
  endif()
  drawn(mutants)
  get_target_property(libraries ${target} LINK_LIBRARIES)
  foreach(patch IN LISTS mutants)
    cmake_path(GET patch STEM name)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${patch})
    file(STRINGS ${patch} test REGEX "^Found by ")
    string(REPLACE "Found by " "" test "${test}")
    planted(${patch} ${CMAKE_CURRENT_BINARY_DIR}/mutants/${name} mutated)
    add_executable(${target}_${name} ${mutated} $<TARGET_OBJECTS:${target}>)
    target_link_libraries(${target}_${name} PRIVATE ${libraries})
    # A mistake may leave something unused.
    target_compile_options(${target}_${name} PRIVATE -w)
    add_test(NAME ${target}.mutant.${name} COMMAND ${target}_${name} "--gtest_filter=${test}")
    string(REPLACE "." "\\." test "${test}")
    set_tests_properties(${target}.mutant.${name} PROPERTIES TIMEOUT 120 PASS_REGULAR_EXPRESSION "\\[  FAILED  \\] ${test}")
  endforeach()
endfunction()
