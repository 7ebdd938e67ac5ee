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

fl_status fl_fail(fl_error *error, fl_status status, const char *format, ...)
{
    if (error == NULL || error->status != FL_OK)
        return status;
    error->status = status;
    va_list args;
    va_start(args, format);
    vsnprintf(error->text, sizeof error->text, format, args);
    va_end(args);
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
    }
    return error->status;
}

fl_status fl_prefix(fl_error *error, const char *format, ...)
{
    if (error == NULL)
        return FL_OK;
    if (error->status == FL_OK)
        return FL_OK;
    char context[sizeof error->text];
    va_list args;
    va_start(args, format);
    vsnprintf(context, sizeof context - 2, format, args);
    va_end(args);
    strcat(context, ": ");
    size_t room = sizeof error->text - 1 - strlen(context);
    size_t kept = strlen(error->text) < room ? strlen(error->text) : room;
    memmove(error->text + strlen(context), error->text, kept);
    memcpy(error->text, context, strlen(context));
    error->text[strlen(context) + kept] = '\0';
    return error->status;
}
