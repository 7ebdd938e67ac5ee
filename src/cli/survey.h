/* What is in one device's events, counted without replaying them. */
#ifndef FL_CLI_SURVEY_H
#define FL_CLI_SURVEY_H

#include <fraglab/trace.h>

/* Live memory with one stack, at one moment. */
typedef struct fl_holder {
    uint32_t stack; /* FL_NONE: no stack was recorded */
    uint64_t bytes, blocks;
} fl_holder;

/* Who is live at one moment, by the recorded sizes, the largest holder first. */
typedef struct fl_live {
    uint64_t event; /* live after this event; the number of events: at the end of the file */
    uint64_t bytes, blocks;
    fl_holder *holders;
    size_t holder_count, holder_room;
} fl_live;

typedef struct fl_survey {
    uint64_t events;
    uint64_t kinds[FL_EVENT_KIND_END]; /* events by kind; refused requests are not among ALLOC */
    uint64_t refused;
    size_t stream_count, pool_count; /* that the events name */
    bool has_stacks, has_times;
    int64_t first_us, last_us;
    bool is_complete, has_final_state, is_state_newer;
    size_t segment_count; /* of the final state, as are the next two */
    uint64_t reserved_bytes;
    uint64_t block_counts[3];             /* by fl_block_state */
    uint64_t before_bytes, before_blocks; /* live before the first event, as far as it shows */
    uint64_t kept_bytes;                  /* of these, live to the end */
    fl_live peak, end;
} fl_survey;

/* Takes memory for the time of the call and for the holders: some bytes an allocation of the
 * trace.  On success the caller ends *ret_survey with fl_survey_deinit; FL_ERR_RESOURCE. */
fl_status fl_survey_trace(const fl_host *host, const fl_trace *trace, size_t device,
                          fl_survey *ret_survey, fl_error *error);
void fl_survey_deinit(const fl_host *host, fl_survey *survey);

/* How a kind of event is called: "alloc", "segment_map". */
const char *fl_survey_kind_name(size_t kind);

#endif
