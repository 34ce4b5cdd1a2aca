import type { Json } from '../../api/types.ts';

/** The languages of the snippets, in the order of their tabs. */
export const SNIPPETS = ['curl', 'JavaScript', 'React', 'OpenFeature'] as const;

/** One of the languages. */
export type SnippetName = (typeof SNIPPETS)[number];

/** The flag that a snippet reads, and where. */
export interface SnippetInput {
  /** Where this server is, without a slash at the end. */
  readonly baseUrl: string;
  readonly environment: string;
  readonly key: string;
  /** A value of the flag, which tells the kind that code expects; `undefined` for a plain switch. */
  readonly value: Json | undefined;
}

/** Code that reads a flag. It has no project key: that comes from an environment variable. */
export function snippetOf(name: SnippetName, input: SnippetInput): string {
  return WRITERS[name](input);
}

const WRITERS: Readonly<Record<SnippetName, (input: SnippetInput) => string>> = {
  curl: ({ baseUrl, environment, key }) =>
    [
      '# HALYARD_KEY: a key of the project',
      `curl "${baseUrl}/v1/flags/${encodeURIComponent(key)}?env=${encodeURIComponent(environment)}" \\`,
      '  -H "X-Service-Key: $HALYARD_KEY"',
    ].join('\n'),
  JavaScript: ({ baseUrl, environment, key, value }) =>
    [
      "import { createClient } from '@halyard/client';",
      '',
      'const flags = createClient({',
      ...optionLines({ baseUrl, environment }, '  '),
      '});',
      'await flags.ready();',
      '',
      ...(isSwitch(value)
        ? [`if (flags.isEnabled(${quote(key)}, { targetingKey: 'user-1' })) {`, '  // …', '}']
        : [
            `const value = flags.getValue(${quote(key)}, ${defaultOf(value)}, {`,
            "  targetingKey: 'user-1',",
            '});',
            'console.log(value);',
          ]),
    ].join('\n'),
  React: ({ environment, key, value }) =>
    [
      "import { createClient } from '@halyard/client';",
      `import { FlagsProvider, ${isSwitch(value) ? 'useFlag' : 'useFlagValue'} } from '@halyard/client/react';`,
      '',
      '// The project key never goes into a page: your server adds it to requests for /flags.',
      'const client = createClient({',
      '  apiKey: false,',
      `  environment: ${quote(environment)},`,
      "  baseUrl: '/flags',",
      '});',
      '',
      'function Feature() {',
      isSwitch(value)
        ? `  const isOn = useFlag(${quote(key)});`
        : `  const value = useFlagValue(${quote(key)}, ${defaultOf(value)});`,
      isSwitch(value)
        ? "  return <p>{isOn ? 'New' : 'Old'}</p>;"
        : '  return <p>{JSON.stringify(value)}</p>;',
      '}',
      '',
      'export function App() {',
      '  return (',
      '    <FlagsProvider client={client}>',
      '      <Feature />',
      '    </FlagsProvider>',
      '  );',
      '}',
    ].join('\n'),
  OpenFeature: ({ baseUrl, environment, key, value }) =>
    [
      "import { HalyardProvider } from '@halyard/client/openfeature/server';",
      "import { OpenFeature } from '@openfeature/server-sdk';",
      '',
      'await OpenFeature.setProviderAndWait(',
      '  new HalyardProvider({',
      ...optionLines({ baseUrl, environment }, '    '),
      '  }),',
      ');',
      'const features = OpenFeature.getClient();',
      `const value = await features.${readerOf(value)}(${quote(key)}, ${defaultOf(value)}, {`,
      "  targetingKey: 'user-1',",
      '});',
      'console.log(value);',
    ].join('\n'),
};

/** The options of a client on a server. Plain http to another machine has to be allowed: the key travels in it. */
function optionLines(
  { baseUrl, environment }: Pick<SnippetInput, 'baseUrl' | 'environment'>,
  indent: string,
): readonly string[] {
  const isOpen = baseUrl.startsWith('http:') && !/^http:\/\/(127\.|localhost|\[::1\])/.test(baseUrl);
  return [
    "apiKey: process.env.HALYARD_KEY ?? '',",
    `environment: ${quote(environment)},`,
    `baseUrl: ${quote(baseUrl)},`,
    ...(isOpen ? ['allowInsecureHttp: true, // this address is not https'] : []),
  ].map((line) => indent + line);
}

function isSwitch(value: Json | undefined): boolean {
  return value === undefined || value === null || typeof value === 'boolean';
}

/** The OpenFeature method for this type of value. */
function readerOf(value: Json | undefined): string {
  if (isSwitch(value)) return 'getBooleanValue';
  if (typeof value === 'number') return 'getNumberValue';
  return typeof value === 'string' ? 'getStringValue' : 'getObjectValue';
}

/** The default value in code, of the same type. */
function defaultOf(value: Json | undefined): string {
  if (isSwitch(value)) return 'false';
  if (typeof value === 'number') return '0';
  if (typeof value === 'string') return "''";
  return Array.isArray(value) ? '[]' : '{}';
}

function quote(text: string): string {
  return `'${text.replaceAll(/['\\]/g, '\\$&')}'`;
}
