/** Whom a partial rollout is on for: the same answer in every environment, language and version. */
export { isInRollout, ROLLOUT_BUCKETS, rolloutBucket } from '@halyard/protocol';
