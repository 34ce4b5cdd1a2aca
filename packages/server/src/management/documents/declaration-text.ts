import { DECLARATION_VERSION, type Declaration, type DeclaredFlag } from './declaration.ts';

/** The forms a declaration is written in. */
export type DeclarationFormat = 'json' | 'yaml';

/**
 * Writes a declaration, sorted by names and keys, so that equal projects give equal bytes. States stand on one line
 * each, their values exactly as stored.
 */
export function writeDeclaration(declaration: Declaration, format: DeclarationFormat): string {
  return format === 'json' ? writeJsonForm(declaration) : writeYamlForm(declaration);
}

function writeJsonForm({ project, environments, flags }: Declaration): string {
  const entries = sorted(flags).map(([key, flag]) => `    ${json(key)}: ${jsonFlag(flag)}`);
  return `{
  "halyard": ${DECLARATION_VERSION},
  "project": ${json(project)},
  "environments": ${jsonList(environments)},
  "flags": ${block(entries, '  ')}
}
`;
}

function jsonFlag(flag: DeclaredFlag): string {
  const states = sorted(flag.states).map(([name, state]) => `        ${json(name)}: ${state}`);
  const members = [
    ...(flag.description === '' ? [] : [`      "description": ${json(flag.description)}`]),
    ...(flag.tags.length === 0 ? [] : [`      "tags": ${jsonList(flag.tags)}`]),
    ...(flag.owner === undefined ? [] : [`      "owner": ${json(flag.owner)}`]),
    ...(states.length === 0 ? [] : [`      "environments": ${block(states, '      ')}`]),
  ];
  return block(members, '    ');
}

/** YAML 1.2 takes JSON as it is inside a line, so texts and states are written as JSON. */
function writeYamlForm({ project, environments, flags }: Declaration): string {
  const head = [
    `halyard: ${DECLARATION_VERSION}`,
    `project: ${yamlKey(project)}`,
    `environments: [${environments.map(yamlKey).join(', ')}]`,
  ];
  if (flags.size === 0) return `${[...head, 'flags: {}'].join('\n')}\n`;
  const entries = sorted(flags).flatMap(([key, flag]) => yamlFlag(key, flag));
  return `${[...head, 'flags:', ...entries].join('\n')}\n`;
}

function yamlFlag(key: string, flag: DeclaredFlag): readonly string[] {
  const states = sorted(flag.states).map(([name, state]) => `      ${yamlKey(name)}: ${state}`);
  const lines = [
    ...(flag.description === '' ? [] : [`    description: ${json(flag.description)}`]),
    ...(flag.tags.length === 0 ? [] : [`    tags: ${jsonList(flag.tags)}`]),
    ...(flag.owner === undefined ? [] : [`    owner: ${json(flag.owner)}`]),
    ...(states.length === 0 ? [] : ['    environments:', ...states]),
  ];
  return lines.length === 0 ? [`  ${yamlKey(key)}: {}`] : [`  ${yamlKey(key)}:`, ...lines];
}

/** Words that a YAML reader, of 1.1 or 1.2, takes for something other than a text. */
const YAML_WORDS = new Set(['true', 'false', 'null', 'yes', 'no', 'on', 'off', 'y', 'n']);

function yamlKey(text: string): string {
  return /^[A-Za-z][\w-]*$/.test(text) && !YAML_WORDS.has(text.toLowerCase()) ? text : json(text);
}

function block(lines: readonly string[], indent: string): string {
  return lines.length === 0 ? '{}' : `{\n${lines.join(',\n')}\n${indent}}`;
}

function jsonList(texts: readonly string[]): string {
  return `[${texts.map(json).join(', ')}]`;
}

function json(text: string): string {
  return JSON.stringify(text);
}

function sorted<T>(map: ReadonlyMap<string, T>): readonly (readonly [string, T])[] {
  return [...map].sort(([a], [b]) => (a < b ? -1 : 1));
}
