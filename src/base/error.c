/* Status and error: the first failure wins, callers may only put their context in front. */
#include <fraglab/base.h>

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *const status_texts[] = {
    [FL_OK] = "done",
    [FL_ERR_NO] = "done, and the answer is no",
    [FL_ERR_USAGE] = "not a valid request",
    [FL_ERR_INPUT] = "input unreadable or invalid",
    [FL_ERR_UNAVAILABLE] = "not available here",
    [FL_ERR_OUTPUT] = "output could not be written",
    [FL_ERR_RESOURCE] = "host resources exhausted",
    [FL_ERR_INTERNAL] = "a bug in fraglab",
};

const char *fl_status_text(fl_status status)
{
    if ((size_t)status >= sizeof status_texts / sizeof *status_texts)
        return "unknown status";
    return status_texts[status];
}

const char *fl_version(void)
{
    return FL_VERSION;
}

/* User text is quoted as it came; what would move the cursor or start a line is not. */
static void error_make_plain(char *text)
{
    for (; *text != '\0'; text++)
        if ((unsigned char)*text < ' ' || *text == 0x7f)
            *text = '?';
}

fl_status fl_fail(fl_error *error, fl_status status, const char *format, ...)
{
    if (error == NULL || error->status != FL_OK)
        return status;
    error->status = status;
    va_list args;
    va_start(args, format);
    vsnprintf(error->text, sizeof error->text, format, args);
    va_end(args);
    error_make_plain(error->text);
    return status;
}

fl_status fl_hint(fl_error *error, const char *format, ...)
{
    if (error == NULL)
        return FL_OK;
    if (error->status != FL_OK && error->hint[0] == '\0') {
        va_list args;
        va_start(args, format);
        vsnprintf(error->hint, sizeof error->hint, format, args);
        va_end(args);
        error_make_plain(error->hint);
    }
    return error->status;
}

fl_status fl_pass_on(const fl_error *failure, fl_error *error)
{
    fl_fail(error, failure->status, "%s", failure->text);
    if (failure->hint[0] != '\0')
        fl_hint(error, "%s", failure->hint);
    return failure->status;
}

fl_status fl_prefix(fl_error *error, const char *format, ...)
{
    if (error == NULL || error->status == FL_OK)
        return FL_OK;
    char context[sizeof error->text];
    va_list args;
    va_start(args, format);
    vsnprintf(context, sizeof context - 2, format, args);
    va_end(args);
    error_make_plain(context);
    size_t length = strlen(context);
    memcpy(context + length, ": ", 3);
    length += 2;
    size_t room = sizeof error->text - 1 - length;
    size_t kept = strlen(error->text) < room ? strlen(error->text) : room;
    memmove(error->text + length, error->text, kept);
    memcpy(error->text, context, length);
    error->text[length + kept] = '\0';
    return error->status;
}
