#include "heap/mirror.h"

#include "failing_host.h"
#include "test.h"

#include <stdio.h>
#include <string.h>

/* One change in a line: kind, segment, address, size, and for blocks the id and bytes asked. */
struct step {
    fl_change_kind kind;
    uint32_t segment;
    uint64_t address, size;
    uint32_t id;
    uint64_t requested;
};

static fl_change change_of(const struct step *step)
{
    return (fl_change){
        .kind = (uint8_t)step->kind,
        .flags = step->kind == FL_CHANGE_RESERVE ? FL_CHANGE_EXPANDABLE | FL_CHANGE_SMALL : 0,
        .id = step->id,
        .segment = step->segment,
        .stream = step->segment + 10,
        .pool = step->segment + 20,
        .address = step->address,
        .size = step->size,
        .requested = step->requested,
    };
}

static fl_status apply_all(fl_mirror *mirror, const struct step *steps, size_t count,
                           fl_error *error)
{
    for (size_t i = 0; i < count; i++) {
        fl_change change = change_of(&steps[i]);
        fl_status status = fl_mirror_apply(mirror, &change, error);
        if (status != FL_OK)
            return status;
    }
    return FL_OK;
}

/* Steps that must all fit. */
static void apply(fl_mirror *mirror, const struct step *steps, size_t count)
{
    fl_error error = {0};
    if (apply_all(mirror, steps, count, &error) != FL_OK ||
        fl_mirror_check(mirror, &error) != FL_OK)
        fail_msg("%s", error.text);
}

/* One step that must not. */
static void refuse(fl_mirror *mirror, struct step step, const char *because)
{
    fl_error error = {0};
    fl_totals before = mirror->totals;
    fl_change change = change_of(&step);
    assert_int_equal(fl_mirror_apply(mirror, &change, &error), FL_ERR_INTERNAL);
    if (strstr(error.text, because) == NULL)
        fail_msg("'%s' does not say '%s'", error.text, because);
    assert_memory_equal(&before, &mirror->totals, sizeof before);
    assert_int_equal(fl_mirror_check(mirror, NULL), FL_OK);
}

struct text {
    char buffer[1000];
    size_t length;
};

static void text_segment(void *user, const fl_segment_view *view)
{
    struct text *text = user;
    text->length += (size_t)snprintf(
        text->buffer + text->length, sizeof text->buffer - text->length, "%s%u:%u+%u ",
        text->length > 0 ? "| " : "", view->segment, (unsigned)view->address, (unsigned)view->size);
}

static void text_block(void *user, const fl_block_view *view)
{
    struct text *text = user;
    static const char states[] = "LP.";
    text->length +=
        (size_t)snprintf(text->buffer + text->length, sizeof text->buffer - text->length, "%c%u ",
                         states[view->state], (unsigned)view->size);
}

/* The heap as one line: `segment:address+size` and its blocks (L live, P pending, . free). */
static const char *drawn(const fl_mirror *mirror)
{
    static struct text text;
    text = (struct text){.length = 0};
    fl_walk walk = {text_segment, text_block, &text};
    assert_int_equal(fl_mirror_walk(mirror, &walk, NULL), FL_OK);
    if (text.length > 0)
        text.buffer[text.length - 1] = '\0';
    return text.buffer;
}

static void gaps_are_what_the_blocks_leave(void **state)
{
    (void)state;
    static const struct step steps[] = {
        {FL_CHANGE_ACQUIRE, 0, 1000, 100, 0, 0}, {FL_CHANGE_ACQUIRE, 1, 500, 50, 0, 0},
        {FL_CHANGE_PLACE, 0, 1010, 20, 0, 15},   {FL_CHANGE_PLACE, 0, 1030, 30, 1, 30},
        {FL_CHANGE_PLACE, 1, 500, 50, 2, 49},    {FL_CHANGE_FREE_ASKED, 0, 1030, 30, 1, 30},
    };
    fl_mirror mirror;
    fl_mirror_init(&mirror, fl_host_default());
    assert_string_equal(drawn(&mirror), "");
    apply(&mirror, steps, COUNT_OF(steps));
    assert_string_equal(drawn(&mirror), "1:500+50 L50 | 0:1000+100 .10 L20 P30 .40");
    fl_mirror_deinit(&mirror);
}

