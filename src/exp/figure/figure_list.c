/* The figures that are compiled in, for listings. */
#include "exp/figure/figure_list.h"

#include "exp/figure/figure.h"

enum pw_status pw_figure_list(pw_list_visit *visit, void *context, struct pw_error *err)
{
    for (const struct pw_figure_file *file = pw_figure_files; file->name; file++) {
        struct pw_figure *figure;
        enum pw_status status = pw_figure_load(file->name, PW_QUICK, &figure, err);
        if (status != PW_OK)
            return status;
        visit(context, &(struct pw_listing){.name = figure->name, .detail = figure->where, .summary = figure->title});
        pw_figure_free(figure);
    }
    return PW_OK;
}
