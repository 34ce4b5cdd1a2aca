/** Carries the project key on every request. (Spec: S5.1) */
export const SERVICE_KEY_HEADER = 'X-Service-Key';

/** Names the environment of an OFREP request whose address does not. */
export const ENVIRONMENT_HEADER = 'X-Flags-Environment';

/** The environment's revision: of the answer on a read, of the first frame on a stream. */
export const REVISION_HEADER = 'X-Flags-Revision';

/** Seconds since this node last knew its map to be current; present only while it cannot know. */
export const STALE_HEADER = 'X-Flags-Stale';

/** Says that the project wants clients to report reads, and how many seconds there are between two reports. (Spec: S17.1) */
export const USAGE_HEADER = 'X-Flags-Usage';

/**
 * `true` on the answer of a management write that is durable, and that this node does not serve yet: its log has not brought
 * the change in time. (Spec: S14.7)
 */
export const PENDING_HEADER = 'X-Change-Pending';

/** Names one request in answers and logs. */
export const REQUEST_ID_HEADER = 'X-Request-Id';

/** Seconds between two keep-alive comments on a stream. A client waits for three before it gives up. */
export const KEEP_ALIVE_SECONDS = 15;
