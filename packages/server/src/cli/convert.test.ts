import { afterAll, describe, expect, test } from 'bun:test';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '@halyard/testing';
import { EXPORTS, FIXTURES } from '../nouns/conversions/test-fixtures.ts';
import { runCaptured } from './test-shell.ts';

const folder = temporaryFolder();
afterAll(() => folder.remove());

/** Converts files of this test, or fixtures; the report names them without their folder. */
async function convert(service: string, files: readonly string[], ...options: readonly string[]) {
  const run = await runCaptured(['convert', '--from', service, '--project', 'shop', ...options, ...files]);
  return { ...run, err: run.err.replaceAll(`${FIXTURES}/`, '').replaceAll(`${folder.path}/`, '') };
}

function fixture(name: string, environment?: string): string {
  const path = join(FIXTURES, name);
  return environment === undefined ? path : `${environment}=${path}`;
}

/** Writes a file for a test and gives its path. */
function file(name: string, content: unknown): string {
  const path = folder.file(name);
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

describe('convert', () => {
  test.each(EXPORTS)('makes of an export of $service the document and the report beside it', async (each) => {
    const run = await convert(each.service, [fixture(each.file, each.environment)], ...(each.options ?? []));
    const expected = (end: string) => readFileSync(join(FIXTURES, `${each.service}.${end}`), 'utf8');
    expect(run.out).toBe(expected('out.yaml'));
    expect(run.err).toBe(expected('report.txt'));
    expect(run.exitCode).toBe(5);
  });

  test.each([
    ['--keep-on', 'unleash', [fixture('unleash.json')], 'beta', { enabled: true }],
    ['--keep-on', 'unleash', [fixture('unleash.json')], 'colors', { enabled: true }],
    ['--keep-on', 'launchdarkly', [fixture('launchdarkly.json')], 'legacy-login', { enabled: true }],
    ['--keep-on', 'launchdarkly', [fixture('launchdarkly.json')], 'colors', { enabled: false }],
    [
      ...['--off-is-default', 'flagsmith'],
      [fixture('flagsmith.json', 'production')],
      ...['theme', { enabled: true, value: 'dark', rolloutPct: 10 }],
    ],
    [
      ...['--parse-json', 'configcat'],
      [fixture('configcat.json', 'production')],
      ...['limits', { enabled: true, value: { perMinute: 60 } }],
    ],
    [
      ...['--variant-value=attachment --namespace=default', 'flipt'],
      [fixture('flipt.yaml', 'production')],
      ...['limits', { enabled: true, value: { perMinute: 60 } }],
    ],
    ['--namespace=other', 'flipt', [fixture('flipt.yaml', 'production')], 'elsewhere', { enabled: true }],
  ] as [string, string, string[], string, object][])(
    '%s makes of %s what it says',
    async (options, service, files, key, state) => {
      const out = folder.file('report.json');
      await convert(service, files, ...options.split(' '), '--out', out);
      const document = JSON.parse(readFileSync(out, 'utf8'));
      expect(document.flags[key].environments.production).toEqual(state);
    },
  );

  test('merges files of several environments, renames environments and leaves others out', async () => {
    const flags = (state: string) => ({
      flags: { a: { state, variants: { on: true, off: false }, defaultVariant: 'on' } },
    });
    const files = [
      `Staging=${file('s.json', flags('DISABLED'))}`,
      `production=${file('p.json', flags('ENABLED'))}`,
    ];
    const run = await convert('flagd', files, '--env', 'Staging=staging,production');
    expect(run).toMatchObject({
      exitCode: 0,
      err: 'FLAG  OUTCOME  ENVIRONMENT  WHAT\na     kept\n1 flag: 1 kept, 0 approximated, 0 lost, 0 skipped.\n',
    });
    expect(run.out).toEndWith(
      'flags:\n  a:\n    environments:\n      production: {"enabled":true}\n      staging: {"enabled":false}\n',
    );
    const one = await convert('flagd', files, '--env', 'production');
    expect(one.out).not.toContain('staging');
    const feature = { name: 'b', description: null, type: 'release' };
    const input = JSON.stringify({ features: [feature], featureStrategies: [], featureEnvironments: [] });
    const options = ['convert', '--from', 'unleash', '--project', 'shop', '-'];
    const none = await runCaptured(options, { input });
    expect(none.exitCode).toBe(5);
    expect(none.err).toContain('is in no environment that was taken (-: features[0])');
  });

  test('--strict writes nothing where a flag is not kept exactly, and --report writes what became of each', async () => {
    const report = folder.file('report.json');
    const run = await convert('goff', [fixture('goff.yaml', 'production')], '--strict', '--report', report);
    expect(run).toMatchObject({ exitCode: 1, out: '' });
    const { from, environments, flags } = JSON.parse(readFileSync(report, 'utf8'));
    expect([from, environments, flags.length]).toEqual(['goff', ['production'], 9]);
    expect(flags[4]).toEqual({
      key: 'beta',
      outcome: 'lost',
      notes: [
        {
          environment: 'production',
          outcome: 'lost',
          text: '1 targeting rule left out',
          place: `${join(FIXTURES, 'goff.yaml')}: beta.targeting`,
        },
      ],
    });
  });

  const item = { key: 'a', variations: [{ value: true }], environments: { test: { on: true } } };
  test.each<[string, string, () => readonly string[], readonly string[], string]>([
    ['no file', 'flagd', () => [], [], 'Name at least one file'],
    [
      'a file that is not there',
      'flagd',
      () => ['production=/nowhere/x.json'],
      [],
      'Cannot read /nowhere/x.json',
    ],
    [
      'a file without its environment',
      'flagd',
      () => [fixture('flagd.json')],
      [],
      'write <environment>=flagd.json',
    ],
    [
      'an environment for a file that names its own',
      'unleash',
      () => [fixture('unleash.json', 'production')],
      [],
      'names its environments itself',
    ],
    [
      'an environment that is not there',
      'unleash',
      () => [fixture('unleash.json')],
      ['--env', 'staging'],
      'no environment for staging',
    ],
    [
      'a name that no environment can have',
      'flagd',
      () => [fixture('flagd.json', 'Production')],
      [],
      "--env 'Production=…'",
    ],
    [
      'one environment twice',
      'flagd',
      () => [fixture('flagd.json', 'a'), fixture('flagd.json', 'a')],
      [],
      'is there twice',
    ],
    [
      'broken JSON',
      'flagd',
      () => [`a=${file('broken.json', '{"flags": {')}`],
      [],
      'broken.json is not JSON',
    ],
    ['broken YAML', 'goff', () => [`a=${file('broken.yaml', 'a: [1\nb: 2')}`], [], 'broken.yaml is not YAML'],
    [
      'a file of another service',
      'unleash',
      () => [fixture('growthbook.json')],
      [],
      'growthbook.json: features[0].name must be a text',
    ],
    [
      'a list without rules',
      'launchdarkly',
      () => [file('summary.json', { items: [item] })],
      [],
      'summary.json: items[0].environments.test.fallthrough must be there: ask for the flags with summary=0',
    ],
    ['several namespaces', 'flipt', () => [fixture('flipt.yaml', 'a')], [], '--namespace: default, other'],
  ])('refuses %s', async (_name, service, files, options, sentence) => {
    const run = await convert(service, files(), ...options);
    expect(run).toMatchObject({ exitCode: 2, out: '' });
    expect(run.err).toContain(sentence);
  });
});
