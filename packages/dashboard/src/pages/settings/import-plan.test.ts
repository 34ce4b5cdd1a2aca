import { expect, test } from 'bun:test';
import type { ImportPlan } from '../../api/types.ts';
import { isNothing, onlyInProject, thingsOf } from './import-plan.ts';

const NOTHING: ImportPlan = {
  project: 'shop',
  policy: 'enforce',
  prune: true,
  projectCreated: false,
  environmentsCreated: [],
  keysCreated: [],
  keysRevoked: [],
  webhooksCreated: [],
  webhooksUpdated: [],
  webhooksDeleted: [],
  membersChanged: [],
  environmentsUpdated: [],
  flagsCreated: [],
  flagsUpdated: [],
  flagsArchived: [],
  flagsRestored: [],
  changes: [],
  kept: 0,
  onlyInProject: { flags: [], states: [], keys: [], webhooks: [], members: [] },
  dryRun: true,
  seq: 0,
};

test('what an import changes is one thing for each flag, with what is removed first', () => {
  const things = thingsOf({
    ...NOTHING,
    environmentsUpdated: [{ name: 'qa', before: { protected: false }, after: { protected: true } }],
    flagsCreated: ['new'],
    flagsArchived: ['old'],
    changes: [
      { environment: 'production', key: 'gone', action: 'delete', before: { enabled: true } },
      { environment: 'qa', key: 'new', action: 'create', after: { enabled: true } },
      { environment: 'production', key: 'new', action: 'create', after: { enabled: false } },
    ],
  });
  expect(things.map(({ noun, name, verbs, isRemoval }) => [noun, name, ...verbs, isRemoval])).toEqual([
    ['flag', 'old', 'archived', true],
    ['flag', 'gone', true],
    ['environment', 'qa', 'updated', false],
    ['flag', 'new', 'created', false],
  ]);
  expect(things[3]?.differences.map(({ environment }) => environment)).toEqual(['qa', 'production']);
  expect(things[2]?.differences).toEqual([{ before: { protected: false }, after: { protected: true } }]);
});

test('lists that a newer server compares are shown by the names that it gives them', () => {
  const newer = {
    ...NOTHING,
    projectKeysCreated: [{ name: 'web', after: { environments: ['qa'] } }],
    webhooksRemoved: ['chat'],
    policiesUpdated: [{ name: 'p', before: { days: 1 }, after: { days: 2 } }],
  };
  expect(thingsOf(newer).map(({ noun, name, verbs }) => [noun, name, ...verbs])).toEqual([
    ['webhook', 'chat', 'removed'],
    ['project key', 'web', 'created'],
    ['policy', 'p', 'updated'],
  ]);
  expect(isNothing(newer)).toBeFalse();
});

test('an equal document changes nothing', () => {
  expect(isNothing(NOTHING)).toBeTrue();
  const onlyThere = {
    flags: ['a'],
    states: [
      { environment: 'qa', key: 'b' },
      { environment: 'qa', key: 'c' },
    ],
  };
  expect(onlyInProject({ ...NOTHING, onlyInProject: { ...NOTHING.onlyInProject, ...onlyThere } })).toEqual([
    ['flag', 1],
    ['states', 2],
  ]);
});
