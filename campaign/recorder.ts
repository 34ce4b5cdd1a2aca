import type {
  AuditedWrite,
  Base,
  Crash,
  EndedKey,
  Final,
  Frame,
  History,
  Loss,
  Read,
  StreamSession,
  Write,
} from './checker/history.ts';
import { now } from './clock.ts';

/** A session that is still open: its recorder adds frames and, once, how it ended. */
export interface OpenSession {
  readonly session: StreamSession;
  frame(content: string, at: number): void;
  end(how: 'closed' | 'cut' | 'reset' | 'left', at: number): void;
}

/** Writes down what happens to everybody. The only thing the checker gets to see. */
export class Recorder {
  readonly #environments = new Map<string, Base>();
  readonly #writes: Write[] = [];
  readonly #streams: StreamSession[] = [];
  readonly #reads: Read[] = [];
  readonly #endedKeys: EndedKey[] = [];
  readonly #losses: Loss[] = [];
  readonly #crashes: Crash[] = [];
  readonly #finals: Final[] = [];
  readonly #audit: AuditedWrite[] = [];
  readonly #texts = new Map<string, string>();
  #isSealed = false;

  base(environment: string, base: Base): void {
    this.#environments.set(environment, base);
  }

  write(write: Write): void {
    this.#writes.push(write);
  }

  read(read: Read): void {
    this.#reads.push(read.content === undefined ? read : { ...read, content: this.#shared(read.content) });
  }

  endedKey(key: EndedKey): void {
    this.#endedKeys.push(key);
  }

  loss(loss: Loss): void {
    this.#losses.push(loss);
  }

  crash(crash: Crash): void {
    this.#crashes.push(crash);
  }

  final(final: Final): void {
    this.#finals.push(final);
  }

  audited(write: AuditedWrite): void {
    this.#audit.push(write);
  }

  /** Begins the record of a stream that was opened. */
  openSession(opening: Omit<StreamSession, 'frames' | 'ended'>): OpenSession {
    const frames: Frame[] = [];
    const session: { -readonly [Member in keyof StreamSession]: StreamSession[Member] } = {
      ...opening,
      frames,
    };
    this.#streams.push(session);
    return {
      session,
      frame: (content, at) => {
        if (!this.#isSealed) frames.push({ at, content: this.#shared(content) });
      },
      end: (how, at) => {
        if (!this.#isSealed) session.ended ??= { how, at };
      },
    };
  }

  /** Ends the record and gives it. What happens to streams from here on no longer counts: they were open at the end. */
  seal(counterFlag: string): History {
    this.#isSealed = true;
    return {
      counterFlag,
      environments: this.#environments,
      writes: this.#writes,
      streams: this.#streams,
      reads: this.#reads,
      endedKeys: this.#endedKeys,
      losses: this.#losses,
      crashes: this.#crashes,
      finals: this.#finals,
      audit: this.#audit,
      endedAt: now(),
    };
  }

  /** One string for equal texts: hundreds of streams receive the same frames. */
  #shared(text: string): string {
    const known = this.#texts.get(text);
    if (known !== undefined) return known;
    this.#texts.set(text, text);
    return text;
  }
}
