# One interface target with the flags that every target of this project is compiled with.
add_library(twpa_flags INTERFACE)
target_compile_features(twpa_flags INTERFACE c_std_11)
target_compile_options(twpa_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wstrict-prototypes -Wmissing-prototypes
  -Wcast-qual -Wundef -Wvla -Wwrite-strings)
if(TWPA_WERROR)
  target_compile_options(twpa_flags INTERFACE -Werror)
endif()
if(TWPA_SANITIZE)
  target_compile_options(twpa_flags INTERFACE
    -fsanitize=${TWPA_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(twpa_flags INTERFACE -fsanitize=${TWPA_SANITIZE})
endif()
if(TWPA_COVERAGE)
  target_compile_options(twpa_flags INTERFACE --coverage)
  target_link_options(twpa_flags INTERFACE --coverage)
endif()
