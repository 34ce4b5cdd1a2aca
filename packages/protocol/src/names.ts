/** The grammar of new flag keys. Reads accept any string and answer 404. */
export const FLAG_KEY_PATTERN = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;

/** The grammar of new project and environment names: a lower-case slug of at most 64. */
export const NAME_PATTERN = /^[a-z0-9][a-z0-9-]{0,63}$/;

/** The environments of a new project. (Spec: S2.1) */
export const DEFAULT_ENVIRONMENTS = ['development', 'staging', 'production'] as const;
