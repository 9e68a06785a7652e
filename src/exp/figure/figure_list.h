/* What figures there are, for listings. */
#ifndef PW_EXP_FIGURE_LIST_H
#define PW_EXP_FIGURE_LIST_H

#include "pagewalk/pagewalk.h"

/* Detail: where in the paper. */
enum pw_status pw_figure_list(pw_list_visit *visit, void *context, struct pw_error *err);

#endif
