#include "diagnosing.h"
#include "test.h"

#include <string.h>

static const char script[] = "# phase: load\n"
                             "a 1 1MiB stack=7\n"
                             "# cat: 1 weights\n"
                             "a 2 2MiB stack=8\n"
                             "# cat: 2 weights\n"
                             "# phase: train\n"
                             "a 3 4MiB stack=7\n"
                             "f 1\n"
                             "a 4 8MiB\n";

static void an_owner_knows_where_and_when(void **state)
{
    (void)state;
    fl_trace *trace = script_read(script);
    fl_owners owners;
    assert_int_equal(fl_owners_init(&owners, fl_host_default(), trace, 0, NULL), FL_OK);
    fl_owner first = fl_owners_get(&owners, 0), last = fl_owners_get(&owners, 3);
    assert_true(first.made < first.freed);
    assert_string_equal(fl_trace_stack_frame(trace, first.stack, 0).name, "7");
    assert_string_equal(fl_trace_names(trace)->texts[first.phase], "phase: load");
    assert_string_equal(fl_trace_names(trace)->texts[last.phase], "phase: train");
    assert_int_equal(last.stack, FL_NONE);
    assert_int_equal(last.freed, FL_NO_EVENT);
    assert_int_equal(fl_owners_get(&owners, 4).made, FL_NO_EVENT);
    fl_owners_deinit(&owners);
    fl_trace_free(trace);
}

static fl_group group_of(const fl_diagnosis *diagnosis, fl_grouping by, size_t index)
{
    assert_true(index < diagnosis->live[by].count);
    return diagnosis->live[by].items[index];
}

static void what_is_live_is_grouped_most_bytes_first(void **state)
{
    (void)state;
    diagnosing d = diagnose_script(script, MIB(100));
    const fl_diagnosis *diagnosis = &d.diagnosis;
    const fl_names *names = fl_trace_names(d.trace);
    fl_group group = group_of(diagnosis, FL_BY_STACK, 0);
    assert_int_equal(group.key, FL_NONE);
    assert_int_equal(group.bytes, MIB(8));
    group = group_of(diagnosis, FL_BY_STACK, 1);
    assert_int_equal(group.bytes, MIB(4));
    assert_int_equal(group.blocks, 1); /* what was freed does not count */
    group = group_of(diagnosis, FL_BY_PHASE, 0);
    assert_string_equal(names->texts[group.key], "phase: train");
    assert_int_equal(group.bytes, MIB(12));
    group = group_of(diagnosis, FL_BY_CATEGORY, 1);
    assert_string_equal(names->texts[group.key], "weights");
    assert_int_equal(group.bytes, MIB(2));
    diagnosing_close(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_owner_knows_where_and_when),
        cmocka_unit_test(what_is_live_is_grouped_most_bytes_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
