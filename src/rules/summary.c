/* The table of torch.cuda.memory_summary (14).  Every cell of a column takes the unit of the
 * column's "all" row. */
#include <fraglab/stats.h>

#include "rules/text.h"

#define WIDTH 75

static void summary_rule(fl_text *text, char line)
{
    char rule[WIDTH + 3];
    rule[0] = rule[WIDTH + 1] = '|';
    rule[WIDTH + 2] = '\n';
    for (size_t i = 1; i <= WIDTH; i++)
        rule[i] = line;
    fl_text_add(text, rule, sizeof rule);
}

/* Bytes go up a unit from 768 Ki of it on; the comparison is Python's, of doubles. */
static void summary_bytes(fl_text *text, uint64_t value, uint64_t preferred)
{
    static const char *const units[] = {"B  ", "KiB", "MiB", "GiB", "TiB", "PiB"};
    size_t unit = 0;
    for (double scaled = (double)preferred; unit < 5 && scaled >= 768 * 1024; scaled /= 1024) {
        value /= 1024;
        unit++;
    }
    fl_text_print(text, " %6llu %s |", (unsigned long long)value, units[unit]);
}

static void summary_count(fl_text *text, uint64_t value, uint64_t preferred)
{
    static const char units[] = " KM";
    size_t unit = 0;
    for (double scaled = (double)preferred; unit < 2 && scaled >= 750 * 1000; scaled /= 1000) {
        value /= 1000;
        unit++;
    }
    fl_text_print(text, " %7llu %c  |", (unsigned long long)value, units[unit]);
}

typedef void summary_cell(fl_text *text, uint64_t value, uint64_t preferred);

static void summary_row(fl_text *text, const char *name, const fl_stat *stat,
                        const fl_stat *preferred, summary_cell *cell)
{
    fl_text_print(text, "| %-21s |", name);
    cell(text, stat->current, preferred->current);
    cell(text, stat->peak, preferred->peak);
    cell(text, stat->allocated, preferred->allocated);
    cell(text, stat->freed, preferred->freed);
    fl_text_add(text, "\n", 1);
}

/* A metric: its total, and from which pool. */
static void summary_metric(fl_text *text, const char *name, const fl_stat groups[FL_STAT_GROUPS],
                           summary_cell *cell)
{
    const fl_stat *all = &groups[FL_STAT_ALL];
    summary_rule(text, '-');
    summary_row(text, name, all, all, cell);
    summary_row(text, "      from large pool", &groups[FL_STAT_LARGE], all, cell);
    summary_row(text, "      from small pool", &groups[FL_STAT_SMALL], all, cell);
}

static void summary_single(fl_text *text, const char *name, const fl_stat *stat)
{
    summary_rule(text, '-');
    summary_row(text, name, stat, stat, summary_count);
}

static const struct {
    const char *name;
    fl_stat_kind kind;
    summary_cell *cell;
} metrics[] = {
    {"Allocated memory", FL_STAT_ALLOCATED_BYTES, summary_bytes},
    {"Active memory", FL_STAT_ACTIVE_BYTES, summary_bytes},
    {"Requested memory", FL_STAT_REQUESTED_BYTES, summary_bytes},
    {"GPU reserved memory", FL_STAT_RESERVED_BYTES, summary_bytes},
    {"Non-releasable memory", FL_STAT_INACTIVE_SPLIT_BYTES, summary_bytes},
    {"Allocations", FL_STAT_ALLOCATION, summary_count},
    {"Active allocs", FL_STAT_ACTIVE, summary_count},
    {"GPU reserved segments", FL_STAT_SEGMENT, summary_count},
    {"Non-releasable allocs", FL_STAT_INACTIVE_SPLIT, summary_count},
};

size_t fl_stats_summary(const fl_stats *stats, unsigned device, char *buffer, size_t size)
{
    fl_text text = fl_text_open(buffer, size);
    summary_rule(&text, '=');
    fl_text_print(&text, "| %16s PyTorch CUDA memory summary, device ID %-17u |\n", "", device);
    summary_rule(&text, '-');
    fl_text_print(&text, "|  %9s CUDA OOMs: %-12llu | %6s cudaMalloc retries: %-8llu  |\n", "",
                  (unsigned long long)stats->ooms, "", (unsigned long long)stats->alloc_retries);
    summary_rule(&text, '=');
    fl_text_print(
        &text, "|        Metric         | Cur Usage  | Peak Usage | Tot Alloc  | Tot Freed  |\n");
    for (size_t i = 0; i < sizeof metrics / sizeof *metrics; i++)
        summary_metric(&text, metrics[i].name, stats->stat[metrics[i].kind], metrics[i].cell);
    summary_single(&text, "Oversize allocations", &stats->oversize_allocations);
    summary_single(&text, "Oversize GPU segments", &stats->oversize_segments);
    summary_rule(&text, '=');
    return text.length;
}
