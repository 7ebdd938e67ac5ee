/* A policy that notes what it is asked and gives every allocation an address of its own:
 * 0x1000 * (id + 1).  Requests of 1 MiB and more are refused. */
#ifndef FAKE_POLICY_H
#define FAKE_POLICY_H

#include <fraglab/policy.h>

/* What was asked since the last fake_policy(), one word an op: `a0:64` (stream 64 is dense 1:
 * `a0@1` follows), `f0`, `h0` a held free, `d0` a completion, `trim`, `limit`, `use0`, `scope`,
 * `hold`, `complete`, `configure`. */
extern char fake_log[4096];

/* How many checks pass before one fails; UINT64_MAX: all. */
extern uint64_t fake_good_checks;

/* The policy, with these capabilities; the log is empty again. */
const fl_policy_ops *fake_policy(uint32_t capabilities);

#endif
