import type { Actor } from '../../domain/audit.ts';
import { stateParts } from '../../domain/flag-state-text.ts';
import { type FlagdRollouts, flagdDocument } from '../../domain/flagd-document.ts';
import { detailsOf, type Project, type StateText } from '../../domain/project.ts';
import type { ManagementContext } from '../../management/context.ts';
import type { Queryable } from '../../storage/database.ts';
import { readEnvironments } from '../environments/environment-table.ts';
import { readAllArchivedStates, readFlags } from '../flags/flag-table.ts';
import { readable } from '../flags/flags.ts';
import { type EnvironmentPlace, findEnvironment, findProject } from '../lookup.ts';
import { readStoredStates } from '../states/state-table.ts';
import {
  DECLARATION_VERSION,
  type Declaration,
  type DeclarationFormat,
  type DeclaredEnvironment,
  type DeclaredFlag,
} from './document.ts';

/** A whole project as a declaration, archived flags included. `project_not_found`. */
export function exportProject(
  context: ManagementContext,
  actor: Actor,
  project: string,
): Promise<Declaration> {
  return context.store.read(async (db) => declare(db, await findProject(db, actor, project)));
}

async function declare(db: Queryable, { id, name }: Project): Promise<Declaration> {
  const environments = await readEnvironments(db, id);
  const archivedStates = await readAllArchivedStates(db, id);

  const flags = new Map<string, DeclaredFlag & { readonly states: Map<string, StateText> }>();
  for (const flag of await readFlags(db, id)) {
    const { key, archivedAt } = flag;
    const states = new Map<string, StateText>();
    for (const environment of archivedAt === undefined ? [] : environments) {
      const state = archivedStates.get(key)?.get(environment.id);
      if (state !== undefined && stateParts(state) !== undefined) states.set(environment.name, state);
    }
    const { owner, ...others } = detailsOf(flag);
    const details = { ...others, ...(owner !== '' && { owner }) };
    flags.set(key, { ...details, archived: archivedAt !== undefined, states });
  }

  for (const environment of environments) {
    for (const { flagKey, state } of readable(await readStoredStates(db, environment.id))) {
      flags.get(flagKey)?.states.set(environment.name, state);
    }
  }

  const declared = environments.map(
    ({ name, protected: isProtected, color }): DeclaredEnvironment => ({
      name,
      appearance: { protected: isProtected, color },
    }),
  );
  return { project: name, environments: declared, flags };
}

/** The flags of one environment for flagd, as they are now. `project_not_found`, `environment_not_found`. (Spec: S19.1) */
export async function exportForFlagd(
  context: ManagementContext,
  actor: Actor,
  { rollouts, ...place }: EnvironmentPlace & { readonly rollouts: FlagdRollouts },
): Promise<string> {
  const source = await context.store.read(async (db) => {
    const { id, name, revision } = await findEnvironment(db, actor, place);
    const stored = readable(await readStoredStates(db, id));
    const states = stored.map(({ flagKey, state }) => [flagKey, state] as const);
    return { environment: name, revision, states };
  });

  return await flagdDocument(source, rollouts);
}

/**
 * Writes a declaration, sorted by names and keys, so that equal projects have equal bytes. Each state is on one
 * line, with its value exactly as stored.
 */
export function writeDeclaration(declaration: Declaration, format: DeclarationFormat): string {
  return format === 'json' ? writeJsonForm(declaration) : writeYamlForm(declaration);
}

function writeJsonForm({ project, environments, flags }: Declaration): string {
  const listed = environments.map((environment) => `    ${jsonEnvironment(environment)}`);
  const entries = sorted(flags).map(([key, flag]) => `    ${json(key)}: ${jsonFlag(flag)}`);
  return `{
  "halyard": ${DECLARATION_VERSION},
  "project": ${json(project)},
  "environments": ${listed.length === 0 ? '[]' : `[\n${listed.join(',\n')}\n  ]`},
  "flags": ${block(entries, '  ')}
}
`;
}

function jsonEnvironment({ name, appearance }: DeclaredEnvironment): string {
  if (appearance === undefined) return json(name);
  const members = Object.entries({ name, ...appearance });
  return `{${members.map(([member, value]) => `"${member}": ${JSON.stringify(value)}`).join(', ')}}`;
}

function jsonFlag(flag: DeclaredFlag): string {
  const states = sorted(flag.states).map(([name, state]) => `        ${json(name)}: ${state}`);
  const members = [
    ...writtenDetails(flag).map(([name, text]) => `      "${name}": ${text}`),
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
function writeYamlForm({ project, environments, flags }: Declaration): string {
  const head = [`halyard: ${DECLARATION_VERSION}`, `project: ${yamlKey(project)}`];
  const listed = environments.map((environment) => `  - ${yamlEnvironment(environment)}`);
  const entries = sorted(flags).flatMap(([key, flag]) => yamlFlag(key, flag));
  const lines = [
    ...head,
    ...(listed.length === 0 ? ['environments: []'] : ['environments:', ...listed]),
    ...(entries.length === 0 ? ['flags: {}'] : ['flags:', ...entries]),
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
  const lines = [
    ...writtenDetails(flag).map(([name, text]) => `    ${name}: ${text}`),
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
