import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import flagd from '../../../../../conformance/fixtures/flagd.json';
import { flagdDocument } from '../../domain/flagd-document.ts';
import { openTestApp, type TestApp } from '../../management/api/test-app.ts';
import { ENGINES, type TestEngine } from '../../storage/test-engines.ts';
import { writeDeclaration } from '../documents/declaration-text.ts';
import { convert } from './convert.ts';
import { ConversionError } from './piece.ts';
import { EXPORTS, STRICT_RULES, sourceOf } from './test-fixtures.ts';

setDefaultTimeout(60_000);

describe.each(ENGINES)('converted documents on $name', (engine: TestEngine) => {
  let app: TestApp;
  beforeAll(async () => {
    app = await openTestApp(engine);
  });
  afterAll(() => app.close());

  test.each(EXPORTS)('the document of $service is imported as it is', async (fixture) => {
    const request = { ...STRICT_RULES, from: fixture.service, project: `from-${fixture.service}` };
    const { declaration, report } = convert([sourceOf(fixture)], request);
    const body = writeDeclaration(declaration, 'yaml');
    const headers = { 'Content-Type': 'application/yaml' };
    const imported = await app.call('POST', '/api/import', { body, headers });
    expect([imported.status, imported.json.notAllowed]).toEqual([200, undefined]);
    const same = await app.call('POST', '/api/diff?prune=true', { body, headers });
    expect(same.json.same).toBe(true);

    const on = await app.call('GET', `/api/projects/${request.project}/export`);
    for (const { key, notes } of report.flags)
      for (const { environment, outcome } of notes)
        if (environment !== undefined && outcome === 'lost')
          expect([key, on.json.flags[key].environments[environment].enabled]).toEqual([key, false]);
  });
});

test('a document for flagd is converted back into the states that it was made of', async () => {
  const cases = flagd.cases.filter(({ flag }) => flag !== undefined);
  const states = cases.map(({ flagKey, state }) => [flagKey, JSON.stringify(state)] as const);
  const text = await flagdDocument({ environment: 'production', revision: 1, states });
  const source = { name: 'flagd.json', environment: 'production', data: JSON.parse(text) };
  const { declaration, report } = convert([source], { ...STRICT_RULES, from: 'flagd', project: 'shop' });
  expect(report.flags.filter(({ outcome }) => outcome !== 'kept')).toEqual([]);
  const again = [...declaration.flags].map(
    ([key, flag]) => [key, flag.states.get('production') ?? ''] as const,
  );
  // Not the same texts: `true` needs no value, and everyone no percentage.
  const made = JSON.parse(await flagdDocument({ environment: 'production', revision: 1, states: again }));
  for (const [key, flag] of Object.entries(JSON.parse(text).flags))
    if (!key.endsWith('none') && key !== 'with-false') expect(made.flags[key]).toEqual(flag);
});

test('variants of several files become one list of named values, and notes say what does not fit', () => {
  const file = (environment: string, variants: object) => ({
    name: `${environment}.json`,
    environment,
    data: { flags: { banner: { state: 'ENABLED', variants, defaultVariant: 'a' } } },
  });
  const files = [
    file('staging', { a: 'A', on: true, ' long\nname ': 'L' }),
    file('production', { a: 'A', b: 'B', c: 'B', 'long name': 'other' }),
  ];
  const { declaration, report } = convert(files, { ...STRICT_RULES, from: 'flagd', project: 'shop' });
  expect(JSON.parse(declaration.flags.get('banner')?.namedValues ?? '')).toEqual([
    { name: 'a', value: 'A' },
    { name: 'long name', value: 'L' },
    { name: 'b', value: 'B' },
  ]);
  expect(report.flags[0]?.notes.map(({ text }) => text)).toEqual([
    'the variant c has the value of b, which keeps its name',
    'the variant long name has several values: the first keeps the name',
  ]);

  const large = file('staging', { a: 'A'.repeat(40_000), b: 'B'.repeat(40_000) });
  const { declaration: without, report: said } = convert([large], {
    ...STRICT_RULES,
    from: 'flagd',
    project: 'shop',
  });
  expect(without.flags.get('banner')?.namedValues).toBe('[]');
  expect(said.flags[0]?.notes[0]?.text).toContain('too large together');
});

/** Every place of a document, as the path to it. */
function* placesIn(data: unknown, path: readonly string[] = []): Generator<readonly string[]> {
  yield path;
  if (typeof data !== 'object' || data === null) return;
  for (const [name, member] of Object.entries(data)) yield* placesIn(member, [...path, name]);
}

function replaced(data: unknown, [name, ...rest]: readonly string[], value: unknown): unknown {
  if (name === undefined) return value;
  const copy: unknown = Array.isArray(data) ? [...data] : { ...Object(data) };
  // An array is an object too, and the name is one of its members.
  const members = copy as Record<string, unknown>;
  members[name] = replaced(members[name], rest, value);
  return copy;
}

test.each(EXPORTS)(
  'whatever stands anywhere in a file of $service, it is converted or refused',
  (fixture) => {
    const source = sourceOf(fixture);
    const request = { ...STRICT_RULES, from: fixture.service, project: 'shop' };
    const strange = [undefined, null, true, -1, 1e300, 'x', '', [], ['x'], {}, { x: { x: 1 } }, [[]], [{}]];
    let refused = 0;

    for (const [index, path] of [...placesIn(source.data)].entries()) {
      // One value in each place: all of them would take long and find little more.
      const value = strange[index % strange.length];
      const data = replaced(source.data, path, value);
      try {
        convert([{ ...source, data }], request);
      } catch (error) {
        const place = `${path.join('.')} = ${JSON.stringify(value)}`;
        if (!(error instanceof ConversionError)) throw new Error(place, { cause: error });
        expect([place, error.message]).toEqual([place, expect.stringContaining(fixture.file)]);
        refused++;
      }
    }
    expect(refused).toBeGreaterThan(10);
  },
);
