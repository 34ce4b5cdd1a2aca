import {
  evaluate,
  evaluateOfrep,
  type FlagState,
  memberText,
  type OfrepEventStream,
  type OfrepFailure,
  type OfrepSuccess,
} from '@halyard/protocol';
import { parseStored } from '../../domain/flag-state-text.ts';
import type { StateText } from '../../domain/project.ts';
import type { LiveEnvironment } from '../catalog/live-environment.ts';
import { type Representation, readHeaders } from '../catalog/representation.ts';
import { NegotiatedAnswer } from '../serving/negotiated-answer.ts';
import { VARY } from './dialect.ts';
import { manifestOf } from './manifest.ts';

const encoder = new TextEncoder();

/** The last bulk answers of an environment are kept up to this size together. */
const MAX_KEPT_BYTES = 256 * 1024;

/** What one flag answers one target, as JSON. */
export class EncodedAnswer {
  readonly text: string;
  /** Absent where it says why there is no answer. */
  readonly variant: 'on' | 'off' | undefined;
  #bytes: Uint8Array | undefined;

  constructor(text: string, variant?: 'on' | 'off') {
    this.text = text;
    this.variant = variant;
  }

  /** The text in UTF-8. */
  get bytes(): Uint8Array {
    this.#bytes ??= encoder.encode(this.text);
    return this.#bytes;
  }
}

/** One flag of one environment, at one state. Each of its answers is encoded once, when it is first needed. */
export class EvaluatedFlag {
  readonly key: string;
  /** The state from which it was made. */
  readonly text: StateText;
  /** What it answers without a target, and where no target matters, everyone. */
  readonly untargeted: EncodedAnswer;
  readonly #environment: string;
  readonly #state: FlagState;
  /** What it answers those inside and outside of its rollout. */
  #inside: EncodedAnswer | undefined;
  #outside: EncodedAnswer | undefined;

  constructor(environment: string, key: string, text: StateText) {
    this.text = text;
    this.key = key;
    this.#environment = environment;
    // `FlagState`: the catalog holds no state that cannot be read.
    this.#state = parseStored(text) as FlagState;
    this.untargeted = this.#encode(this.#evaluate(undefined));
  }

  /** Whether the targeting key decides: without one there is no answer. */
  get isTargeted(): boolean {
    return this.untargeted.variant === undefined;
  }

  /** What it answers a target. */
  answer(targetingKey: string | undefined): EncodedAnswer {
    if (targetingKey === undefined || !this.isTargeted) return this.untargeted;
    const { isOn } = evaluate(this.key, this.#state, targetingKey);
    const known = isOn ? this.#inside : this.#outside;
    if (known !== undefined) return known;
    const made = this.#encode(this.#evaluate(targetingKey));
    if (isOn) this.#inside = made;
    else this.#outside = made;
    return made;
  }

  #evaluate(targetingKey: string | undefined): OfrepSuccess | OfrepFailure {
    return evaluateOfrep(this.key, this.#state, { environment: this.#environment, targetingKey });
  }

  /** The answer as JSON; a value of the flag keeps the notation in which it was written. */
  #encode(answer: OfrepSuccess | OfrepFailure): EncodedAnswer {
    if ('errorCode' in answer) return new EncodedAnswer(JSON.stringify(answer));
    const { value, ...rest } = answer;
    const { variant } = answer;
    const written = variant === 'on' ? memberText(this.text, ['value']) : undefined;
    if (written === undefined) return new EncodedAnswer(JSON.stringify(answer), variant);
    return new EncodedAnswer(`${JSON.stringify(rest).slice(0, -1)},"value":${written}}`, variant);
  }
}

/** All that is kept for one revision. */
interface AtRevision {
  readonly revision: number;
  /** The header fields of answers without a tag. */
  readonly headers: Headers;
  /** The header fields of bulk answers; each answer writes its tag into them. */
  readonly bulkHeaders: Headers;
  /** The last bulk answers by their tag: a key without partial rollouts gets one and the same. */
  readonly answers: Map<string, NegotiatedAnswer>;
  set?: FlagSet;
  manifest?: Representation;
}

/** All flags in the order of their keys, ready to answer any target. */
interface FlagSet {
  /** The bulk answer in order: encoded bytes that are the same for everyone, and flags for which the targeting key decides. */
  readonly pieces: readonly (Uint8Array | EvaluatedFlag)[];
  /** Tells this set from every other, also of another revision. */
  readonly tag: string;
}

/**
 * The flags of one environment as OFREP answers them. An answer is encoded once and kept for as long as its flag keeps
 * its state. The answer to a bulk read is built once per revision, except for partial rollouts, which each request evaluates.
 */
