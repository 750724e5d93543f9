/* What phases.py calls around a phase: callgrind counts from `begin` to `end`, and dumps under the phase's name.
   Without valgrind both do nothing. */
#include <valgrind/callgrind.h>

void begin(void)
{
    CALLGRIND_START_INSTRUMENTATION;
    CALLGRIND_ZERO_STATS;
}

void end(const char *phase)
{
    CALLGRIND_DUMP_STATS_AT(phase);
    CALLGRIND_STOP_INSTRUMENTATION;
}
