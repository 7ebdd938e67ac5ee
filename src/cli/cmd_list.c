/* list WHAT: what this build has, each kind as one table. */
#include "analysis/observed.h"
#include "cli/envelope.h"
#include "cli/gpus.h"

#include <fraglab/device.h>
#include <fraglab/policy.h>
#include <fraglab/read.h>
#include <fraglab/suggest.h>
#include <fraglab/write.h>

#include <string.h>

static const fl_emit_column named_columns[] = {
    {"name", "name", FL_EMIT_TEXT},
    {"summary", "summary", FL_EMIT_TEXT},
};

static void named_row(fl_emit *emit, const char *name, const char *summary)
{
    const fl_emit_value cells[] = {fl_emit_text(name), fl_emit_text(summary)};
    fl_emit_row(emit, cells);
}

/* A plugin's row, and in text its parameters below it. */
static const fl_emit_column plugin_columns[] = {
    {"name", "name", FL_EMIT_TEXT},
    {"parameter", "parameter", FL_EMIT_TEXT},
    {"default", "default", FL_EMIT_TEXT},
    {"summary", "summary", FL_EMIT_TEXT},
};

static void plugin_rows(fl_emit *emit, const char *name, const char *summary,
                        const fl_param *params)
{
    const fl_emit_value cells[] = {fl_emit_text(name), fl_emit_null(), fl_emit_null(),
                                   fl_emit_text(summary)};
    fl_emit_row(emit, cells);
    for (size_t i = 0; i < fl_param_count(params); i++) {
        const fl_emit_value row[] = {fl_emit_text(name), fl_emit_text(params[i].key),
                                     fl_emit_text(params[i].fallback),
                                     fl_emit_text(params[i].help)};
        fl_emit_row(emit, row);
    }
}

static void list_policies(fl_emit *emit)
{
    const fl_policy_ops *policy;
    for (size_t i = 0; (policy = fl_policy_at(i)) != NULL; i++)
        plugin_rows(emit, policy->name, policy->summary, policy->params);
}

static void list_devices(fl_emit *emit)
{
    const fl_device_ops *device;
    for (size_t i = 0; (device = fl_device_at(i)) != NULL; i++)
        plugin_rows(emit, device->name, device->summary, device->params);
}

static void list_observers(fl_emit *emit)
{
    for (size_t i = 0; fl_observed_name(i) != NULL; i++)
        named_row(emit, fl_observed_name(i), fl_observed_summary(i));
}

static const fl_emit_column format_columns[] = {
    {"name", "name", FL_EMIT_TEXT},
    {"direction", "direction", FL_EMIT_TEXT},
    {"summary", "summary", FL_EMIT_TEXT},
};

static void list_formats(fl_emit *emit)
{
    const char *name, *summary;
    for (size_t i = 0; fl_reader_at(i, &name, &summary); i++) {
        const fl_emit_value cells[] = {fl_emit_text(name),
                                       fl_emit_text(fl_format_is_written(name) ? "both" : "input"),
                                       fl_emit_text(summary)};
        fl_emit_row(emit, cells);
    }
    for (size_t i = 0; fl_emit_at(i) != NULL; i++) {
        const fl_emit_value cells[] = {fl_emit_text(fl_emit_name(fl_emit_at(i))),
                                       fl_emit_text("output"),
                                       fl_emit_text(fl_emit_summary(fl_emit_at(i)))};
        fl_emit_row(emit, cells);
    }
}

static const fl_emit_column release_columns[] = {
    {"release", "release", FL_EMIT_TEXT},
};

static void list_releases(fl_emit *emit)
{
    const fl_profile *profile;
    for (size_t i = 0; (profile = fl_profile_at(i)) != NULL; i++) {
        const fl_emit_value cells[] = {fl_emit_text(fl_profile_release(profile))};
        fl_emit_row(emit, cells);
    }
}

static const fl_emit_column gpu_columns[] = {
    {"name", "name", FL_EMIT_TEXT},
    {"sold_as_gb", "sold as GB", FL_EMIT_COUNT},
    {"total_bytes", "total in bytes", FL_EMIT_COUNT},
    {"known_to_bytes", "uncertain by", FL_EMIT_BYTES},
    {"context_bytes", "less context", FL_EMIT_BYTES},
    {"left", "left", FL_EMIT_BYTES}, /* for people */
};