export class EvaluatedEnvironment {
  readonly #environment: LiveEnvironment;
  readonly #flags = new Map<string, EvaluatedFlag>();
  #current: AtRevision;

  constructor(environment: LiveEnvironment) {
    this.#environment = environment;
    this.#current = atRevision(environment.revision);
  }

  /** The header fields of answers without a tag. */
  get headers(): Headers {
    return this.#now().headers;
  }

  /** A flag as it is now; `undefined` where it does not exist. */
  flag(key: string): EvaluatedFlag | undefined {
    const text = this.#environment.state(key);
    return text === undefined ? undefined : this.#evaluated(key, text);
  }

  /**
   * All flags as they are now, for a target, with the event streams that tell of changes. The tag is of the set and of
   * what the targeting key decides; an answer that is among the last ones is not made again.
   */
  bulk(targetingKey: string | undefined, eventStreams: readonly OfrepEventStream[]): NegotiatedAnswer {
    const now = this.#now();
    now.set ??= this.#makeSet(now.revision);
    let decisions = '';
    const parts = now.set.pieces.map((piece) => {
      if (piece instanceof Uint8Array) return piece;
      const { variant, bytes } = piece.answer(targetingKey);
      decisions += variant === 'on' ? '1' : variant === 'off' ? '0' : '-';
      return bytes;
    });
    const end = eventStreams.length === 0 ? '}' : `,"eventStreams":${JSON.stringify(eventStreams)}}`;
    const etag = `"${now.set.tag}-${shortHash(decisions)}-${shortHash(end)}"`;
    const known = now.answers.get(etag);
    if (known !== undefined) return known;
    const made = new NegotiatedAnswer(etag, now.bulkHeaders, [...parts, encoder.encode(end)]);
    now.answers.set(etag, made);
    forgetOldest(now.answers);
    return made;
  }

  /** The manifest of the flags as they are now. */
  manifest(): Representation {
    const now = this.#now();
    now.manifest ??= manifestOf(this.#sorted(), now.revision);
    return now.manifest;
  }

  #now(): AtRevision {
    const { revision } = this.#environment;
    if (this.#current.revision !== revision) this.#current = atRevision(revision);
    return this.#current;
  }

  #evaluated(key: string, text: StateText): EvaluatedFlag {
    const known = this.#flags.get(key);
    if (known?.text === text) return known;
    const made = new EvaluatedFlag(this.#environment.name, key, text);
    this.#flags.set(key, made);
    if (this.#flags.size > this.#environment.size) this.#forgetGone();
    return made;
  }

  #forgetGone(): void {
    for (const key of this.#flags.keys())
      if (this.#environment.state(key) === undefined) this.#flags.delete(key);
  }

  #sorted(): readonly (readonly [key: string, text: StateText])[] {
    return [...this.#environment.states()].sort(([a], [b]) => (a < b ? -1 : 1));
  }

  #makeSet(revision: number): FlagSet {
    const pieces: (string | EvaluatedFlag)[] = [];
    let run = '{"flags":[';

    for (const [index, [key, text]] of this.#sorted().entries()) {
      if (index > 0) run += ',';
      const flag = this.#evaluated(key, text);
      if (flag.isTargeted) {
        pieces.push(run, flag);
        run = '';
      } else {
        run += flag.untargeted.text;
      }
    }

    pieces.push(`${run}],"metadata":${JSON.stringify({ environment: this.#environment.name, revision })}`);

    const content = pieces.map((piece) => (typeof piece === 'string' ? piece : `${piece.key} ${piece.text}`));
    return {
      pieces: pieces.map((piece) => (typeof piece === 'string' ? encoder.encode(piece) : piece)),
      // 128 bits of SHA-256, as in the tags of `/v1`.
      tag: Bun.SHA256.hash(content.join('\n'), 'hex').slice(0, 32),
    };
  }
}

function atRevision(revision: number): AtRevision {
  const headers = readHeaders(revision, VARY);
  const bulkHeaders = readHeaders(revision, `${VARY}, Accept-Encoding`);
  return { revision, headers, bulkHeaders, answers: new Map() };
}

/** Leaves the newest answers: the last one, and more while all of them are small. */
function forgetOldest(answers: Map<string, NegotiatedAnswer>): void {
  let size = 0;
  for (const answer of answers.values()) size += answer.size;
  for (const [etag, answer] of answers) {
    if (size <= MAX_KEPT_BYTES || answers.size === 1) return;
    answers.delete(etag);
    size -= answer.size;
  }
}

function shortHash(text: string): string {
  return Bun.hash(text).toString(36);
}
