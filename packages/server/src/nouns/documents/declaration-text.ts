import { elementsOf } from '@halyard/protocol';
import { isoTime } from '../../domain/iso-time.ts';
import {
  DECLARATION_VERSION,
  type Declaration,
  type DeclarationFormat,
  type DeclaredEnvironment,
  type DeclaredFlag,
  hasSections,
  SECTIONS_VERSION,
} from './document.ts';
import { GUARD_MEMBERS } from './sections.ts';

/**
 * Writes a declaration, sorted by names and keys, so that equal projects have equal bytes. Each state is on one
 * line, with its value exactly as stored.
 */
export function writeDeclaration(declaration: Declaration, format: DeclarationFormat): string {
  return format === 'json' ? writeJsonForm(declaration) : writeYamlForm(declaration);
}

function writeJsonForm(declaration: Declaration): string {
  const { project, environments, flags } = declaration;
  const listed = environments.map((environment) => `    ${jsonEnvironment(environment)}`);
  const entries = sorted(flags).map(([key, flag]) => `    ${json(key)}: ${jsonFlag(flag)}`);
  const sections = sectionLines(declaration).map(([name, lines]) => {
    const listed = lines.map((line) => `    ${line}`).join(',\n');
    return `  "${name}": ${lines.length === 0 ? '[]' : `[\n${listed}\n  ]`}`;
  });
  return `{
  "halyard": ${versionOf(declaration)},
  "project": ${json(project)},
  "environments": ${listed.length === 0 ? '[]' : `[\n${listed.join(',\n')}\n  ]`},
  "flags": ${block(entries, '  ')}${sections.map((section) => `,\n${section}`).join('')}
}
`;
}

/** A document that is about flags alone keeps the version that every program reads. */
function versionOf(declaration: Declaration): number {
  const hasGuards = declaration.environments.some(({ appearance = {} }) =>
    GUARD_MEMBERS.some((name) => name in appearance),
  );
  return hasGuards || hasSections(declaration) ? SECTIONS_VERSION : DECLARATION_VERSION;
}

/** The sections beside the flags, with each item as JSON on a line. Members that are as by default are left out. */
function sectionLines({
  keys,
  webhooks,
  members,
}: Declaration): readonly (readonly [string, readonly string[]])[] {
  const sections = {
    keys: keys?.map(({ name, environments, expiresAt }) =>
      line({ name, environments, expiresAt: expiresAt === undefined ? undefined : isoTime(expiresAt) }),
    ),
    webhooks: webhooks?.map(({ name, url, format, environments, events, paused }) =>
      line({
        name,
        url,
        format: format === 'json' ? undefined : format,
        environments: environments.length === 0 ? undefined : environments,
        events: events.length === 0 ? undefined : events,
        paused: paused || undefined,
      }),
    ),
    members: members?.map(({ email, role, canChangeProtected }) =>
      line({ email, role, canChangeProtected: (role !== 'admin' && canChangeProtected) || undefined }),
    ),
  };
  return Object.entries(sections).flatMap(([name, lines]) =>
    lines === undefined ? [] : [[name, lines] as const],
  );
}

/** On one line, with a space after each colon, which YAML needs in places and people like. */
function line(members: Readonly<Record<string, unknown>>): string {
  const written = Object.entries(members).filter(([, value]) => value !== undefined);
  return `{${written.map(([name, value]) => `"${name}": ${JSON.stringify(value)}`).join(', ')}}`;
}

function jsonEnvironment({ name, appearance }: DeclaredEnvironment): string {
  if (appearance === undefined) return json(name);
  const members = Object.entries({ name, ...appearance });
  return `{${members.map(([member, value]) => `"${member}": ${JSON.stringify(value)}`).join(', ')}}`;
}

