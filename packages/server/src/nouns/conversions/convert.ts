import { FLAG_KEY_PATTERN } from '@halyard/protocol';
import { ServiceError } from '../../domain/errors.ts';
import { buildState } from '../../domain/flag-state-text.ts';
import { type FlagDetails, PLAIN_DETAILS, type StateText } from '../../domain/project.ts';
import { shorten } from '../../domain/text.ts';
import { checkDetails, checkName, MAX_TAGS, MAX_TEXT } from '../../management/rules.ts';
import type { Declaration, DeclaredFlag } from '../documents/document.ts';
import type { ConversionRules, FoundFlag, FoundState, Note } from './conversion.ts';
import { ConversionError, Piece } from './piece.ts';
import { SERVICES, type ServiceName } from './services.ts';
import { Variants } from './variants.ts';

/** A file to convert. */
export interface SourceFile {
  /** For messages. */
  readonly name: string;
  /** The environment that it is of, where the format does not say so. */
  readonly environment?: string;
  readonly data: unknown;
}

/** What to convert, and how. */
export interface ConversionRequest extends ConversionRules {
  readonly from: ServiceName;
  readonly project: string;
  /** The environments to take, by the names that the files give them, with their names here. Default: all, by the same names. */
  readonly environments?: ReadonlyMap<string, string>;
}

/** How a flag fared. `skipped`: it is not in the document. */
export type Outcome = 'kept' | Note['outcome'] | 'skipped';

/** A {@link Note} about a flag, with the environment that it concerns. */
export interface FlagNote extends Note {
  readonly environment?: string;
}

/** What became of one flag. */
export interface FlagReport {
  readonly key: string;
  readonly outcome: Outcome;
  readonly notes: readonly FlagNote[];
}

/** What became of everything. */
export interface ConversionReport {
  readonly from: ServiceName;
  readonly project: string;
  readonly environments: readonly string[];
  readonly warnings: readonly string[];
  readonly flags: readonly FlagReport[];
}

/** A document, and how it differs from what it was made of. */
export interface Conversion {
  readonly declaration: Declaration;
  readonly report: ConversionReport;
}

/**
 * Converts files of another service into a document for an import. Where something is left out, the flag is off. Throws a
 * {@link ConversionError} with the file and the place for what is not in the service's format.
 */
export function convert(files: readonly SourceFile[], request: ConversionRequest): Conversion {
  checked(() => checkName('project', request.project), '--project');
  const drafts = new Map<string, FlagDraft>();
  const environments = new Set<string>();
  const warnings = new Set<string>();

  for (const { name, environment, data } of files) {
    const root = new Piece(data, `${name}: `);
    let isNamed = false;
    const environmentOf = () => {
      isNamed = true;
      return named(name, environment);
    };
    const found = SERVICES[request.from]({ root, environment: environmentOf }, request);
    if (environment !== undefined && !isNamed && found.flags.length > 0)
      throw new ConversionError(`${name} names its environments itself: rename them with --env theirs=ours.`);

    for (const warning of found.warnings ?? []) warnings.add(warning);
    for (const flag of found.flags) {
      const draft = drafts.get(flag.key) ?? new FlagDraft(flag);
      drafts.set(flag.key, draft);
      draft.declare(flag);
      for (const [theirs, state] of flag.states) {
        const ours = request.environments === undefined ? theirs : request.environments.get(theirs);
        if (ours === undefined) continue;
        checked(
          () => checkName('environment', ours),
          `${flag.place}: give it another name with --env '${theirs}=…'`,
        );
        environments.add(ours);
        draft.add({ environment: ours, place: flag.place }, state, request);
      }
    }
  }

  requireEnvironments(request, environments);
  for (const draft of drafts.values()) draft.finish();
  const flags = new Map<string, DeclaredFlag>();
  for (const [key, draft] of drafts) if (!draft.isSkipped) flags.set(key, draft.flag());
  const { from, project } = request;
  const names = [...environments];
  return {
    declaration: { project, environments: names.map((name) => ({ name })), flags },
    report: {
      from,
      project,
      environments: names,
      warnings: [...warnings],
      flags: [...drafts].map(([key, draft]) => ({ key, outcome: draft.outcome, notes: draft.notes })),
    },
  };
}

/** One flag, while the files are read. */
class FlagDraft {
  readonly notes: FlagNote[] = [];
  readonly isSkipped: boolean;
  readonly #place: string;
  readonly #details: FlagDetails;
  readonly #isArchived: boolean;
  readonly #states = new Map<string, StateText>();
  readonly #variants = new Variants();

