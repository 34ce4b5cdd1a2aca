/** Reports how often flags are read. Loaded when a server asks for it; without imports, so that it is a chunk of its own. */
import type { Target } from './target.ts';

/** How often each flag was on for the reader, and how often off. */
export type ReadCounts = Map<string, [on: number, off: number]>;

/** Where reports go. (Spec: S17.3) */
const PATH = '/usage/v1';

/** Least time between two reports, whatever the server says. */
const LEAST_SECONDS = 60;

/** What one report may have. (Spec: S17.5) */
const [MAX_FLAGS, MAX_COUNT] = [1_000, 1e9];

/** How long the last report may take. */
const CLOSE_MS = 1_000;

/** The reports of a connection. */
type Reports = ReturnType<typeof createReports>;

const open = new WeakMap<Target, Reports>();

/**
 * Notes that the server asks for reports, `seconds` apart. Returns the function that sends the last one; it takes a second at
 * most and never rejects.
 */
export function hear(target: Target, seconds: string): () => Promise<void> {
  const reports = open.get(target) ?? createReports(target);
  open.set(target, reports);
  reports.hear(Number(seconds) || 0);
  return reports.close;
}

function createReports(target: Target) {
  const { platform, mode, note } = target;
  let intervalMs = LEAST_SECONDS * 1_000;
  let lastAt = platform.now();
  let cancelTimer: (() => void) | undefined;
  let sending: Promise<void> | undefined;

  const end = () => {
    cancelTimer?.();
    target.counts = undefined;
    open.delete(target);
  };
  /** Sends counts in reports of a size that servers accept. Counts that were not accepted are kept for the next report. */
  const send = async (limitMs: number) => {
    const entries = [...(target.counts ?? [])];
    if (!entries.length) return;
    target.counts = new Map();
    lastAt = platform.now();

    while (entries.length) {
      const status = await post(target, entries.slice(0, MAX_FLAGS), limitMs);
      note(`usage reported, ${status || 'no answer'}`);
      // The server has stopped asking, or takes no reports.
      if (status === 401 || status === 404 || status === 405) return end();
      if (status !== 204 && status !== 400) break;
      entries.splice(0, MAX_FLAGS); // those of a report that is refused would be refused again
    }

    for (const [key, [on, off]] of entries) {
      const since = target.counts?.get(key) ?? [0, 0];
      target.counts?.set(key, [since[0] + on, since[1] + off]);
    }
  };
  const sendAlone = () => {
    sending ??= send(target.requestTimeoutMs).finally(() => {
      sending = undefined;
    });
    return sending;
  };

  const schedule = () => {
    // A tenth later at most, so that clients spread.
    cancelTimer = platform.setTimer(
      () => void sendAlone().then(() => open.has(target) && schedule()),
      intervalMs * (1 + platform.random() / 10),
    );
  };

  return {
    hear: (seconds: number) => {
      intervalMs = Math.max(LEAST_SECONDS, seconds) * 1_000;
      // Where the application decides when to load, there may be no timers between.
      if (mode !== 'manual') {
        if (!cancelTimer) schedule();
      } else if (platform.now() - lastAt >= intervalMs) void sendAlone();
    },
    close: async () => {
      cancelTimer?.();
      let cancel = () => {};
      const late = new Promise<void>((resolve) => {
        cancel = platform.setTimer(resolve, CLOSE_MS, true); // the application waits for it
      });

      // A report that is on its way may take longer, and is not waited for.
      const last = Promise.resolve(sending).then(() => send(CLOSE_MS));
      await Promise.race([last, late]);
      cancel();
      end();
    },
  };
}

/** Sends one report; gives the status of the answer, 0 without one. */
function post(
  { platform, baseUrl, environment, headers }: Target,
  entries: readonly (readonly [key: string, counts: readonly [on: number, off: number]])[],
  limitMs: number,
): Promise<number> {
  const flags: Record<string, object> = Object.create(null);
  for (const [key, [on, off]] of entries)
    flags[key] = { on: Math.min(on, MAX_COUNT), off: Math.min(off, MAX_COUNT) };

  const controller = new AbortController();
  const ask = async () => {
    const init = new Headers(headers);
    init.set('Content-Type', 'application/json');
    const response = await platform.fetch(`${baseUrl}${PATH}`, {
      method: 'POST',
      headers: init,
      body: JSON.stringify({ env: environment, flags }),
      signal: controller.signal,
      redirect: 'manual', // the key would go with it
    });
    response.body?.cancel().catch(() => {});
    return response.status;
  };

  return new Promise((resolve) => {
    // Work that ignores the signal holds up no caller.
    const cancel = platform.setTimer(() => {
      controller.abort();
      resolve(0);
    }, limitMs);
    void ask()
      .catch(() => 0)
      .finally(cancel)
      .then(resolve);
  });
}
