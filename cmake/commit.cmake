# cmake -DSOURCE=DIR -DOUT=FILE -P commit.cmake: writes a header that names the commit, "" if it is
# not known. Runs with each build; the file changes only when the commit does. TENURE_COMMIT in the environment
# names it where only the sources are, as in the build of an image.
set(commit "$ENV{TENURE_COMMIT}")
find_program(git git)
if(NOT commit AND git AND EXISTS "${SOURCE}/.git")
  execute_process(COMMAND ${git} -C ${SOURCE} rev-parse --short=12 HEAD
    OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  execute_process(COMMAND ${git} -C ${SOURCE} status --porcelain --untracked-files=no
    OUTPUT_VARIABLE changes ERROR_QUIET)
  if(commit AND changes)
    string(APPEND commit "+changes")
  endif()
endif()
set(text "#define TENURE_COMMIT_TEXT \"${commit}\"\n")
set(before "")
if(EXISTS "${OUT}")
  file(READ "${OUT}" before)
endif()
if(NOT before STREQUAL text)
  file(WRITE "${OUT}" "${text}")
endif()
