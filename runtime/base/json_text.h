/* Text in JSON files. */
#ifndef IMBREX_BASE_JSON_TEXT_H
#define IMBREX_BASE_JSON_TEXT_H

#include <stdio.h>

/* Writes `text`, which may be NULL, as a JSON string in quotes. */
void ix_put_json_string(FILE *f, const char *text);

#endif
