/** How a page follows the stream. Loaded by pages only; without imports, so that it is a chunk of its own. */
import type { ForeignChange, followStream, StreamEvents } from './stream.ts';
import type { Target } from './target.ts';

/** How long the tab with the stream may be silent before it is asked whether it still works: three heartbeats. */
const SILENCE_MS = 45_000;

/** Whether the page has been left, and may come back from the back/forward cache of the browser. */
let isAway = false;

/** What tabs post to each other. */
type Message =
  /** From the tab with the stream: it is open, and its next change. Without either, a sign of life. */
  | { readonly revision?: number | undefined; readonly change?: ForeignChange }
  /** From the tab with the stream: the stream broke. */
  | 'end'
  /** To the tab with the stream: asks for the map that it has, or for a sign of life. */
  | 'ask'
  | 'ping';

/** The part of the Web Locks API that is used; absent where the page is not a secure context. */
interface Locks {
  request(name: string, options: object, callback: () => Promise<void>): Promise<void>;
}

/** A page that follows the stream, by itself or with others. */
interface Tab {
  follow(): Promise<void>;
  onShown(): void;
  onHidden(): void;
  /** The network is back, or the tab was frozen: its own stream may be dead. */
  onReturn(): void;
}

/**
 * Follows the stream from a page, like `followStream` (`own`). Browsers open six connections to an origin over HTTP/1.1,
 * and a stream in each tab would leave none for the seventh. The tabs of an origin therefore share one, if they can:
 * without Web Locks, or with headers of the application's own, a hidden tab gives the stream up until it is shown.
 *
 * A page that is left gives up its stream and its lock, which would keep it out of the browser's back/forward cache, and
 * begins again when it is shown. A tab whose network is back, or that was frozen, opens a new stream, as its own may be dead.
 *
 * Throws `left` when the stream was given up on purpose.
 */
export async function followInPage(
  own: typeof followStream,
  left: object,
  target: Target,
  controller: AbortController,
  events: StreamEvents,
): Promise<void> {
  const { signal } = controller;
  if (isAway) await shownAgain(signal);
  signal.throwIfAborted(); // the client was closed while this part was loaded, or the page was away

  const { document, navigator } = globalThis as {
    document?: Document;
    navigator?: { readonly locks?: Locks };
  };
  const locks = target.isPlain && typeof BroadcastChannel === 'function' && navigator?.locks;
  const leave = () => controller.abort(left);
  const tab: Tab = locks
    ? sharingTab(locks, own, left, target, controller, events)
    : {
        follow: async () => {
          await shown(document, signal);
          await own(target, controller, events);
        },
        onShown: () => {},
        onHidden: leave,
        onReturn: leave,
      };

  const over = new AbortController();
  const on = (source: Partial<EventTarget> | undefined, type: string, listener: () => void) =>
    source?.addEventListener?.(type, listener, { signal: over.signal });
  on(document, 'visibilitychange', () => (document?.hidden ? tab.onHidden() : tab.onShown()));
  on(document, 'resume', tab.onReturn);
  on(globalThis, 'online', tab.onReturn);
  on(globalThis, 'pagehide', () => {
    isAway = true;
    leave();
  });

  try {
    await tab.follow();
  } catch (thrown) {
    throw signal.aborted ? signal.reason : thrown;
  } finally {
    over.abort();
  }
}

/**
 * A tab that shares the stream with the others of its origin. The one that holds a lock has the stream and posts each
 * change. The others wait for the lock, which they take from a tab that is silent.
 */
