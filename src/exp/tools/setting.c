/* Splits the values of a setting. Which options are texts, and which values they take, is what the options of a run
 * say. */
#include "exp/tools/setting.h"

#include "system/config.h"

#include <stdlib.h>
#include <string.h>

/* Commas belong to the value of a text; what an unknown option has is left whole for the message. */
static bool keeps_commas(const struct pw_options *options, const char *key)
{
    const struct pw_option *row = pw_options_row(options, key);
    return !row || row->type == PW_OPTION_TEXT;
}

bool pw_setting_has_several(const char *text)
{
    const char *equals = strchr(text, '=');
    struct pw_config config;
    struct pw_options *options;
    struct pw_error ignored;
    if (!equals || !strchr(equals, ',') || pw_config_create(&config, &options, &ignored) != PW_OK)
        return false;
    char *key = strndup(text, (size_t)(equals - text));
    bool several = key && !keeps_commas(options, key);
    free(key);
    pw_options_destroy(options);
    return several;
}

static enum pw_status add_value(struct pw_setting *s, const char *value, struct pw_options *options,
                                struct pw_error *err)
{
    if (!*value && s->value_count)
        return pw_fail(err, PW_USER_ERROR, "--set %s: a value is missing beside a comma", s->key);
    for (size_t i = 0; i < s->value_count; i++)
        if (!strcmp(s->values[i], value))
            return pw_fail(err, PW_USER_ERROR, "--set %s: %.80s is there twice", s->key, value);
    enum pw_status status = pw_options_set(options, s->key, value, "--set", err);
    if (status != PW_OK)
        return status;
    char **grown = realloc(s->values, (s->value_count + 1) * sizeof *grown);
    if (!grown)
        return pw_fail_memory(err, "settings");
    s->values = grown;
    s->values[s->value_count] = strdup(value);
    if (!s->values[s->value_count])
        return pw_fail_memory(err, "settings");
    s->value_count++;
    return PW_OK;
}

static enum pw_status split(struct pw_setting *s, const char *values, struct pw_options *options, struct pw_error *err)
{
    char *copy = strdup(values), *rest = copy;
    if (!copy)
        return pw_fail_memory(err, "settings");
    bool whole = keeps_commas(options, s->key);
    enum pw_status status = PW_OK;
    while (rest && status == PW_OK) {
        const char *value = whole ? rest : strsep(&rest, ",");
        rest = whole ? NULL : rest;
        status = add_value(s, value, options, err);
    }
    free(copy);
    return status;
}

enum pw_status pw_setting_read(const char *text, struct pw_setting *out, struct pw_error *err)
{
    *out = (struct pw_setting){0};
    const char *equals = strchr(text, '=');
    if (!equals || equals == text)
        return pw_fail(err, PW_USER_ERROR, "--set: '%.200s' is not of the form KEY=VALUE[,VALUE…]", text);
    out->key = strndup(text, (size_t)(equals - text));
    if (!out->key)
        return pw_fail_memory(err, "settings");
    struct pw_config config;
    struct pw_options *options;
    enum pw_status status = pw_config_create(&config, &options, err);
    if (status != PW_OK)
        return status;
    status = split(out, equals + 1, options, err);
    pw_options_destroy(options);
    return status;
}

void pw_setting_release(struct pw_setting *s)
{
    for (size_t i = 0; i < s->value_count; i++)
        free(s->values[i]);
    free(s->values);
    free(s->key);
    *s = (struct pw_setting){0};
}
