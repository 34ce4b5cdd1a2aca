import type { Json } from '@halyard/protocol';
import { apiPath } from './api-client.ts';
import { command, connect } from './command.ts';
import { Fields } from './fields.ts';
import { option, required, toggle } from './options.ts';
import { printDocument } from './output.ts';

/** `halyard types` */
export const typesCommand = command({
  usage: 'types',
  about:
    'Write the flags of a project as TypeScript declarations, so that a misspelled or deleted flag does not compile.',
  options: {
    project: required('<project>', 'Project of the flags'),
    out: option('<file>', 'Write to this file instead of standard output'),
    openfeature: toggle('Type the keys of OpenFeature, too; needs "skipLibCheck": true in tsconfig.json'),
  },
  examples: ['halyard types --project shop --out flags.d.ts'],
  run: async ({ project, out, openfeature: openFeature = false, ...options }, shell) => {
    const { text } = await connect(shell, options).request({ path: apiPath`/projects/${project}/flags` });
    const flags = new Fields(JSON.parse(text)).list('flags').map(typedFlag);
    await printDocument(shell, formatTypesFile(project, flags, { openFeature }), {
      out,
      sentence: `Wrote the types of ${flags.length} flags of ${project} to ${out}.`,
    });
  },
});

function typedFlag(flag: Fields): TypedFlag {
  const environments = flag.fields('environments');
  const values = environments.names
    .map((name) => environments.fields(name).fields('state').any('value'))
    // `Json`, because all of it came out of JSON.parse.
    .filter((value) => value !== undefined) as Json[];
  return { key: flag.text('key'), description: flag.text('description'), values };
}

/** A flag in a types file. */
export interface TypedFlag {
  readonly key: string;
  /** Becomes the comment of its key. */
  readonly description?: string;
  /** Its values, one per environment that has one. A flag without values is only on or off. */
  readonly values: readonly Json[];
}

/** Deeper parts of a value become `unknown`, to keep types readable. */
const MAX_DEPTH = 4;
/** Larger objects become records. */
const MAX_MEMBERS = 40;

/**
 * The text of a declaration file that registers a project's flags with the client (`Register`), with the types of their
 * values in all environments. Sorted by key, so that it changes only when flags do. With `openFeature` it types the keys
 * of OpenFeature, too; the compiler then needs `skipLibCheck`.
 */
export function formatTypesFile(
  project: string,
  flags: readonly TypedFlag[],
  { openFeature = false }: { readonly openFeature?: boolean } = {},
): string {
  const sorted = [...flags].sort((a, b) => (a.key < b.key ? -1 : 1));
  const members = sorted.flatMap(({ key, description, values }) => [
    ...(description ? [`      /** ${oneLine(description)} */`] : []),
    `      ${quote(key)}: ${typeOfAll(values)};`,
  ]);

  return `${[
    `// Flags of the project ${oneLine(project)}. Written by \`halyard types\`; run it again when flags change.`,
    "import '@halyard/client';",
    '',
    "declare module '@halyard/client' {",
    '  interface Register {',
    ...(members.length > 0 ? ['    flags: {', ...members, '    };'] : ['    flags: Record<never, never>;']),
    '  }',
    '}',
    '',
    ...(openFeature ? openFeatureKeys(sorted) : []),
    'export {};',
  ].join('\n')}\n`;
}

/** OpenFeature declares these keys as type aliases, which can only be redeclared with `skipLibCheck`. */
function openFeatureKeys(flags: readonly TypedFlag[]): readonly string[] {
  return [
    '// OpenFeature\'s keys by kind. They need "skipLibCheck": true in tsconfig.json.',
    "declare module '@openfeature/core' {",
    ...KINDS.map(({ name, holds }) => {
      const keys = flags.filter(({ values }) =>
        values.length === 0 ? name === 'Boolean' : values.every(holds),
      );
      return `  export type ${name}FlagKey = ${keys.map(({ key }) => quote(key)).join(' | ') || 'never'};`;
    }),
    '}',
    '',
  ];
}

const KINDS: readonly { readonly name: string; readonly holds: (value: Json) => boolean }[] = [
  { name: 'Boolean', holds: (value) => typeof value === 'boolean' },
  { name: 'String', holds: (value) => typeof value === 'string' },
  { name: 'Number', holds: (value) => typeof value === 'number' },
  { name: 'Object', holds: (value) => typeof value === 'object' },
];

function typeOfAll(values: readonly Json[]): string {
  return values.length === 0 ? 'boolean' : union(values.map((value) => typeOf(value, 1)));
}

function typeOf(value: Json, depth: number): string {
  if (value === null) return 'null';
  if (typeof value !== 'object') return typeof value;
  if (depth > MAX_DEPTH) return 'unknown';
  if (isArray(value)) {
    const items = value.length === 0 ? 'unknown' : union(value.map((item) => typeOf(item, depth + 1)));
    return `readonly ${items.includes(' ') ? `(${items})` : items}[]`;
  }

  const members = Object.entries(value).map(
    ([name, member]) => `readonly ${quote(name)}: ${typeOf(member, depth + 1)}`,
  );
  if (members.length > MAX_MEMBERS) return 'Readonly<Record<string, unknown>>';
  return members.length === 0 ? 'Readonly<Record<string, never>>' : `{ ${members.join('; ')} }`;
}

/** `Array.isArray` does not narrow to a read-only array. */
function isArray(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}

function union(types: readonly string[]): string {
  return [...new Set(types)].sort().join(' | ');
}

/** A string literal whose content cannot end the literal. */
function quote(text: string): string {
  const json = JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'");
  return `'${json.replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029')}'`;
}

/** Text that is safe in a comment. */
function oneLine(text: string): string {
  return text
    .replaceAll(/[\s\u2028\u2029]+/g, ' ')
    .replaceAll('*/', '* /')
    .trim();
}
