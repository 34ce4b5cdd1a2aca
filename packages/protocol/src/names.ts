/** What a flag key may look like when it is created. Reads accept any string and answer 404. */
export const FLAG_KEY_PATTERN = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;

/** What a project or environment name may look like when it is created: a lower-case slug of at most 64. */
export const NAME_PATTERN = /^[a-z0-9][a-z0-9-]{0,63}$/;

/** The environments of a new project. (Spec: Environment) */
export const DEFAULT_ENVIRONMENTS = ['development', 'staging', 'production'] as const;
