/* Parameters come from the workload's option rows and the common ones; their values and ranges are texts behind the
 * table, in the same block of memory. */
#include "system/parameters.h"

#include <stdlib.h>
#include <string.h>

struct texts {
    char value[PW_OPTION_TEXT_CAPACITY], range[PW_OPTION_TEXT_CAPACITY];
};

void pw_parameters_release(struct pw_parameters *p)
{
    free(p->parameters);
    free(p->sizes);
    *p = (struct pw_parameters){0};
}

static void describe(const struct pw_option_view *view, struct texts *texts, struct pw_workload_parameter *out)
{
    const struct pw_option *row = view->row;
    memcpy(texts->value, view->value, sizeof texts->value);
    pw_option_describe_range(row, texts->range, sizeof texts->range);
    *out = (struct pw_workload_parameter){
        .name = row->name,
        .value = texts->value,
        .fallback = row->fallback,
        .range = texts->range,
        .unit = row->unit ? row->unit : "",
        .summary = row->help,
    };
}

enum pw_status pw_parameters_describe(const struct pw_program *program, struct pw_parameters *out, struct pw_error *err)
{
    struct pw_option_view view;
    const struct pw_preset *presets = program->workload->presets;
    *out = (struct pw_parameters){0};
    while (pw_program_parameter(program, out->parameter_count, &view))
        out->parameter_count++;
    while (presets && presets[out->size_count].name)
        out->size_count++;
    out->parameters = calloc(out->parameter_count, sizeof *out->parameters + sizeof(struct texts));
    out->sizes = calloc(out->size_count + 1, sizeof *out->sizes);
    if (!out->parameters || !out->sizes) {
        pw_parameters_release(out);
        return pw_fail_memory(err, "the list of parameters");
    }
    struct texts *texts = (struct texts *)(out->parameters + out->parameter_count);
    for (size_t i = 0; pw_program_parameter(program, i, &view); i++)
        describe(&view, &texts[i], &out->parameters[i]);
    for (size_t i = 0; presets && i < out->size_count; i++)
        out->sizes[i] = (struct pw_workload_size){presets[i].name, presets[i].parameters};
    return PW_OK;
}
