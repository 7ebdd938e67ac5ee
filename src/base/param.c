/* Rows of plugin options, and `key=value,key=value` read by them. */
#include <fraglab/param.h>

#include "base/units.h"

#include <stdlib.h>
#include <string.h>

size_t fl_param_count(const fl_param *rows)
{
    size_t count = 0;
    while (rows != NULL && rows[count].key != NULL)
        count++;
    return count;
}

static bool param_read_bool(const char *text, size_t length, bool *ret)
{
    static const char *const words[] = {"false", "true", "no", "yes", "off", "on", "0", "1"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strlen(words[i]) == length && memcmp(words[i], text, length) == 0) {
            *ret = i % 2 == 1;
            return true;
        }
    }
    return false;
}

static bool param_read_real(const char *text, size_t length, double *ret)
{
    char copy[64];
    if (length == 0 || length >= sizeof copy)
        return false;
    memcpy(copy, text, length);
    copy[length] = '\0';
    char *end;
    *ret = strtod(copy, &end);
    return *end == '\0' && *ret == *ret;
}

static bool param_read(const fl_param *row, const char *text, size_t length, fl_param_value *ret)
{
    double number = 0;
    switch (row->type) {
    case FL_PARAM_SIZE:
    case FL_PARAM_COUNT:
        if (!fl_parse_size(text, length, &ret->count))
            return false;
        number = (double)ret->count;
        break;
    case FL_PARAM_BOOL:
        return param_read_bool(text, length, &ret->on);
    case FL_PARAM_REAL:
        if (!param_read_real(text, length, &ret->real))
            return false;
        number = ret->real;
        break;
    }
    return (row->least == 0 && row->most == 0) || (number >= row->least && number <= row->most);
}

static const char *param_type_text(fl_param_type type)
{
    static const char *const texts[] = {"a size", "a count", "true or false", "a number"};
    return texts[type];
}

static fl_status param_one(const fl_param *rows, const char *item, size_t length,
                           fl_param_value *values, fl_error *error)
{
    const char *equals = memchr(item, '=', length);
    size_t key_length = equals != NULL ? (size_t)(equals - item) : length;
    for (size_t i = 0; rows != NULL && rows[i].key != NULL; i++) {
        if (strlen(rows[i].key) != key_length || memcmp(rows[i].key, item, key_length) != 0)
            continue;
        size_t value_length = equals != NULL ? length - key_length - 1 : 0;
        if (equals == NULL || !param_read(&rows[i], equals + 1, value_length, &values[i]))
            return fl_fail(error, FL_ERR_USAGE, "option '%s' expects %s, got '%.*s'", rows[i].key,
                           param_type_text(rows[i].type), (int)value_length,
                           equals != NULL ? equals + 1 : "");
        return FL_OK;
    }
    fl_fail(error, FL_ERR_USAGE, "no option '%.*s'", (int)key_length, item);
    return fl_hint(error, rows != NULL && rows[0].key != NULL ? "the first one is '%s'"
                                                              : "there are no options%s",
                   rows != NULL && rows[0].key != NULL ? rows[0].key : "");
}

fl_status fl_param_parse(const fl_param *rows, const char *text, fl_param_value *ret_values,
                         fl_error *error)
{
    for (size_t i = 0; rows != NULL && rows[i].key != NULL; i++) {
        if (!param_read(&rows[i], rows[i].fallback, strlen(rows[i].fallback), &ret_values[i]))
            return fl_fail(error, FL_ERR_INTERNAL, "default of option '%s' is not valid",
                           rows[i].key);
    }
    while (text != NULL && *text != '\0') {
        size_t length = strcspn(text, ",");
        fl_status status = param_one(rows, text, length, ret_values, error);
        if (status != FL_OK)
            return status;
        text += length;
        if (*text == ',')
            text++;
    }
    return FL_OK;
}
