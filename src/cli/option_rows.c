/* Every option of every command. */
#include "cli/option.h"

#include <stddef.h>

#define SETS(field) offsetof(fl_options, field)
#define END_OF_ROWS                                                                                \
    {                                                                                              \
        NULL, 0, FL_OPTION_FLAG, 0, NULL, NULL, NULL                                               \
    }

static const char *const format_words[] = {"text", "json", "csv", NULL};
static const char *const color_words[] = {"auto", "always", "never", NULL};
static const char *const image_words[] = {"svg", "png", NULL};
static const char *const start_words[] = {"recorded", "fresh", NULL};
static const char *const on_oom_words[] = {"stop", "skip", NULL};

/* clang-format off */
static const fl_option common_rows[] = {
    {"format", 0, FL_OPTION_WORD, SETS(format), "text|json|csv",
     "how the result is written (text)", format_words},
    {"output", 'o', FL_OPTION_TEXT, SETS(output), "FILE",
     "write the result there, whole or not at all", NULL},
    {"quiet", 'q', FL_OPTION_FLAG, SETS(is_quiet), NULL,
     "no warnings and no progress on standard error", NULL},
    {"color", 0, FL_OPTION_WORD, SETS(color), "auto|always|never",
     "colour in text; auto: on a terminal, unless NO_COLOR is set", color_words},
    {"help", 'h', FL_OPTION_FLAG, SETS(wants_help), NULL, "show this and end", NULL},
    {"version", 0, FL_OPTION_FLAG, SETS(wants_version), NULL, "show the version and end", NULL},
    {"fake-terminal", 0, FL_OPTION_FLAG, SETS(fakes_terminal), NULL, NULL, NULL},
    {"fake-clock", 0, FL_OPTION_COUNT, SETS(fake_clock_ms), "MS", NULL, NULL},
    END_OF_ROWS,
};

static const fl_option input_rows[] = {
    {"from", 0, FL_OPTION_TEXT, SETS(from), "FORMAT",
     "the file's format, instead of finding it from the content; see `fraglab list formats`", NULL},
    {"partial", 0, FL_OPTION_FLAG, SETS(accepts_cut), NULL,
     "a file cut off: take the whole events before the cut", NULL},
    END_OF_ROWS,
};

#define TRACE_DEVICE_ROW(text)                                                                     \
    {"trace-device", 0, FL_OPTION_COUNT, SETS(trace_device), "N", text, NULL}
#define JOBS_ROW                                                                                   \
    {"jobs", 0, FL_OPTION_POSITIVE, SETS(jobs), "N",                                                  \
     "worker threads where there is work to share (all cores)", NULL}

static const fl_option allocator_rows[] = {
    {"torch", 0, FL_OPTION_TEXT, SETS(torch), "VERSION",
     "behave like this PyTorch release (what the file's marks say, else the newest known)", NULL},
    {"conf", 0, FL_OPTION_TEXT, SETS(conf), "TEXT",
     "settings as in PYTORCH_CUDA_ALLOC_CONF (the file's own, else none)", NULL},
    {"gpu", 0, FL_OPTION_TEXT, SETS(gpu), "SIZE",
     "device memory that this process can get: 24GiB or 24G, 80GB (decimal), bytes, or a name from "
     "`fraglab list gpus` (what the file tells, else no limit)", NULL},
    {"context", 0, FL_OPTION_SIZE, SETS(context_bytes), "SIZE",
     "with a named card: what the process uses of it beside the allocator; the default stands in "
     "`fraglab list gpus`", NULL},
    {"fraction", 0, FL_OPTION_SHARE, SETS(fraction), "X",
     "set_per_process_memory_fraction (none)", NULL},
    {"policy", 0, FL_OPTION_TEXT, SETS(policy), "NAME[:key=value,...]",
     "another allocator than PyTorch's; see `fraglab list policies`", NULL},
    TRACE_DEVICE_ROW("which device's events (the only one with events, else the one with most)"),
    {"backing", 0, FL_OPTION_TEXT, SETS(backing), "sim|cuda[:N]",
     "where segments come from (sim); cuda: not in this build", NULL},
    {"range", 0, FL_OPTION_TEXT, SETS(range), "A:B",
     "only these events, half open: numbers, or seconds since the first one (12.5s:14s); without A "
     "from the first, without B to the last; what was there before A is kept", NULL},
    {"start", 0, FL_OPTION_WORD, SETS(start), "recorded|fresh",
     "where a window is cut, blocks from before: where they were, or allocated anew (where they "
     "were, if release and settings are the recorded ones)", start_words},
    {"on-oom", 0, FL_OPTION_WORD, SETS(on_oom), "stop|skip", "after a refusal (stop)", on_oom_words},
    JOBS_ROW,
    END_OF_ROWS,
};

static const fl_option convert_rows[] = {
    {"to", 0, FL_OPTION_TEXT, SETS(to), "FORMAT",
     "the format of the result: script, flt or json; see `fraglab list formats`", NULL},
    {"torch", 0, FL_OPTION_TEXT, SETS(torch), "VERSION",
     "the PyTorch release by which a history is understood to become a script (what the file's "
     "marks say, else the newest known)", NULL},
    {"gpu", 0, FL_OPTION_TEXT, SETS(gpu), "SIZE",
     "device memory, where the file does not tell it: as for `fraglab replay`", NULL},
    END_OF_ROWS,
};

