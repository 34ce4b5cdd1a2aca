import { version } from '../../../package.json' with { type: 'json' };

/** This program's version. The package.json of the repository is the one place that states it. */
export const VERSION: string = version;

/** Put in by the build; nothing defines it in a run from source. */
declare const HALYARD_COMMIT: string | undefined;

/** The commit an executable was built from, with `-dirty` where files had been changed; absent where it is unknown. */
export const COMMIT: string | undefined = typeof HALYARD_COMMIT === 'string' ? HALYARD_COMMIT : undefined;
