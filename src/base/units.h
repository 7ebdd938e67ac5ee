/* Powers of two by name, with the public reading and writing of sizes. */
#ifndef FL_BASE_UNITS_H
#define FL_BASE_UNITS_H

#include <fraglab/units.h>

#define FL_KIB (UINT64_C(1) << 10)
#define FL_MIB (UINT64_C(1) << 20)
#define FL_GIB (UINT64_C(1) << 30)

#endif
