package dev.halyard;

import java.util.Map;

/**
 * What reads are answered from, at one moment; never changed.
 *
 * @param isLoaded whether there are flags at all, of the server or of the last run
 * @param isServed whether the server has sent them
 * @param revision the revision of the flags, or {@link RevisionGate#NONE}
 */
record View(Status status, Map<String, FlagState> flags, boolean isLoaded, boolean isServed, long revision) {}
