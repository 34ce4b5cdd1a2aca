import { onAbort } from './abort.ts';
import { FlagsError } from './errors.ts';
import type { Platform } from './platform.ts';

/** A destination of log lines: `console`, or your own logger. */
export interface Logger {
  /** Called with failures if there is no `onError`, and with hints for developers; each kind at most once a minute. */
  warn(message: string): void;
  /**
   * Called with what a connection does, such as `stream opened, revision 7`. Clients that share a connection use the logger of
   * the first one. The default logger has no `debug`.
   */
  debug?(message: string): void;
}

/** Brings failures to the application, whatever the application does with them. */
export interface Reporter {
  /** A failure, to `onError`; without one, to the log. */
  readonly report: (error: FlagsError) => void;
  /** A hint for developers, to the log. `topic` is what must not be repeated within a minute. */
  readonly warn: (topic: string, message: string) => void;
  /** Makes a set of listeners. What they throw, or reject with, is reported. */
  readonly listeners: <Event>() => Listeners<Event>;
}

/** The application's listeners for one kind of event. */
export interface Listeners<Event> {
  /** Adds one until the given function is called or the signal is aborted; for nothing after `forgetAll`. The same function may be added twice. */
  readonly add: (listener: unknown, options?: { readonly signal?: AbortSignal }) => () => void;
  /** Calls every current listener, except those that are removed before their turn. */
  readonly tellAll: (event: Event) => void;
  /** Forgets them all, for good. */
  readonly forgetAll: () => void;
}

/** Makes a reporter from whatever the options held as `onError` and `logger`. */
export function createReporter(now: Platform['now'], onError: unknown, logger: unknown): Reporter {
  /** The same kind of failure is logged at most this often. */
  const QUIET_MS = 60_000;
  const quietUntil = new Map<string | number, number>();
  const warn = (topic: string | number, message: string) => {
    if (logger === false || now() < (quietUntil.get(topic) ?? 0)) return;
    quietUntil.set(topic, now() + QUIET_MS);
    // The guard also handles an invalid logger. One that throws cannot be reported.
    guard(
      () => ((logger ?? console) as Logger).warn(`[halyard] ${message}`),
      () => {},
    );
  };

  const report = (error: FlagsError) => {
    if (typeof onError === 'function')
      guard(
        () => onError(error),
        () => warn('onError', 'onError threw'),
      );
    // The codes of a server have no end, but its statuses have.
    else
      warn(
        error.status ?? error.code,
        `${error.code}: ${error.message}${error.docs ? ` (${error.docs})` : ''}`,
      );
  };

  const onFailure = (cause: unknown) =>
    report(new FlagsError('listener_error', 'a listener threw', { cause }));
  const listeners = <Event>(): Listeners<Event> => {
    /** Each listener with what removes it, from its signal too. */
    const entries = new Map<(event: Event) => void, () => void>();
    let isOver = false;
    return {
      add: (listener, options) => {
        const signal = isOver ? undefined : optionOf(options, 'signal');
        const entry = (event: Event) => {
          if (typeof listener === 'function') guard(() => listener(event), onFailure);
        };
        const remove = () => {
          entries.delete(entry);
          stopWaiting();
        };
        if (!optionOf(signal, 'aborted')) entries.set(entry, remove);
        const stopWaiting = onAbort(signal, remove);
        return remove;
      },
      tellAll: (event) => {
        for (const [entry] of [...entries]) if (entries.has(entry)) entry(event);
      },
      forgetAll: () => {
        isOver = true;
        for (const remove of entries.values()) remove();
      },
    };
  };

  return { report, warn, listeners };
}

/** An option, which foreign code may give from a getter: one that throws gives none. */
export function optionOf<T, Name extends keyof T>(options: T | undefined, name: Name): T[Name] | undefined {
  try {
    return options?.[name];
  } catch {
    return undefined;
  }
}

/** Runs foreign code. Its exception, or the rejection of the promise it gives, goes to `onFailure`. */
export function guard(run: () => unknown, onFailure: (thrown: unknown) => void): void {
  try {
    const result = run();
    if (result) Promise.resolve(result).catch(onFailure);
  } catch (thrown) {
    onFailure(thrown);
  }
}

/** Makes an `onError` that puts the first failure on the console, for functions beside a client. */
export function warnOnce(message: string): (thrown: unknown) => void {
  let hasWarned = false;
  return (thrown) => {
    if (hasWarned) return;
    hasWarned = true;
    // biome-ignore lint/suspicious/noConsole: the application named no other place
    console.warn(`[halyard] ${message}`, thrown);
  };
}
