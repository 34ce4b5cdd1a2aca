import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { ERROR_STATUS, isErrorCode } from '@halyard/protocol';
import { openTestApp, type TestApp } from '../management/api/test-app.ts';
import { ENGINES } from '../storage/test-engines.ts';

setDefaultTimeout(60_000);

interface Described {
  readonly operationId?: string;
  readonly summary?: string;
  readonly security?: readonly object[];
  readonly parameters?: readonly { readonly name: string; readonly in: string }[];
  readonly responses: Readonly<Record<string, { readonly description: string; readonly content?: object }>>;
}

interface Document {
  readonly openapi: string;
  readonly info: { readonly title: string; readonly version: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
  readonly components: { readonly schemas: object; readonly securitySchemes: object };
}

/** The operations that need no credentials. */
const PUBLIC = [
  ...['getOpenApiDocument', 'getSession', 'signIn', 'signOut'],
  ...['setUp', 'inspectInvitation', 'acceptInvitation'],
  ...['startSingleSignOn', 'finishSingleSignOn'],
  // A ticket in the address opens these.
  ...['streamChanges', 'streamChangesInEnvironment'],
];

let app: TestApp;
let document: Document;
beforeAll(async () => {
  const [engine] = ENGINES;
  if (engine === undefined) throw new Error('the tests have no engine');
  app = await openTestApp(engine);
  const answer = await app.call('GET', '/api/openapi.json', { token: null });
  expect([answer.status, answer.headers.get('Content-Type')]).toEqual([200, 'application/json']);
  document = answer.json;
});
afterAll(() => app.close());

test('the document is OpenAPI 3.1 and all its references lead somewhere', () => {
  expect(document.openapi).toBe('3.1.0');
  expect(document.info).toMatchObject({ title: 'Halyard', version: '0.0.0' });
  expect(Object.keys(document.components.securitySchemes).sort()).toEqual([
    ...['accessToken', 'apiKey', 'bearerKey', 'serviceKey', 'session'],
  ]);
  const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g)];
  expect(references.length).toBeGreaterThan(50);
  for (const [, name] of references) expect(Object.keys(document.components.schemas)).toContain(name ?? '');
});

test('describes every route of the application and the evaluation interface, and nothing else', () => {
  const routes = app.app.routes.map(({ method, path }) => `${method} ${path}`);
  const openFeature = [
    'POST /ofrep/v1/evaluate/flags/{key}',
    'POST /ofrep/v1/evaluate/flags',
    'GET /ofrep/v1/stream',
    'GET /openfeature/v0/manifest',
  ];
  const evaluation = [
    ...['GET /v1/flags', 'GET /v1/flags/{key}', 'POST /v1/flags/batch', 'GET /v1/stream', 'POST /usage/v1'],
    'GET /flagd/v1/flags.json',
    ...openFeature.flatMap((each) => [each, each.replace(' ', ' /environments/{environment}')]),
  ];
  const described = operations().map(({ method, path }) => `${method.toUpperCase()} ${path}`);
  expect(described.sort()).toEqual([...routes, ...evaluation].sort());
});

test('every operation has a unique id, a summary, its parameters and its errors', () => {
  const ids = operations().map(({ operation }) => operation.operationId);
  expect(new Set(ids).size).toBe(ids.length);
  for (const { path, operation } of operations()) {
    expect(operation.operationId).toMatch(/^[a-z][A-Za-z]+$/);
    expect(operation.summary).toBeTruthy();
    const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? '');
    const described = (operation.parameters ?? []).filter((one) => one.in === 'path').map(({ name }) => name);
    expect(described.sort()).toEqual(inPath.sort());
    expect(Object.keys(operation.responses)).toContain('500');
    const isPublic = operation.security?.length === 0;
    if (!isPublic) expect(Object.keys(operation.responses)).toContain('401');
    expect([operation.operationId, isPublic]).toEqual([
      ...[operation.operationId, PUBLIC.includes(operation.operationId ?? '')],
    ]);
    for (const [status, { description, content }] of Object.entries(operation.responses)) {
      expect(description).not.toBe('');
      // The HTTP parser refuses without a body. (Spec: S14.8)
      if (Number(status) < 400 || ['413', '431'].includes(status)) continue;
      expect(JSON.stringify(content)).toContain('#/components/schemas/Error');
      for (const code of description.match(/[a-z]+_[a-z_]+/g) ?? []) {
        expect(isErrorCode(code) ? String(ERROR_STATUS[code]) : code).toBe(status);
      }
    }
  }
});

