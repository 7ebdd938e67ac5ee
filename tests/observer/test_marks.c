#include "observing.h"

#include "test.h"

static void marks_stand_where_they_were_made(void **state)
{
    (void)state;
    assert_observed("m begin\na 1 1\n# phase: load\nf 1\n# step: 1\na 2 1\n# phase: train\n",
                    "marks", 1,
                    "event,end_event,kind,text\n"
                    "0,7,mark,begin\n"
                    "2,6,phase,phase: load\n"
                    "4,7,step,step: 1\n"
                    "6,7,phase,phase: train\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(marks_stand_where_they_were_made),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
