/* What designs cost in storage, as a table or as JSON. */
#ifndef PW_EXP_COST_TABLE_H
#define PW_EXP_COST_TABLE_H

#include "exp/format/text.h"

/* Appends the costs of all designs on a machine (NULL: mosaic): a line for each design and then one for each structure
 * that policies add; or an array of all their metrics cost.*. */
enum pw_status pw_cost_table(const char *machine, bool json, struct pw_text *text, struct pw_error *err);

#endif