static void totals_follow_each_change(void **state)
{
    (void)state;
    static const struct step steps[] = {
        {FL_CHANGE_ACQUIRE, 0, 1000, 100, 0, 0},    {FL_CHANGE_PLACE, 0, 1000, 40, 7, 33},
        {FL_CHANGE_FREE_ASKED, 0, 1000, 40, 7, 33}, {FL_CHANGE_FREE_DONE, 0, 1000, 40, 7, 33},
        {FL_CHANGE_RELEASE, 0, 1000, 100, 0, 0},
    };
    static const fl_totals totals[] = {
        {0, 0, 0, 100}, {33, 40, 40, 100}, {33, 0, 40, 100}, {0, 0, 0, 100}, {0, 0, 0, 0}};
    fl_mirror mirror;
    fl_mirror_init(&mirror, fl_host_default());
    for (size_t i = 0; i < COUNT_OF(steps); i++) {
        apply(&mirror, &steps[i], 1);
        assert_memory_equal(&mirror.totals, &totals[i], sizeof totals[i]);
    }
    fl_mirror_deinit(&mirror);
}

static void a_freed_number_can_be_placed_again(void **state)
{
    (void)state;
    static const struct step steps[] = {
        {FL_CHANGE_ACQUIRE, 0, 1000, 100, 0, 0},   {FL_CHANGE_PLACE, 0, 1000, 10, 3, 10},
        {FL_CHANGE_PLACE, 0, 1010, 10, 1, 10},     {FL_CHANGE_FREE_ASKED, 0, 1000, 10, 3, 10},
        {FL_CHANGE_FREE_DONE, 0, 1000, 10, 3, 10}, {FL_CHANGE_FREE_ASKED, 0, 1010, 10, 1, 10},
        {FL_CHANGE_PLACE, 0, 1050, 10, 3, 10},     {FL_CHANGE_FREE_DONE, 0, 1010, 10, 1, 10},
    };
    fl_mirror mirror;
    fl_mirror_init(&mirror, fl_host_default());
    apply(&mirror, steps, COUNT_OF(steps));
    assert_string_equal(drawn(&mirror), "0:1000+100 .50 L10 .40");
    fl_mirror_deinit(&mirror);
}

static void mapped_runs_join_and_part(void **state)
{
    (void)state;
    fl_mirror mirror;
    fl_mirror_init(&mirror, fl_host_default());
    static const struct {
        struct step step;
        const char *drawn;
    } cases[] = {
        {{FL_CHANGE_RESERVE, 0, 1000, 500, 0, 0}, ""},
        {{FL_CHANGE_MAP, 0, 1100, 20, 0, 20}, "0:1100+20 .20"},
        {{FL_CHANGE_MAP, 0, 1140, 20, 0, 20}, "0:1100+20 .20 | 0:1140+20 .20"},
        {{FL_CHANGE_MAP, 0, 1120, 20, 0, 20}, "0:1100+60 .60"},
        {{FL_CHANGE_MAP, 0, 1080, 20, 0, 20}, "0:1080+80 .80"},
        {{FL_CHANGE_PLACE, 0, 1110, 20, 0, 20}, "0:1080+80 .30 L20 .30"},
        {{FL_CHANGE_UNMAP, 0, 1080, 20, 0, 20}, "0:1100+60 .10 L20 .30"},
        {{FL_CHANGE_UNMAP, 0, 1140, 10, 0, 20}, "0:1100+40 .10 L20 .10 | 0:1150+10 .10"},
        {{FL_CHANGE_FREE_ASKED, 0, 1110, 20, 0, 20}, "0:1100+40 .10 P20 .10 | 0:1150+10 .10"},
        {{FL_CHANGE_FREE_DONE, 0, 1110, 20, 0, 20}, "0:1100+40 .40 | 0:1150+10 .10"},
        {{FL_CHANGE_UNMAP, 0, 1150, 10, 0, 10}, "0:1100+40 .40"},
        {{FL_CHANGE_UNMAP, 0, 1120, 20, 0, 20}, "0:1100+20 .20"},
        {{FL_CHANGE_UNMAP, 0, 1100, 20, 0, 20}, ""},
        {{FL_CHANGE_UNRESERVE, 0, 1000, 500, 0, 0}, ""},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        apply(&mirror, &cases[i].step, 1);
        assert_string_equal(drawn(&mirror), cases[i].drawn);
    }
    fl_mirror_deinit(&mirror);
}

