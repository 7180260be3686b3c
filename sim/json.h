/*
 * json.h - writing JSON text.
 */
#ifndef SIM_JSON_H
#define SIM_JSON_H

#include <stdio.h>

/* A string with its quotes. What is not UTF-8 becomes the replacement character. NULL: null. */
void json_string(FILE *out, const char *s);
/* A number; null for what JSON cannot express (infinity). */
void json_number(FILE *out, double value);

#endif