static void list_gpus(fl_emit *emit)
{
    const fl_gpu *gpu;
    for (size_t i = 0; (gpu = fl_gpu_at(i)) != NULL; i++) {
        const fl_emit_value cells[] = {
            fl_emit_text(gpu->name),
            fl_emit_count(gpu->sold_as_gb),
            fl_emit_count(gpu->total_bytes),
            fl_emit_bytes(gpu->known_to),
            fl_emit_bytes(FL_GPU_CONTEXT_BYTES),
            fl_emit_bytes(gpu->total_bytes - FL_GPU_CONTEXT_BYTES),
        };
        fl_emit_row(emit, cells);
    }
}

static void list_commands(fl_emit *emit)
{
    const fl_command *command;
    for (size_t i = 0; (command = fl_command_at(i)) != NULL; i++)
        named_row(emit, command->name, command->summary);
}

#define COLUMNS(columns) columns, sizeof columns / sizeof *columns

static const struct listing {
    const char *what;
    const fl_emit_column *columns;
    size_t column_count;
    size_t for_people; /* so many columns, the last ones, are for people only */
    void (*rows)(fl_emit *emit);
} listings[] = {
    {"policies", COLUMNS(plugin_columns), 0, list_policies},
    {"devices", COLUMNS(plugin_columns), 0, list_devices},
    {"formats", COLUMNS(format_columns), 0, list_formats},
    {"observers", COLUMNS(named_columns), 0, list_observers},
    {"releases", COLUMNS(release_columns), 0, list_releases},
    {"gpus", COLUMNS(gpu_columns), 1, list_gpus},
    {"commands", COLUMNS(named_columns), 0, list_commands},
};

enum { LISTING_COUNT = sizeof listings / sizeof *listings };

static fl_status fail_unknown(const char *what, fl_error *error)
{
    const char *names[LISTING_COUNT + 1] = {NULL};
    for (size_t i = 0; i < LISTING_COUNT; i++)
        names[i] = listings[i].what;
    fl_fail(error, FL_ERR_USAGE, "list: there are no '%s' to list", what);
    fl_suggest(names, what, "", error);
    return fl_hint(error, "policies, devices, formats, observers, releases, gpus or commands");
}

static void emit_listing(fl_emit *emit, const struct listing *listing, size_t column_count)
{
    fl_emit_table_begin(emit, listing->what, NULL, listing->columns, column_count);
    listing->rows(emit);
    fl_emit_table_end(emit);
}

static fl_status list_run(fl_session *session, fl_error *error)
{
    const char *what = session->options.words[0];
    for (size_t i = 0; i < LISTING_COUNT; i++) {
        const struct listing *listing = &listings[i];
        if (strcmp(listing->what, what) != 0)
            continue;
        fl_envelope_begin(session);
        fl_envelope_end(session);
        fl_emit_for(session->emit, FL_EMIT_FOR_PEOPLE);
        emit_listing(session->emit, listing, listing->column_count);
        fl_emit_for(session->emit, FL_EMIT_FOR_PROGRAMS | FL_EMIT_FOR_TABLES);
        emit_listing(session->emit, listing, listing->column_count - listing->for_people);
        return FL_OK;
    }
    return fail_unknown(what, error);
}

static const fl_option_group *const groups[] = {&fl_options_common, NULL};

const fl_command fl_command_list = {
    .name = "list",
    .summary = "what there is: policies, devices, formats, releases, gpus, and more",
    .synopsis = "list [options] WHAT",
    .help = "Shows one kind of thing that this build has.  WHAT is one of\n"
            "  policies   allocators, with their parameters\n"
            "  devices    where segments come from\n"
            "  formats    what is read and written\n"
            "  observers  what `fraglab plot` watches, each with its table\n"
            "  releases   releases of PyTorch that can be replayed\n"
            "  gpus       cards for --gpu; `less context` is the default of --context\n"
            "  commands   commands of fraglab",
    .groups = groups,
    .word = "WHAT",
    .word_key = "what",
    .run = list_run,
};