  constructor({ key, place, details = {}, isArchived = false }: FoundFlag) {
    this.isSkipped = !FLAG_KEY_PATTERN.test(key);
    this.#place = place;
    this.#isArchived = isArchived;
    const drop = (text: string) => this.notes.push({ outcome: 'approximated', text, place });
    this.#details = keptDetails({ ...PLAIN_DETAILS, ...details }, drop);
    if (!this.isSkipped) return;
    const text =
      'the key cannot be one here: letters, digits, dots, lines and underscores, at most 128 of them';
    this.notes.push({ outcome: 'lost', text, place });
  }

  get outcome(): Outcome {
    if (this.isSkipped) return 'skipped';
    if (this.notes.some(({ outcome }) => outcome === 'lost')) return 'lost';
    return this.notes.length > 0 ? 'approximated' : 'kept';
  }

  /** Adds what was found in one environment. */
  add(
    { environment, place }: { readonly environment: string; readonly place: string },
    { notes, ...found }: FoundState,
    { keepOn }: ConversionRules,
  ): void {
    if (this.#states.has(environment))
      throw new ConversionError(
        `${place}: the flag is there twice in ${environment}: name another environment for each file.`,
      );
    this.notes.push(...notes.map((note) => ({ ...note, environment })));
    const isLost = notes.some(({ outcome }) => outcome === 'lost');
    const enabled = found.enabled && (keepOn || !isLost);

    try {
      this.#states.set(environment, buildState({ ...found, enabled }));
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      this.notes.push({ outcome: 'lost', text: error.message, place, environment });
      this.#states.set(environment, buildState({ enabled: false }));
    }
  }

  /** Adds the values that a file names. Only notes say what is left out: programs get the same. */
  declare({ variants = [], place }: FoundFlag): void {
    for (const text of this.#variants.add(variants)) {
      const isNew = this.notes.every((note) => note.text !== text);
      if (isNew) this.notes.push({ outcome: 'approximated', text, place });
    }
  }

  /** Notes what concerns the flag as a whole. In no environment, it would be missing without a word. */
  finish(): void {
    if (this.#variants.isTooLarge) {
      const text = 'the names of its values are left out: the values are too large together';
      this.notes.push({ outcome: 'approximated', text, place: this.#place });
    }
    if (this.#states.size > 0 || this.isSkipped) return;
    this.notes.push({ outcome: 'lost', text: 'is in no environment that was taken', place: this.#place });
  }

  /** The flag as the document has it. */
  flag(): DeclaredFlag {
    const { owner, ...details } = this.#details;
    return {
      ...details,
      ...(owner !== '' && { owner }),
      namedValues: this.#variants.text,
      archived: this.#isArchived,
      states: this.#states,
    };
  }
}

/** Details that the rules accept. `drop` hears of the others. */
function keptDetails(found: FlagDetails, drop: (text: string) => void): FlagDetails {
  const isKept = (details: Partial<FlagDetails>) => {
    try {
      checkDetails(details);
      return true;
    } catch {
      return false;
    }
  };

  const description = shorten(found.description, MAX_TEXT.description);
  if (description !== found.description) drop('the description is cut');
  const owner = isKept({ owner: found.owner }) ? found.owner : '';
  if (owner !== found.owner) drop(`the owner is left out: ${JSON.stringify(found.owner)}`);
  const tags = [...new Set(found.tags)].filter((tag) => isKept({ tags: [tag] })).slice(0, MAX_TAGS);
  const dropped = found.tags.filter((tag) => !tags.includes(tag));
  if (dropped.length > 0) drop(`tags are left out: ${dropped.join(', ')}`);
  return { ...found, description, owner, tags };
}

function named(file: string, environment: string | undefined): string {
  if (environment !== undefined) return environment;
  throw new ConversionError(`${file} does not name its environment: write <environment>=${file}.`);
}

/** An environment that no file has is a slip, and its flags would be missing. */
function requireEnvironments(
  { environments: asked = new Map() }: ConversionRequest,
  found: ReadonlySet<string>,
): void {
  const missing = [...asked.values()].filter((name) => !found.has(name));
  if (missing.length > 0)
    throw new ConversionError(`The files have no environment for ${missing.join(', ')}.`);
}

function checked(check: () => void, where: string): void {
  try {
    check();
  } catch (cause) {
    throw new ConversionError(`${cause instanceof Error ? cause.message : cause} (${where})`, { cause });
  }
}
