/** How a page follows the stream. Loaded by pages only; without imports, so that it is a chunk of its own. */
import type { followStream, StreamEvents } from './stream.ts';
import type { Target } from './target.ts';

/** How long the tab with the stream may be silent before it is asked whether it still works: three heartbeats. */
const SILENCE_MS = 45_000;

/** Whether the page has been left, and may come back from the back/forward cache of the browser. */
let isAway = false;

/** What tabs post to each other. */
type Message =
  /** From the tab with the stream: its last frame and that frame's revision. Without either, a sign of life. */
  | { readonly revision?: number | undefined; readonly data?: unknown }
  /** From the tab with the stream: the stream broke. */
  | 'end'
  /** To the tab with the stream: asks for its last message, or for a sign of life. */
  | 'ask'
  | 'ping';

/** The part of the Web Locks API that is used; absent where the page is not a secure context. */
interface Locks {
  request(name: string, options: object, callback: () => Promise<void>): Promise<void>;
}

/**
 * Follows the stream from a page, like `followStream` (`own`). Browsers open six connections to an origin over HTTP/1.1,
 * and a stream in each tab would leave none for the seventh. The tabs of an origin therefore share one: the tab that
 * holds a lock has the stream and posts each frame to the others, which wait for the lock. Where tabs cannot share, as
 * without Web Locks or with headers of the application's own, a hidden tab gives the stream up until it is shown.
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
  const { document, navigator } = globalThis as {
    document?: Document;
    navigator?: { readonly locks?: Locks };
  };
  const { platform, baseUrl, environment, requestTimeoutMs, isPlain } = target;
  const { signal } = controller;
  if (isAway) await shownAgain(signal);
  signal.throwIfAborted(); // the client was closed while this part was loaded, or the page was away

  const locks = isPlain && typeof BroadcastChannel === 'function' ? navigator?.locks : undefined;
  const name = `halyard/1 ${baseUrl} ${environment}`;
  const channel = locks && new BroadcastChannel(name);
  /** Waiting for the lock, which ends when the tab that holds it is silent: then it is taken from that tab. */
  const queue = new AbortController();

  let cancelSilence = () => {};
  let last: Message = {};
  let isOpen = false;
  let isLeading = false;
  let hasEnded = false;
  let isFollowed = false;

  const post = (message: Message) => channel?.postMessage(message);
  const ask = (question: 'ask' | 'ping') => {
    post(question);
    expectSign(requestTimeoutMs, () => queue.abort(left));
  };
  const expectSign = (ms: number, otherwise: () => void) => {
    cancelSilence();
    cancelSilence = platform.setTimer(otherwise, ms);
  };
  /** What a tab with the stream hears: the others' questions. Timers of hidden tabs are slow, messages are not. */
  const answer = (message: Message) => {
    if (message === 'ask') post(last);
    else if (message === 'ping') post({});
    else return;
    isFollowed = true;
  };

  const hear = (message: Message) => {
    if (message === 'end') throw new Error('the stream of the tab that holds it broke');
    if (message === 'ask' || message === 'ping') return;
    // All tabs spread, lest each of them asks.
    expectSign(SILENCE_MS * (1 + platform.random() / 4), () => ask('ping'));
    if (!isOpen && 'revision' in message) {
      isOpen = true;
      events.onOpen(message.revision);
    }
    if ('data' in message) events.onFrame(message.data, message.revision);
  };

  const lead = async () => {
    isLeading = true;
    cancelSilence();
    try {
      await own(target, controller, {
        ...events,
        onOpen: (revision) => {
          last = { revision };
          post(last);
          events.onOpen(revision);
        },
        onFrame: (data, revision) => {
          last = { revision, data };
          post(last);
          events.onFrame(data, revision);
        },
      });
    } finally {
      hasEnded = true;
      if (!signal.aborted) post('end');
    }
  };

  const onVisibility = () => {
    if (!document?.hidden) {
      if (channel && !isLeading) ask('ask');
    } else if (!channel || (isLeading && isFollowed)) controller.abort(left);
  };
  const onLeave = () => {
    isAway = true;
    controller.abort(left);
  };
  const onReturn = () => {
    if (!channel || isLeading) controller.abort(left);
  };

  const window: Partial<EventTarget> = globalThis;
  const onAbort = () => queue.abort(signal.reason);
  signal.addEventListener('abort', onAbort);
  document?.addEventListener?.('visibilitychange', onVisibility);
  document?.addEventListener?.('resume', onReturn);
  window.addEventListener?.('online', onReturn);
  window.addEventListener?.('pagehide', onLeave);

  try {
    if (!locks || !channel) {
      await shown(document, signal);
      await own(target, controller, events);
      return;
    }

    channel.onmessage = ({ data }: { readonly data: unknown }) => {
      try {
        (isLeading ? answer : hear)(data as Message); // posted by this very function in another tab
      } catch (thrown) {
        controller.abort(thrown);
      }
    };

    ask('ask');
    await locks.request(name, { signal: queue.signal }, lead).catch((thrown: unknown) => {
      if (queue.signal.reason !== left || signal.aborted) throw thrown;
      return locks.request(name, { steal: true }, lead);
    });
  } catch (thrown) {
    // A lock that was taken from us goes to a tab that could not hear us.
    throw signal.aborted ? signal.reason : isLeading && !hasEnded ? left : thrown;
  } finally {
    cancelSilence();
    channel?.close();
    signal.removeEventListener('abort', onAbort);
    document?.removeEventListener?.('visibilitychange', onVisibility);
    document?.removeEventListener?.('resume', onReturn);
    window.removeEventListener?.('online', onReturn);
    window.removeEventListener?.('pagehide', onLeave);
  }
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