test.each([
  ['deleteProject', 'confirmation_required'],
  ['changeFlagStates', 'flag_archived'],
])('%s documents the error %s', (id, code) => {
  const found = operations().find(({ operation }) => operation.operationId === id);
  const descriptions = Object.values(found?.operation.responses ?? {}).map(({ description }) => description);
  expect(descriptions.join(' or ')).toContain(`\`${code}\``);
});

test.each([
  ['archiveFlags', ['X-Confirm-Environment', 'X-Change-Note', 'X-Change-Reference']],
  ['archiveFlag', ['X-Confirm-Environment', 'X-Change-Note', 'X-Change-Reference']],
  ['listFlags', []],
  ['signIn', []],
])('%s documents the headers %j', (id, names) => {
  const found = operations().find(({ operation }) => operation.operationId === id);
  const headers = (found?.operation.parameters ?? []).filter((one) => one.in === 'header');
  expect(headers.map(({ name }) => name)).toEqual(names);
});

function operations() {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );
}

test('is as strict about texts, numbers and conditions as the server', () => {
  const { schemas, paths } = { schemas: document.components.schemas, paths: document.paths };
  expect(paths['/api/changes/{seq}']?.get?.parameters).toContainEqual(
    expect.objectContaining({ name: 'seq', schema: { type: 'integer', minimum: 0 } }),
  );
  expect(paths['/api/audit']?.get?.parameters).toContainEqual(
    expect.objectContaining({
      name: 'before',
      schema: expect.objectContaining({ type: 'integer', minimum: 1 }),
    }),
  );
  expect(schemas).toMatchObject({
    ProjectKey: { properties: { name: { minLength: 1, maxLength: 100 } } },
    Operator: { properties: { email: { maxLength: 254 } } },
    Declaration: {
      properties: { flags: { additionalProperties: { properties: { tags: { items: { minLength: 1 } } } } } },
    },
  });
  const [ifMatch] = operations().flatMap(({ operation }) =>
    (operation.parameters ?? []).filter(({ name }) => name === 'If-Match'),
  );
  // The types of the document allow a reference in its place.
  const pattern = new RegExp((ifMatch as unknown as { schema: { pattern: string } }).schema.pattern);
  for (const right of ['*', '"12"', 'W/"12"', '"1", "2"', '"1",W/"2"']) expect(right).toMatch(pattern);
  for (const wrong of ['12', '0', '"x"', '', '"1" "2"', '**']) expect(wrong).not.toMatch(pattern);
});

test('no schema joins a closed object with members that it refuses', () => {
  const { schemas } = document.components;
  const joined: string[] = [];
  // Visits every schema, wherever it is.
  JSON.stringify(document, (_, schema) => {
    const parts: Schema[] = (schema?.allOf ?? []).map((part: Schema) => resolve(part));
    for (const part of parts) {
      const others = parts.flatMap((other) => Object.keys(other.properties ?? {}));
      const refused = others.filter((member) => part.properties?.[member] === undefined);
      if (part.additionalProperties === false && refused.length > 0) joined.push(refused.join(', '));
    }
    return schema;
  });
  expect(joined).toEqual([]);

  function resolve({ $ref, ...schema }: Schema): Schema {
    const name = $ref?.replace('#/components/schemas/', '');
    // The document was read as JSON: its schemas are objects like any other.
    return name === undefined ? schema : resolve((schemas as Record<string, Schema>)[name] ?? {});
  }
});

interface Schema {
  readonly $ref?: string;
  readonly properties?: Readonly<Record<string, unknown>>;
  readonly additionalProperties?: unknown;
}
