/* Stands in for a plug-in that was built for another C library: a program that loads it ends. */
__attribute__((constructor)) static void end(void) { __builtin_trap(); }
