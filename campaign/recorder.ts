import type {
  AuditedWrite,
  Base,
  ChangeEvent,
  ClientSighting,
  ClientView,
  CpuWait,
  Crash,
  EndedKey,
  EventSession,
  Final,
  Frame,
  History,
  Loss,
  MissingObject,
  Read,
  Restart,
  Silence,
  StreamSession,
  Write,
} from './checker/history.ts';
import { now } from './clock.ts';

/** A record that its end is added to. */
type Unfinished<Session> = { -readonly [Member in keyof Session]: Session[Member] };

type How = NonNullable<StreamSession['ended']>['how'];

/** A session that is still open: its recorder adds frames and, once, how it ended. */
export interface OpenSession {
  readonly session: StreamSession;
  frame(frame: Frame): void;
  end(how: How, at: number): void;
}

/** The same of a stream of events. */
export interface OpenEventSession extends Pick<OpenSession, 'end'> {
  readonly session: EventSession;
  event(event: ChangeEvent): void;
}

/** Writes down what happens to everybody. The only thing the checker gets to see. */
export class Recorder {
  readonly #environments = new Map<string, Base>();
  readonly #writes: Write[] = [];
  readonly #streams: StreamSession[] = [];
  readonly #eventStreams: EventSession[] = [];
  readonly #clients: ClientView[] = [];
  readonly #reads: Read[] = [];
  readonly #endedKeys: EndedKey[] = [];
  readonly #losses: Loss[] = [];
  readonly #cpuWaits: CpuWait[] = [];
  readonly #restarts: Restart[] = [];
  readonly #silences: Silence[] = [];
  readonly #missingObjects: MissingObject[] = [];
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

  cpuWait(wait: CpuWait): void {
    this.#cpuWaits.push(wait);
  }

  restart(restart: Restart): void {
    this.#restarts.push(restart);
  }

  silence(silence: Silence): void {
    this.#silences.push(silence);
  }

  missingObject(missing: MissingObject): void {
    this.#missingObjects.push(missing);
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
    const session: Unfinished<StreamSession> = { ...opening, frames };
    this.#streams.push(session);
    return {
      session,
      frame: (frame) => {
        if (!this.#isSealed) frames.push({ ...frame, content: this.#shared(frame.content) });
      },
      end: (how, at) => this.#end(session, how, at),
    };
  }

  /** Begins the record of a stream of events that was opened. */
  openEventSession(opening: Omit<EventSession, 'frames' | 'ended'>): OpenEventSession {
    const frames: ChangeEvent[] = [];
    const session: Unfinished<EventSession> = { ...opening, frames };
    this.#eventStreams.push(session);
    return {
      session,
      event: (event) => {
        if (!this.#isSealed) frames.push(event);
      },
      end: (how, at) => this.#end(session, how, at),
    };
  }

  /** Begins the record of a client library; the function that it returns adds what the client shows. */
  openClient(reader: string, environment: string): (sighting: ClientSighting) => void {
    const sightings: ClientSighting[] = [];
    this.#clients.push({ reader, environment, sightings });
    return (sighting) => {
      if (!this.#isSealed) sightings.push(sighting);
    };
  }

  #end(session: { ended?: StreamSession['ended'] }, how: How, at: number): void {
    if (!this.#isSealed) session.ended ??= { how, at };
  }

  /** Ends the record and returns it. Streams that end later count as open at the end. */
  seal(counterFlag: string): History {
    this.#isSealed = true;
    return {
      counterFlag,
      environments: this.#environments,
      writes: this.#writes,
      streams: this.#streams,
      eventStreams: this.#eventStreams,
      clients: this.#clients,
      reads: this.#reads,
      endedKeys: this.#endedKeys,
      losses: this.#losses,
      // A fault that freezes a node knows for how long only in the end.
      cpuWaits: this.#cpuWaits.toSorted((a, b) => a.from - b.from),
      restarts: this.#restarts,
      silences: this.#silences,
      missingObjects: this.#missingObjects,
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
