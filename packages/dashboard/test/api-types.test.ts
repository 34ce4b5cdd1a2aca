import { afterAll, beforeAll, expect, test } from 'bun:test';
import { join } from 'node:path';
import { type NodeProcess, startNode, temporaryFolder } from '@halyard/testing';
import { type ApiDocument, answerTypes } from './support/schema-types.ts';

const ROOT = join(import.meta.dir, '../../..');

/** Our types, by file below `src/api`, and the answers that are read as such. */
const READ_AS: readonly (readonly [file: string, type: string, answer: string])[] = [
  ['types.ts', 'SessionRecord', "Answers['getSession']"],
  ['types.ts', 'SessionRecord', "Answers['signIn']"],
  ['types.ts', 'ProjectSummary', "Answers['listProjects']['projects'][number]"],
  ['types.ts', 'ProjectRecord', "Answers['getProject']"],
  ['types.ts', 'ProjectRecord', "Answers['createProject']"],
  ['types.ts', 'EnvironmentRecord', "Answers['updateEnvironment']"],
  ['types.ts', 'FlagRecord', "Answers['listFlags']['flags'][number]"],
  ['types.ts', 'FlagRecord', "Answers['getFlag']"],
  ['types.ts', 'FlagRecord', "Answers['createFlag']"],
  ['types.ts', 'StateRecord', "Answers['getFlagState']"],
  // Optional members must be in the document too, or their removal would go unnoticed.
  [
    'types.ts',
    'StateRecord',
    "Answers['getFlagState'] & Pick<Required<Answers['getFlagState']>, 'updatedBy'>",
  ],
  ['types.ts', 'StateWritten', "Answers['patchFlagState']"],
  ['types.ts', 'ChangeWritten', "Answers['changeFlagStates']"],
  ['types.ts', 'EnvironmentClients', "Answers['listClients']['environments'][number]"],
  ['types.ts', 'DeliveryRecord', "Answers['listDeliveries']['deliveries'][number]"],
  ['types.ts', 'OperatorRecord', "Answers['listOperators']['operators'][number]"],
  ['session.ts', 'InvitationFacts', "Answers['inspectInvitation']"],
  ['flags.ts', 'ArchiveResult', "Answers['archiveFlags']['results'][number]"],
  ['operators.ts', 'InvitationRecord', "Answers['listInvitations']['invitations'][number]"],
  // Only the setup link has no recipient.
  ['operators.ts', 'CreatedLink', "Answers['inviteOperator'] & { email: string }"],
  ['keys.ts', 'KeyRecord', "Answers['listProjectKeys']['keys'][number]"],
  ['tokens.ts', 'TokenRecord', "Answers['listAccessTokens']['tokens'][number]"],
  ['audit.ts', 'AuditEntryRecord', "Answers['listAudit']['entries'][number]"],
  ['audit.ts', 'Reverted', "Answers['revertChange']"],
  ['compare.ts', 'Comparison', "Answers['compareEnvironments']"],
  ['compare.ts', 'Copied', "Answers['copyFlagStates']"],
  ['schedules.ts', 'ScheduleRecord', "Answers['listSchedules']['schedules'][number]"],
  ['search.ts', 'SearchHit', "Answers['search']['results'][number]"],
];

let node: NodeProcess;
beforeAll(async () => {
  node = await startNode();
}, 60_000);
afterAll(() => node.stop());

/** Has the compiler check that every answer can be read as our type of it. Gives what it says. */
async function compile(rows: typeof READ_AS): Promise<string> {
  using folder = temporaryFolder();
  // The server's own document; a wrong shape fails immediately.
  const document = (await (await fetch(`${node.url}/api/openapi.json`)).json()) as ApiDocument;
  await Bun.write(folder.file('answers.ts'), answerTypes(document));
  const checks = rows.map(([file, type, answer], index) => {
    const path = JSON.stringify(join(import.meta.dir, '../src/api', file));
    return `export const check${index} = (answer: ${answer}): import(${path}).${type} => answer;`;
  });
  await Bun.write(
    folder.file('check.ts'),
    `import type { Answers } from './answers.ts';\n${checks.join('\n')}\n`,
  );
  const config = {
    extends: join(ROOT, 'packages/dashboard/tsconfig.json'),
    compilerOptions: { types: [], noUnusedLocals: false },
    files: ['check.ts'],
    include: [],
  };
  await Bun.write(folder.file('tsconfig.json'), JSON.stringify(config));
  const compiler = Bun.spawn([process.execPath, 'node_modules/.bin/tsc', '--noEmit', '-p', folder.path], {
    cwd: ROOT,
    stdout: 'pipe',
  });
  return await new Response(compiler.stdout).text();
}

test('every response in the OpenAPI document matches our type', async () => {
  expect(await compile(READ_AS)).toBe('');
}, 60_000);

test('a type that does not match the document is reported', async () => {
  const complaints = await compile([
    ['types.ts', 'FlagRecord', "Answers['listProjects']['projects'][number]"],
  ]);
  expect(complaints).toContain('description');
}, 60_000);