static void segments_that_touch_stay_two(void **state)
{
    (void)state;
    static const struct step steps[] = {
        {FL_CHANGE_ACQUIRE, 0, 1000, 100, 0, 0}, {FL_CHANGE_ACQUIRE, 1, 1100, 100, 0, 0},
        {FL_CHANGE_RESERVE, 2, 1200, 100, 0, 0}, {FL_CHANGE_MAP, 2, 1200, 20, 0, 20},
        {FL_CHANGE_ACQUIRE, 3, 1220, 10, 0, 0},
    };
    fl_mirror mirror;
    fl_mirror_init(&mirror, fl_host_default());
    apply(&mirror, steps, COUNT_OF(steps));
    assert_string_equal(drawn(&mirror),
                        "0:1000+100 .100 | 1:1100+100 .100 | 2:1200+20 .20 | 3:1220+10 .10");
    fl_mirror_deinit(&mirror);
}

static void changes_that_do_not_fit_are_told_and_change_nothing(void **state)
{
    (void)state;
    static const struct step steps[] = {
        {FL_CHANGE_ACQUIRE, 0, 1000, 100, 0, 0},
        {FL_CHANGE_PLACE, 0, 1000, 20, 0, 20},
        {FL_CHANGE_RESERVE, 1, 2000, 100, 0, 0},
        {FL_CHANGE_MAP, 1, 2000, 40, 0, 20},
    };
    fl_mirror mirror;
    fl_mirror_init(&mirror, fl_host_default());
    apply(&mirror, steps, COUNT_OF(steps));
    static const struct {
        struct step step;
        const char *because;
    } cases[] = {
        {{FL_CHANGE_ACQUIRE, 3, 5000, 10, 0, 0}, "not the next one"},
        {{FL_CHANGE_ACQUIRE, 2, 1090, 20, 0, 0}, "mapped there already"},
        {{FL_CHANGE_ACQUIRE, 2, UINT64_MAX, 20, 0, 0}, "not a range"},
        {{FL_CHANGE_ACQUIRE, 2, 7000, 0, 0, 0}, "not a range"},
        {{FL_CHANGE_RELEASE, 0, 1000, 100, 0, 0}, "blocks are in it"},
        {{FL_CHANGE_RELEASE, 0, 1000, 99, 0, 0}, "no such segment"},
        {{FL_CHANGE_RELEASE, 1, 2000, 100, 0, 0}, "no such segment"},
        {{FL_CHANGE_UNRESERVE, 1, 2000, 100, 0, 0}, "memory is mapped"},
        {{FL_CHANGE_MAP, 1, 2020, 40, 0, 20}, "mapped there already"},
        {{FL_CHANGE_MAP, 1, 2080, 40, 0, 20}, "no reserved range"},
        {{FL_CHANGE_MAP, 0, 1000, 40, 0, 20}, "no reserved range"},
        {{FL_CHANGE_UNMAP, 1, 2020, 40, 0, 20}, "not mapped as a whole"},
        {{FL_CHANGE_UNMAP, 9, 2020, 20, 0, 20}, "no reserved range"},
        {{FL_CHANGE_PLACE, 0, 1050, 10, 0, 10}, "number is in use"},
        {{FL_CHANGE_PLACE, 0, 1095, 10, 1, 10}, "does not hold it"},
        {{FL_CHANGE_PLACE, 0, 990, 20, 1, 10}, "does not hold it"},
        {{FL_CHANGE_PLACE, 5, 1050, 10, 1, 10}, "does not hold it"},
        {{FL_CHANGE_FREE_ASKED, 0, 1000, 20, 1, 20}, "no such live block"},
        {{FL_CHANGE_FREE_ASKED, 0, 1000, 21, 0, 20}, "no such live block"},
        {{FL_CHANGE_FREE_DONE, 0, 1000, 20, 0, 20}, "was let go of"},
        {{FL_CHANGE_KIND_COUNT, 0, 1000, 20, 0, 20}, "unknown kind"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        refuse(&mirror, cases[i].step, cases[i].because);
    assert_string_equal(drawn(&mirror), "0:1000+100 L20 .80 | 1:2000+40 .40");
    fl_mirror_deinit(&mirror);
}

static void what_is_nobodys_counts_in_the_totals_only(void **state)
{
    (void)state;
    static const struct step steps[] = {{FL_CHANGE_ACQUIRE, 0, 1000, 100, 0, 0},
                                        {FL_CHANGE_PLACE, 0, 1000, 40, FL_NONE, 40},
                                        {FL_CHANGE_PLACE, 0, 1040, 20, 0, 20},
                                        {FL_CHANGE_FREE_ASKED, 0, 1000, 40, FL_NONE, 40},
                                        {FL_CHANGE_FREE_DONE, 0, 1000, 40, FL_NONE, 40}};
    fl_mirror mirror;
    fl_mirror_init(&mirror, fl_host_default());
    assert_int_equal(apply_all(&mirror, steps, 3, NULL), FL_OK);
    assert_int_equal(mirror.totals.allocated_bytes, 60);
    assert_int_equal(apply_all(&mirror, steps + 3, 2, NULL), FL_OK);
    assert_int_equal(mirror.totals.allocated_bytes, 20);
    assert_int_equal(fl_mirror_check(&mirror, NULL), FL_OK);
    assert_string_equal(drawn(&mirror), "0:1000+100 .40 L20 .40");
    fl_mirror_deinit(&mirror);
}

static void overlapping_blocks_do_not_pass_the_check(void **state)
{
    (void)state;
    static const struct step ground[] = {{FL_CHANGE_ACQUIRE, 0, 1000, 100, 0, 0},
                                         {FL_CHANGE_RESERVE, 1, 2000, 100, 0, 0},
                                         {FL_CHANGE_MAP, 1, 2000, 20, 0, 20},
                                         {FL_CHANGE_PLACE, 0, 1000, 20, 0, 20}};
    static const struct step wrong[] = {{FL_CHANGE_PLACE, 0, 1019, 20, 1, 20},
                                        {FL_CHANGE_PLACE, 1, 2010, 20, 1, 20},
                                        {FL_CHANGE_PLACE, 1, 2050, 20, 1, 20}};
    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        fl_mirror mirror;
        fl_error error = {0};
        fl_mirror_init(&mirror, fl_host_default());
        apply(&mirror, ground, COUNT_OF(ground));
        assert_int_equal(apply_all(&mirror, &wrong[i], 1, NULL), FL_OK);
        assert_int_equal(fl_mirror_check(&mirror, &error), FL_ERR_INTERNAL);
        assert_non_null(strstr(error.text, "block 1"));
        fl_mirror_deinit(&mirror);
    }
}

static fl_status play(const fl_host *host, void *user, fl_error *error)
{
    (void)user;
    fl_mirror mirror;
    fl_mirror_init(&mirror, host);
    fl_status status =
        apply_all(&mirror, &(struct step){FL_CHANGE_RESERVE, 0, 1000, 100000, 0, 0}, 1, error);
    for (uint32_t i = 0; i < 60 && status == FL_OK; i++) {
        const struct step steps[] = {
            {FL_CHANGE_MAP, 0, 1000 + i * 100, 90, 0, 10},
            {FL_CHANGE_UNMAP, 0, 1000 + i * 100 + 30, 20, 0, 10},
            {FL_CHANGE_PLACE, 0, 1000 + i * 100, 20, i, 20},
        };
        uint64_t reserved = mirror.totals.reserved_bytes;
        status = apply_all(&mirror, steps, COUNT_OF(steps), error);
        if (status != FL_OK) {
            assert_true(mirror.totals.reserved_bytes >= reserved);
            assert_int_equal(mirror.totals.reserved_bytes % 10, 0);
        } else {
            status = fl_mirror_check(&mirror, error);
        }
    }
    fl_mirror_deinit(&mirror);
    return status;
}

static void a_host_without_memory_leaves_the_mirror_whole(void **state)
{
    (void)state;
    assert_true(failing_host_sweep(play, NULL) > 60);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gaps_are_what_the_blocks_leave),
        cmocka_unit_test(totals_follow_each_change),
        cmocka_unit_test(a_freed_number_can_be_placed_again),
        cmocka_unit_test(mapped_runs_join_and_part),
        cmocka_unit_test(segments_that_touch_stay_two),
        cmocka_unit_test(changes_that_do_not_fit_are_told_and_change_nothing),
        cmocka_unit_test(what_is_nobodys_counts_in_the_totals_only),
        cmocka_unit_test(overlapping_blocks_do_not_pass_the_check),
        cmocka_unit_test(a_host_without_memory_leaves_the_mirror_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
