/* What every codec must do, whichever it is. */
#ifndef PACKED_H
#define PACKED_H

#include <stddef.h>
#include <stdint.h>

typedef struct codec_packer {
    const char *name;
    size_t (*pack)(const uint8_t *bytes, size_t size, uint8_t *packed, size_t room);
} codec_packer;

void packed_pieces_follow_each_other(const codec_packer *packer);
void packed_content_may_exceed_the_buffer(const codec_packer *packer);
void packed_cut_is_refused_at_every_byte(const codec_packer *packer);
void packed_cut_gives_the_beginning_if_accepted(const codec_packer *packer);
void packed_damage_is_refused_or_harmless(const codec_packer *packer);
void packed_failing_requests_do_not_leak(const codec_packer *packer);
void packed_is_unavailable(const char *bytes, size_t size, const char *message);

/* A program that runs them all. */
#define PACKED_TESTS(packer)                                                                       \
    static void pieces_follow_each_other(void **state)                                             \
    {                                                                                              \
        (void)state;                                                                               \
        packed_pieces_follow_each_other(&(packer));                                                \
    }                                                                                              \
    static void content_may_exceed_the_buffer(void **state)                                        \
    {                                                                                              \
        (void)state;                                                                               \
        packed_content_may_exceed_the_buffer(&(packer));                                           \
    }                                                                                              \
    static void a_cut_is_refused_at_every_byte(void **state)                                       \
    {                                                                                              \
        (void)state;                                                                               \
        packed_cut_is_refused_at_every_byte(&(packer));                                            \
    }                                                                                              \
    static void a_cut_gives_the_beginning_if_accepted(void **state)                                \
    {                                                                                              \
        (void)state;                                                                               \
        packed_cut_gives_the_beginning_if_accepted(&(packer));                                     \
    }                                                                                              \
    static void damage_is_refused_or_harmless(void **state)                                        \
    {                                                                                              \
        (void)state;                                                                               \
        packed_damage_is_refused_or_harmless(&(packer));                                           \
    }                                                                                              \
    static void failing_requests_do_not_leak(void **state)                                         \
    {                                                                                              \
        (void)state;                                                                               \
        packed_failing_requests_do_not_leak(&(packer));                                            \
    }                                                                                              \
    int main(void)                                                                                 \
    {                                                                                              \
        const struct CMUnitTest tests[] = {                                                        \
            cmocka_unit_test(pieces_follow_each_other),                                            \
            cmocka_unit_test(content_may_exceed_the_buffer),                                       \
            cmocka_unit_test(a_cut_is_refused_at_every_byte),                                      \
            cmocka_unit_test(a_cut_gives_the_beginning_if_accepted),                               \
            cmocka_unit_test(damage_is_refused_or_harmless),                                       \
            cmocka_unit_test(failing_requests_do_not_leak),                                        \
        };                                                                                         \
        return cmocka_run_group_tests(tests, NULL, NULL);                                          \
    }

#endif
