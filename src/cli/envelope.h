/* What stands around every record of JSON: who wrote it, from what, and with which warnings. */
#ifndef FL_CLI_ENVELOPE_H
#define FL_CLI_ENVELOPE_H

#include "cli/session.h"

/* Version of the records: keys are only ever added within one. */
#define FL_SCHEMA_VERSION 1

/* Opens the envelope up to and into `config`, with the command and its file; the caller adds
 * pairs to it and ends it with fl_envelope_end.  For programs only: text and CSV have none. */
void fl_envelope_begin(fl_session *session);

/* Ends `config`, adds the warnings; the record follows.  For everybody again. */
void fl_envelope_end(fl_session *session);

#endif
