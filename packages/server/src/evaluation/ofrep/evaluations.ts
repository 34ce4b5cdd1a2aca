import {
  evaluate,
  evaluateOfrep,
  type FlagState,
  memberText,
  type OfrepFailure,
  type OfrepSuccess,
} from '@halyard/protocol';
import { parseStored } from '../../domain/flag-state-text.ts';
import type { StateText } from '../../domain/project.ts';
import type { LiveEnvironment } from '../catalog/live-environment.ts';
import { readHeaders } from '../catalog/representation.ts';
import { VARY } from './dialect.ts';

const encoder = new TextEncoder();

/** What one flag answers one target. */
export interface EncodedAnswer {
  /** Whether it is an answer to the question, and not why there is none. */
  readonly isSuccess: boolean;
  readonly bytes: Uint8Array;
}

/** One flag of one environment, at one state. Each of its answers is encoded once, when it is first needed. */
export class EvaluatedFlag {
  /** The state from which it was made. */
  readonly text: StateText;
  /** What it answers without a target, and where no target matters, everyone. */
  readonly untargeted: EncodedAnswer;
  readonly #key: string;
  readonly #environment: string;
  readonly #state: FlagState;
  /** What it answers those inside and outside of its rollout. */
  #inside: EncodedAnswer | undefined;
  #outside: EncodedAnswer | undefined;

  constructor(environment: string, key: string, text: StateText) {
    this.text = text;
    this.#key = key;
    this.#environment = environment;
    // `FlagState`: the catalog holds no state that cannot be read.
    this.#state = parseStored(text) as FlagState;
    this.untargeted = this.#encode(this.#evaluate(undefined));
  }

  /** Whether the targeting key decides: without one there is no answer. */
  get isTargeted(): boolean {
    return !this.untargeted.isSuccess;
  }

  /** What it answers a target. */
  answer(targetingKey: string | undefined): EncodedAnswer {
    if (targetingKey === undefined || !this.isTargeted) return this.untargeted;
    const { isOn } = evaluate(this.#key, this.#state, targetingKey);
    const known = isOn ? this.#inside : this.#outside;
    if (known !== undefined) return known;
    const made = this.#encode(this.#evaluate(targetingKey));
    if (isOn) this.#inside = made;
    else this.#outside = made;
    return made;
  }

  #evaluate(targetingKey: string | undefined): OfrepSuccess | OfrepFailure {
    return evaluateOfrep(this.#key, this.#state, { environment: this.#environment, targetingKey });
  }

  /** The answer as JSON; a value of the flag keeps the notation in which it was written. */
  #encode(answer: OfrepSuccess | OfrepFailure): EncodedAnswer {
    if ('errorCode' in answer) return { isSuccess: false, bytes: encodeJson(answer) };
    const { value, ...rest } = answer;
    const written = answer.variant === 'on' ? memberText(this.text, ['value']) : undefined;
    if (written === undefined) return { isSuccess: true, bytes: encodeJson(answer) };
    return {
      isSuccess: true,
      bytes: encoder.encode(`${JSON.stringify(rest).slice(0, -1)},"value":${written}}`),
    };
  }
}

/** The flags of one environment as OFREP answers them. An answer is kept for as long as the state of its flag stays. */
export class EvaluatedEnvironment {
  readonly #environment: LiveEnvironment;
  readonly #flags = new Map<string, EvaluatedFlag>();
  #headers: Headers | undefined;
  #headersRevision = -1;

  constructor(environment: LiveEnvironment) {
    this.#environment = environment;
  }

  /** A flag as it is now; `undefined` where it does not exist. */
  flag(key: string): EvaluatedFlag | undefined {
    const text = this.#environment.state(key);
    if (text === undefined) return undefined;
    const known = this.#flags.get(key);
    return known?.text === text ? known : this.#make(key, text);
  }

  /** The header fields of every answer without a validator at this revision. */
  headers(): Headers {
    const { revision } = this.#environment;
    if (this.#headers === undefined || this.#headersRevision !== revision) {
      this.#headers = readHeaders(revision, VARY);
      this.#headersRevision = revision;
    }
    return this.#headers;
  }

  #make(key: string, text: StateText): EvaluatedFlag {
    const made = new EvaluatedFlag(this.#environment.name, key, text);
    this.#flags.set(key, made);
    // More of them than there are flags: some flags are gone.
    if (this.#flags.size > this.#environment.size) this.#removeGone();
    return made;
  }

  #removeGone(): void {
    for (const key of this.#flags.keys())
      if (this.#environment.state(key) === undefined) this.#flags.delete(key);
  }
}

function encodeJson(data: object): Uint8Array {
  return encoder.encode(JSON.stringify(data));
}
