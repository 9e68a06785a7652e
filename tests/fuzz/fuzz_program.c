/* Any bytes as the text of a workload, "NAME:key=value:…": nothing may crash, a refusal is one line, and what is
 * accepted has every parameter in its canonical form, which reads back as the same. */
#include "fuzz.h"
#include "message.h"
#include "workload/runtime/host.h"

#include <stdio.h>
#include <string.h>

static void check_parameters(const struct pw_program *p)
{
    struct pw_option_view view;
    for (size_t i = 0; pw_program_parameter(p, i, &view); i++) {
        char again[PW_OPTION_TEXT_CAPACITY] = "";
        union {
            char text[PW_OPTION_TEXT_CAPACITY];
            uint64_t integer;
            double number;
        } field = {0};
        require(pw_option_parse(view.row, view.value, 0, &field, NULL) == PW_OK);
        pw_option_format(view.row, &field, again, sizeof again);
        require(strcmp(again, view.value) == 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = strndup((const char *)data, size);
    require(text);
    struct pw_program p;
    struct pw_error err = {0};
    enum pw_status status = pw_program_parse(text, &p, &err);
    if (status == PW_OK) {
        check_parameters(&p);
        require(strcmp(p.text, text) == 0 && !strstr(text, "::"));
        pw_program_release(&p);
    } else {
        require_refusal(status, &err);
        require(!p.parameters);
    }
    free(text);
    return 0;
}