static const fl_option diagnose_rows[] = {
    {"fail-on", 0, FL_OPTION_TEXT, SETS(fail_on), "VERDICT[,VERDICT...]",
     "end with 1 if a file has one of these verdicts: fits, full, outside, limit, fragmentation, "
     "streams, private-pools, pending-frees, leak, inconsistent, unknown", NULL},
    {"top", 0, FL_OPTION_COUNT, SETS(top), "N",
     "so many pins, and so many rows of who is live (10)", NULL},
    {"frames", 0, FL_OPTION_POSITIVE, SETS(frames), "N",
     "so many frames of each stack in text: the innermost, then those outside of PyTorch (4)", NULL},
    END_OF_ROWS,
};

static const fl_option info_rows[] = {
    TRACE_DEVICE_ROW("only this device (all)"),
    {"top", 0, FL_OPTION_COUNT, SETS(top), "N", "so many stacks of what is live (10)", NULL},
    {"frames", 0, FL_OPTION_POSITIVE, SETS(frames), "N",
     "so many frames of each stack in text: the innermost, then those outside of PyTorch (4)", NULL},
    END_OF_ROWS,
};

static const fl_option plot_rows[] = {
    {"output-dir", 0, FL_OPTION_TEXT, SETS(output_dir), "DIR",
     "where figures, tables and scripts go; made if it is not there", NULL},
    {"image", 0, FL_OPTION_WORD, SETS(image), "svg|png", "the kind of image (svg)", image_words},
    {"rows", 0, FL_OPTION_POSITIVE, SETS(rows), "N",
     "at most so many rows in a table over time (1000)", NULL},
    END_OF_ROWS,
};

static const fl_option replay_rows[] = {
    {"decisions", 0, FL_OPTION_FLAG, SETS(wants_decisions), NULL,
     "every decision as a line of text, instead of the summary; docs/output.md tells what a line "
     "means; implies --on-oom skip", NULL},
    {"stats", 0, FL_OPTION_FLAG, SETS(wants_stats), NULL,
     "torch.cuda.memory_stats at the end, as that release names and orders them; implies "
     "--on-oom skip", NULL},
    {"summary", 0, FL_OPTION_FLAG, SETS(wants_summary), NULL,
     "torch.cuda.memory_summary at the end; implies --on-oom skip", NULL},
    {"process", 0, FL_OPTION_PROCESS, SETS(processes), "PID:SIZE",
     "a process that the out-of-memory message tells of; self:SIZE or self (all that is "
     "used of the card) for the own one; may be repeated (none)", NULL},
    {"fail-on-oom", 0, FL_OPTION_FLAG, SETS(fails_on_oom), NULL,
     "end with 1 if a request was refused", NULL},
    END_OF_ROWS,
};

static const fl_option shrink_rows[] = {
    {"while", 0, FL_OPTION_TEXT, SETS(while_command), "COMMAND",
     "keep what this shell command ends with 0 for (the first refusal); a candidate's path is its "
     "$1 and in FRAGLAB_TRACE", NULL},
    {"tries", 0, FL_OPTION_POSITIVE, SETS(most_tries), "N",
     "try at most so many candidates (10000; with --while 1000)", NULL},
    END_OF_ROWS,
};

static const fl_option tune_rows[] = {
    {"prices", 0, FL_OPTION_TEXT, SETS(prices), "FILE",
     "what calls of the driver cost, instead of the defaults in docs/tuning.md", NULL},
    END_OF_ROWS,
};

static const fl_option settings_rows[] = {
    {"torch", 0, FL_OPTION_TEXT, SETS(torch), "VERSION",
     "only this PyTorch release (all that are known); end with 1 unless it accepts", NULL},
    {"env", 0, FL_OPTION_FLAG, SETS(takes_environment), NULL,
     "judge the variables of this environment, instead of TEXT", NULL},
    END_OF_ROWS,
};

static const fl_option verify_rows[] = {
    {"torch", 0, FL_OPTION_TEXT, SETS(torch), "VERSION",
     "compare with this PyTorch release only (all that the file's marks allow)", NULL},
    {"fraction", 0, FL_OPTION_SHARE, SETS(fraction), "X",
     "the memory fraction that the program had set, which no file records; needs --gpu", NULL},
    {"gpu", 0, FL_OPTION_TEXT, SETS(gpu), "SIZE",
     "device memory of the recorded card, of which --fraction is a part", NULL},
    TRACE_DEVICE_ROW("only this device (all with events)"),
    JOBS_ROW,
    {"conf", 0, FL_OPTION_TEXT, SETS(conf), "TEXT", NULL, NULL},
    END_OF_ROWS,
};
/* clang-format on */

const fl_option_group fl_options_common = {"Every command", common_rows};
const fl_option_group fl_options_input = {"Input", input_rows};
const fl_option_group fl_options_allocator = {"The allocator", allocator_rows};
const fl_option_group fl_options_convert = {"The conversion", convert_rows};
const fl_option_group fl_options_diagnose = {"The diagnosis", diagnose_rows};
const fl_option_group fl_options_info = {"What is shown", info_rows};
const fl_option_group fl_options_plot = {"The figures", plot_rows};
const fl_option_group fl_options_replay = {"The result", replay_rows};
const fl_option_group fl_options_settings = {"The judgement", settings_rows};
const fl_option_group fl_options_shrink = {"What stays", shrink_rows};
const fl_option_group fl_options_tune = {"The search", tune_rows};
const fl_option_group fl_options_verify = {"The comparison", verify_rows};
