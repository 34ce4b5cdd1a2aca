import { type ApiSchema, type OpenApiDocument, resolveSchema } from './openapi-document.ts';

/** What members are called in examples, so that all pages tell of the same shop. */
const BY_NAME: Readonly<Record<string, unknown>> = {
  project: 'shop',
  env: 'production',
  environment: 'production',
  from: 'staging',
  to: 'production',
  key: 'new-checkout',
  keys: ['new-checkout'],
  description: 'The checkout on one page',
  tags: ['checkout'],
  owner: 'Team Checkout',
  note: 'launch day',
  value: 'blue',
  rolloutPct: 25,
  revision: 18,
  environmentRevision: 18,
  seq: 1042,
  id: '0199a3f2-7c1e-7d6a-9b1f-3f6f2f0c7e11',
  actor: 'operator:ada@example.com',
  createdBy: 'operator:ada@example.com',
  email: 'ada@example.com',
  ip: '192.0.2.7',
  target: 'new-checkout',
  changed: ['new-checkout'],
  lastFour: 'x9Qd',
  before: { enabled: false },
  after: { enabled: true },
  q: 'checkout',
  limit: 20,
  position: 2,
  'If-Match': '"18"',
  'If-None-Match': '*',
  'X-Change-Note': 'launch day',
  'X-Confirm-Environment': 'production',
};

/** Names of the entries in maps by the schema of an entry. */
const ENTRY_NAMES: Readonly<Record<string, string>> = { StateRecord: 'production', FlagState: 'production' };

/** A plausible value for a schema. `name` is the member that it is for, where it is for one. */
export function exampleOf(document: OpenApiDocument, schema: ApiSchema, name = ''): unknown {
  const resolved = resolveSchema(document, schema);
  const known = BY_NAME[name];
  if (known !== undefined && fits(known, resolved)) return known;
  const [first] = resolved.anyOf ?? resolved.oneOf ?? [];
  if (first !== undefined) return exampleOf(document, first, name);
  if (resolved.const !== undefined) return resolved.const;
  if (resolved.example !== undefined) return resolved.example;
  if (resolved.enum !== undefined) return resolved.enum[0];
  return ofType(document, resolved);
}

function ofType(document: OpenApiDocument, schema: ReturnType<typeof resolveSchema>): unknown {
  switch (typeOf(schema)) {
    case 'object':
      return exampleObject(document, schema);
    case 'array':
      return schema.items === undefined ? [] : [exampleOf(document, schema.items)];
    case 'boolean':
      return schema.default ?? true;
    case 'integer':
    case 'number':
      return schema.default ?? schema.minimum ?? 1;
    case 'string':
      return schema.default ?? '…';
    default:
      return schema.default ?? null;
  }
}

function exampleObject(document: OpenApiDocument, schema: ApiSchema): Record<string, unknown> {
  const members = Object.entries(schema.properties ?? {}).map(([name, member]): [string, unknown] => [
    name,
    exampleOf(document, member, name),
  ]);
  const { additionalProperties } = schema;
  if (typeof additionalProperties === 'object' && Object.keys(additionalProperties).length > 0) {
    const { name = '' } = resolveSchema(document, additionalProperties);
    members.push([ENTRY_NAMES[name] ?? 'new-checkout', exampleOf(document, additionalProperties)]);
  }
  return Object.fromEntries(members);
}

/** Whether a ready example is of the schema's type; a member of any type takes it. */
function fits(value: unknown, schema: ApiSchema): boolean {
  const type = typeOf(schema);
  if (schema.enum !== undefined) return schema.enum.includes(value);
  if (Array.isArray(value)) return type === 'array' && schema.items?.type === 'string';
  if (typeof value === 'number') return type === 'integer' || type === 'number';
  return type === undefined
    ? schema.anyOf === undefined
    : type === typeof value && schema.properties === undefined;
}

function typeOf({ type }: ApiSchema): string | undefined {
  return typeof type === 'string' ? type : type?.[0];
}
