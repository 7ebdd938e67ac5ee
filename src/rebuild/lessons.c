/* Free blocks are hardly of just one size by chance, so where a request took the other of two that
 * are, it was their order.  A tail that makes one of them smaller would explain it as well, and
 * comes second. */
#include "rebuild/lessons.h"

#include "rebuild/collected.h"

void fl_lessons_deinit(const fl_host *host, fl_lessons *lessons)
{
    fl_vector_deinit(host, &lessons->ages);
    fl_vector_deinit(host, &lessons->tails);
    *lessons = (fl_lessons){0};
}

fl_status fl_lesson_judge(const fl_miss *miss, const fl_trace *trace, size_t device,
                          const fl_replay *replay, fl_lesson *ret_lesson, fl_error *error)
{
    fl_lesson lesson = {.excuse = FL_EXCUSE_NONE};
    bool is_order = false;
    fl_status status = fl_ages_judge(miss, trace, device, replay, &is_order, &lesson.ages, error);
    if (status == FL_OK && !is_order)
        status = fl_tails_judge(miss, trace, device, replay, &lesson.tail, error);
    if (status != FL_OK)
        return status;
    if (lesson.tail.bytes > 0)
        lesson.excuse = FL_EXCUSE_OPEN_TAIL;
    else if (is_order)
        lesson.excuse = FL_EXCUSE_OLD_ORDER;
    else if (fl_collected_judge(miss, trace, device, replay))
        lesson.excuse = FL_EXCUSE_OLD_AGE;
    *ret_lesson = lesson;
    return FL_OK;
}

fl_status fl_lessons_learn(const fl_host *host, fl_lessons *lessons, const fl_lesson *lesson,
                           bool *ret_is_new, fl_error *error)
{
    *ret_is_new = false;
    if (lessons->left == 0 || (lesson->tail.bytes == 0 && lesson->ages.count == 0))
        return FL_OK;
    lessons->left--;
    *ret_is_new = lesson->tail.bytes > 0;
    if (lesson->tail.bytes > 0)
        return fl_tails_learn(host, &lessons->tails, &lesson->tail, error);
    fl_status status = FL_OK;
    for (size_t i = 0; i < lesson->ages.count && status == FL_OK; i++)
        status = fl_ages_learn(host, &lessons->ages, &lesson->ages.pairs[i], ret_is_new, error);
    return status;
}

static fl_status copy_numbers(const fl_host *host, const struct fl_u64_vector *from,
                              struct fl_u64_vector *to, fl_error *error)
{
    to->count = 0;
    if (!fl_vector_reserve(host, to, from->count, error))
        return FL_ERR_RESOURCE;
    for (size_t i = 0; i < from->count; i++)
        to->items[to->count++] = from->items[i];
    return FL_OK;
}

fl_status fl_lessons_copy(const fl_host *host, const fl_lessons *from, fl_lessons *to,
                          fl_error *error)
{
    fl_status status = copy_numbers(host, &from->ages, &to->ages, error);
    return status == FL_OK ? copy_numbers(host, &from->tails, &to->tails, error) : status;
}

fl_status fl_lessons_tell(const fl_host *host, const fl_lessons *lessons, fl_trace_start *start,
                          fl_error *error)
{
    fl_status status = copy_numbers(host, &lessons->ages, &start->ages, error);
    return status == FL_OK ? copy_numbers(host, &lessons->tails, &start->tails, error) : status;
}
