import type { FlagRecord } from './types.ts';

/** A flag for tests: without texts and states, unless `more` has them. */
export function testFlag(key: string, more: Partial<FlagRecord> = {}): FlagRecord {
  return {
    key,
    description: '',
    tags: [],
    owner: '',
    permanent: false,
    valueKind: 'any',
    createdAt: '2026-01-01T00:00:00.000Z',
    environments: {},
    ...more,
  };
}