function jsonFlag(flag: DeclaredFlag): string {
  const states = sorted(flag.states).map(([name, state]) => `        ${json(name)}: ${state}`);
  const named = elementsOf(flag.namedValues) ?? [];
  const members = [
    ...writtenDetails(flag).map(([name, text]) => `      "${name}": ${text}`),
    ...(named.length === 0
      ? []
      : [`      "namedValues": [\n${named.map((each) => `        ${each}`).join(',\n')}\n      ]`]),
    ...(states.length === 0 ? [] : [`      "environments": ${block(states, '      ')}`]),
  ];
  return block(members, '    ');
}

/** The details of the flag that differ from the defaults, as names and JSON texts. */
function writtenDetails(flag: DeclaredFlag): readonly (readonly [name: string, text: string])[] {
  return [
    ...(flag.description === '' ? [] : [['description', json(flag.description)] as const]),
    ...(flag.tags.length === 0 ? [] : [['tags', `[${flag.tags.map(json).join(', ')}]`] as const]),
    ...(flag.owner === undefined ? [] : [['owner', json(flag.owner)] as const]),
    ...(flag.permanent ? [['permanent', 'true'] as const] : []),
    ...(flag.valueKind === 'any' ? [] : [['valueKind', json(flag.valueKind)] as const]),
    ...(flag.archived ? [['archived', 'true'] as const] : []),
  ];
}

/** YAML 1.2 accepts JSON within a line, so strings and states are written as JSON. */
function writeYamlForm(declaration: Declaration): string {
  const { project, environments, flags } = declaration;
  const head = [`halyard: ${versionOf(declaration)}`, `project: ${yamlKey(project)}`];
  const listed = environments.map((environment) => `  - ${yamlEnvironment(environment)}`);
  const entries = sorted(flags).flatMap(([key, flag]) => yamlFlag(key, flag));
  const lines = [
    ...head,
    ...(listed.length === 0 ? ['environments: []'] : ['environments:', ...listed]),
    ...(entries.length === 0 ? ['flags: {}'] : ['flags:', ...entries]),
    ...sectionLines(declaration).flatMap(([name, listedOnes]) =>
      listedOnes.length === 0 ? [`${name}: []`] : [`${name}:`, ...listedOnes.map((line) => `  - ${line}`)],
    ),
  ];
  return `${lines.join('\n')}\n`;
}

function yamlEnvironment({ name, appearance }: DeclaredEnvironment): string {
  if (appearance === undefined) return yamlKey(name);
  const members = [['name', yamlKey(name)], ...Object.entries(appearance)];
  return `{${members.map(([member, value]) => `${member}: ${value}`).join(', ')}}`;
}

function yamlFlag(key: string, flag: DeclaredFlag): readonly string[] {
  const states = sorted(flag.states).map(([name, state]) => `      ${yamlKey(name)}: ${state}`);
  const named = elementsOf(flag.namedValues) ?? [];
  const lines = [
    ...writtenDetails(flag).map(([name, text]) => `    ${name}: ${text}`),
    ...(named.length === 0 ? [] : ['    namedValues:', ...named.map((each) => `      - ${each}`)]),
    ...(states.length === 0 ? [] : ['    environments:', ...states]),
  ];
  return lines.length === 0 ? [`  ${yamlKey(key)}: {}`] : [`  ${yamlKey(key)}:`, ...lines];
}

/** Words that a YAML parser, of 1.1 or 1.2, reads as something other than a string. */
const YAML_WORDS = new Set(['true', 'false', 'null', 'yes', 'no', 'on', 'off', 'y', 'n']);

function yamlKey(text: string): string {
  return /^[A-Za-z][\w-]*$/.test(text) && !YAML_WORDS.has(text.toLowerCase()) ? text : json(text);
}

function block(lines: readonly string[], indent: string): string {
  return lines.length === 0 ? '{}' : `{\n${lines.join(',\n')}\n${indent}}`;
}

function json(text: string): string {
  return JSON.stringify(text);
}

function sorted<T>(map: ReadonlyMap<string, T>): readonly (readonly [string, T])[] {
  return [...map].sort(([a], [b]) => (a < b ? -1 : 1));
}
