import { FlagsError } from './errors.ts';
import type { Platform } from './platform.ts';

/** Where warnings go when nobody listens for errors. */
export interface Logger {
  warn(message: string): void;
}

/** The same kind of failure is logged at most this often. */
const QUIET_MS = 60_000;

/** Brings failures to the application, whatever the application does with them. */
export interface Reporter {
  /** A failure, to `onError`; without one, to the log. */
  report(error: FlagsError): void;
  /** A hint for developers, to the log. `topic` is what must not be repeated within a minute. */
  warn(topic: string, message: string): void;
  /** Calls a listener of the application; what it throws, or rejects with, is reported. */
  call<Argument>(listener: unknown, argument: Argument): void;
}

/** Makes a reporter from whatever the options held as `onError` and `logger`. */
export function createReporter(now: Platform['now'], onError: unknown, logger: unknown): Reporter {
  const loggedAt = new Map<string, number>();
  const warn = (topic: string, message: string) => {
    if (logger === false || now() - (loggedAt.get(topic) ?? Number.NEGATIVE_INFINITY) < QUIET_MS) return;
    loggedAt.set(topic, now());
    const sink = (logger ?? console) as Logger; // the guard around the call takes what is none
    guard(
      () => sink.warn(`[halyard] ${message}`),
      () => {
        // A logger that throws leaves nobody to tell.
      },
    );
  };
  const report = (error: FlagsError) => {
    if (typeof onError !== 'function') {
      warn(error.code, `${error.code}: ${error.message}${error.docs ? ` (${error.docs})` : ''}`);
      return;
    }
    guard(
      () => onError(error),
      () => warn('onError', 'onError itself threw'),
    );
  };
  return {
    report,
    warn,
    call: (listener, argument) => {
      if (typeof listener !== 'function') return;
      guard(
        () => listener(argument),
        (cause) => report(new FlagsError('listener_error', 'a listener threw', { cause })),
      );
    },
  };
}

/** Runs foreign code. Its exception, or the rejection of the promise it gives, goes to `onFailure`. */
function guard(run: () => unknown, onFailure: (thrown: unknown) => void): void {
  try {
    const result = run();
    if (result !== undefined) Promise.resolve(result).catch(onFailure);
  } catch (thrown) {
    onFailure(thrown);
  }
}
