import { version } from '../package.json' with { type: 'json' };

/** This program's version, as its package says. */
export const VERSION: string = version;
