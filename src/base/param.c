/* Rows of plugin options, and `key=value,key=value` read by them. */
#include <fraglab/param.h>

#include "base/units.h"

#include <stdio.h>
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
    bool is_negative = length > 0 && *text == '-';
    if (!fl_parse_real(text + is_negative, length - is_negative, ret))
        return false;
    *ret = is_negative ? -*ret : *ret;
    return true;
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

static fl_status param_reject_key(const fl_param *rows, const char *key, size_t length,
                                  fl_error *error)
{
    fl_fail(error, FL_ERR_USAGE, "no option '%.*s'", (int)length, key);
    if (fl_param_count(rows) == 0)
        return fl_hint(error, "there are no options"), FL_ERR_USAGE;
    char keys[sizeof error->hint] = "";
    for (size_t i = 0, at = 0; rows[i].key != NULL && at < sizeof keys; i++)
        at += (size_t)snprintf(keys + at, sizeof keys - at, "%s%s", i > 0 ? ", " : "", rows[i].key);
    return fl_hint(error, "the options are: %s", keys), FL_ERR_USAGE;
}

static fl_status param_reject_value(const fl_param *row, const char *text, size_t length,
                                    fl_error *error)
{
    fl_fail(error, FL_ERR_USAGE, "option '%s' expects %s, got '%.*s'", row->key,
            param_type_text(row->type), (int)length, text);
    if (row->least != 0 || row->most != 0)
        fl_hint(error, "from %.15g to %.15g", row->least, row->most);
    return FL_ERR_USAGE;
}

/* One `key=value`; `values` is NULL where it is only judged. */
static fl_status param_one(const fl_param *rows, const char *item, size_t length,
                           fl_param_value *values, fl_error *error)
{
    const char *equals = memchr(item, '=', length);
    size_t key_length = equals != NULL ? (size_t)(equals - item) : length;
    for (size_t i = 0; rows != NULL && rows[i].key != NULL; i++) {
        if (strlen(rows[i].key) != key_length || memcmp(rows[i].key, item, key_length) != 0)
            continue;
        const char *text = equals != NULL ? equals + 1 : item + length;
        size_t text_length = (size_t)(item + length - text);
        fl_param_value value;
        if (!param_read(&rows[i], text, text_length, &value))
            return param_reject_value(&rows[i], text, text_length, error);
        if (values != NULL)
            values[i] = value;
        return FL_OK;
    }
    return param_reject_key(rows, item, key_length, error);
}

static fl_status param_each(const fl_param *rows, const char *text, fl_param_value *values,
                            fl_error *error)
{
    while (text != NULL && *text != '\0') {
        size_t length = strcspn(text, ",");
        fl_status status = param_one(rows, text, length, values, error);
        if (status != FL_OK)
            return status;
        text += length + (text[length] == ',');
    }
    return FL_OK;
}

fl_status fl_param_parse(const fl_param *rows, const char *text, fl_param_value *ret_values,
                         fl_error *error)
{
    fl_status status = param_each(rows, text, NULL, error);
    if (status != FL_OK)
        return status;
    for (size_t i = 0; i < fl_param_count(rows); i++)
        if (!param_read(&rows[i], rows[i].fallback, strlen(rows[i].fallback), &ret_values[i]))
            return fl_fail(error, FL_ERR_INTERNAL, "default of option '%s' is not valid",
                           rows[i].key);
    return param_each(rows, text, ret_values, error);
}
