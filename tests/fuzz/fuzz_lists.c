/* Any bytes as the two options that are lists, uvm.advice and link.points: nothing may crash, a refusal is one line.
 * Advice that is accepted is found again by its names; a link that is accepted takes longer for more bytes. */
#include "fuzz.h"
#include "mem/link.h"
#include "message.h"
#include "uvm/advice.h"

#include <string.h>

static void check_advice(const char *text)
{
    struct pw_advice_list list = {0};
    struct pw_error err = {0};
    enum pw_status status = pw_advice_parse(text, &list, &err);
    if (status != PW_OK) {
        require_refusal(status, &err);
        return;
    }
    require(list.count <= PW_MOST_ADVISED);
    for (size_t i = 0; i < list.count; i++)
        require(pw_advice_take(&list, list.items[i].name) & list.items[i].advice);
    require(!pw_advice_unused(&list));
}

static void check_link(const char *text)
{
    struct pw_link_config config = {.model = PW_LINK_TABLE};
    struct pw_link *link;
    struct pw_error err = {0};
    if (strlen(text) >= sizeof config.points)
        return;
    strcpy(config.points, text);
    enum pw_status status = pw_link_create(&config, 1000, NULL, &link, &err);
    if (status != PW_OK) {
        require_refusal(status, &err);
        require(!link);
        return;
    }
    pw_cycle last = 0;
    for (uint64_t bytes = 1; bytes < 1ULL << 40; bytes *= 2) {
        pw_cycle cycles = pw_link_cycles(link, PW_LINK_H2D, bytes);
        require(cycles >= last && cycles > 0);
        last = cycles;
    }
    pw_link_destroy(link);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = strndup((const char *)data, size);
    require(text);
    check_advice(text);
    check_link(text);
    free(text);
    return 0;
}