function sharingTab(
  locks: Locks,
  own: typeof followStream,
  left: object,
  target: Target,
  controller: AbortController,
  events: StreamEvents,
): Tab {
  const { signal } = controller;
  // The number is that of the messages: tabs with an older script have a stream beside this one.
  const name = `halyard/2 ${target.baseUrl} ${target.environment}`;
  const channel = new BroadcastChannel(name);
  const post = (message: Message) => channel.postMessage(message);
  const queue = new AbortController();
  const waiting = createWaiting(post, target, events, () => queue.abort(left));
  const leading = createLeading(post, events);

  let role: 'waits' | 'leads' | 'led' = 'waits';
  const lead = async () => {
    role = 'leads';
    waiting.stop();
    try {
      await own(target, controller, leading.events);
    } finally {
      role = 'led';
      if (!signal.aborted) post('end');
    }
  };
  const leave = () => controller.abort(left);

  return {
    follow: async () => {
      signal.addEventListener('abort', () => queue.abort(signal.reason));
      channel.onmessage = ({ data }: { readonly data: unknown }) => {
        try {
          (role === 'waits' ? waiting : leading).hear(data as Message); // posted by this very function in another tab
        } catch (thrown) {
          controller.abort(thrown);
        }
      };

      waiting.ask('ask');
      try {
        await locks.request(name, { signal: queue.signal }, lead).catch((thrown: unknown) => {
          if (queue.signal.reason !== left || signal.aborted) throw thrown;
          return locks.request(name, { steal: true }, lead);
        });
      } catch (thrown) {
        // A lock that was taken from us goes to a tab that could not hear us.
        throw role === 'leads' ? left : thrown;
      } finally {
        waiting.stop();
        channel.close();
      }
    },

    onShown: () => {
      if (role === 'waits') waiting.ask('ask');
    },
    onHidden: () => {
      if (role !== 'waits' && leading.isFollowed()) leave();
    },
    onReturn: () => {
      if (role !== 'waits') leave();
    },
  };
}

/** What a tab does that waits for the lock: it takes the changes of the other, and asks for signs of life. */
function createWaiting(
  post: (message: Message) => void,
  { platform, requestTimeoutMs }: Target,
  events: StreamEvents,
  onSilent: () => void,
) {
  let isOpen = false;
  let stop = () => {};
  const expectSign = (ms: number, otherwise: () => void) => {
    stop();
    stop = platform.setTimer(otherwise, ms);
  };
  const ask = (question: 'ask' | 'ping') => {
    post(question);
    expectSign(requestTimeoutMs, onSilent);
  };

  const hear = (message: Message) => {
    if (message === 'end') throw new Error('the stream of the tab that holds it broke');
    if (message === 'ask' || message === 'ping') return;

    // All tabs spread, lest each of them asks.
    expectSign(SILENCE_MS * (1 + platform.random() / 4), () => ask('ping'));
    const { change } = message;
    // A change that was posted before this tab had asked: the whole map is on its way.
    if (!isOpen && change && change.from !== null) return;

    if (!isOpen && 'revision' in message) {
      isOpen = true;
      events.onOpen(message.revision);
    }
    if (change) events.onMapChange(change);
  };
  return { ask, hear, stop: () => stop() };
}

/** What a tab does that holds the lock: it posts what its stream brings, and answers the others' questions. */
function createLeading(post: (message: Message) => void, events: StreamEvents) {
  /** What a tab needs to know that begins now. */
  let last: Message = {};
  /** The revision with which the stream began. */
  let openedAt: number | undefined;
  let isFollowed = false;

  const shared: StreamEvents = {
    ...events,
    onOpen: (revision) => {
      openedAt = revision;
      last = { revision };
      post(last);
      events.onOpen(revision);
    },
    onMapChange: (change) => {
      post({ revision: openedAt, change });
      const set = events.onMapChange(change);
      last = { revision: openedAt, change: { from: null, to: change.to, set } };
      return set;
    },
  };
  /** Timers of hidden tabs are slow, messages are not. */
  const hear = (message: Message) => {
    if (message === 'ask') post(last);
    else if (message === 'ping') post({});
    else return;
    isFollowed = true;
  };
  return { events: shared, hear, isFollowed: () => isFollowed };
}

/** The document of the page, or what a test or another runtime has in its place. */
type Document = Partial<EventTarget> & { readonly hidden?: boolean };

/** Resolves when the page comes back from the back/forward cache, or the signal is aborted. */
async function shownAgain(signal: AbortSignal): Promise<void> {
  await new Promise((resolve) => {
    globalThis.addEventListener('pageshow', resolve, { once: true, signal });
    signal.addEventListener('abort', resolve, { once: true });
  });
  isAway = false;
}

/** Resolves when the page is shown, or the signal is aborted. */
async function shown(document: Document | undefined, signal: AbortSignal): Promise<void> {
  while (document?.hidden && !signal.aborted)
    await new Promise((resolve) => {
      document.addEventListener?.('visibilitychange', resolve, { once: true, signal });
      signal.addEventListener('abort', resolve, { once: true });
    });
}
