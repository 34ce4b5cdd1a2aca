import { FlagsError } from '../errors.ts';
import { isRecord, type ParsedFlags, readFlags } from '../flags.ts';
import { abortable, readJson, toSafeError } from '../request.ts';
import type { Loaded } from '../rest.ts';
import type { Target } from '../target.ts';
import { isOlder, POINTER, type Pointer, readPointer } from './pointer.ts';

/** While publishing works, the pointer is confirmed at least this often. */
const CHECK_MS = 60_000;

/** The files of one environment. */
export interface PublishedSource {
  /** Loads what the pointer names, unless that is `known`, the name of an object. Throws a `FlagsError`. */
  load(controller: AbortController, known?: string | null): Promise<Loaded>;
  /** Milliseconds since a node last confirmed that a revision, which was loaded from here, is the newest. */
  ageMs(revision: number | undefined): number | undefined;
}

/** A pointer, and when this note of a node was first seen here. */
interface Sight {
  readonly pointer: Pointer;
  readonly seenAt: number;
}

/**
 * Creates a source for the folder at `target.baseUrl`. It sends no header of the target's, and follows redirects. What it has seen
 * is never replaced by something older, whichever cache answers. (Spec: S18.5)
 */
export function createPublishedSource(target: Target): PublishedSource {
  const { platform, pollIntervalMs, staleAfterMs } = target;
  const staleAge = CHECK_MS + pollIntervalMs + staleAfterMs;
  /** The last answer for the pointer, for the next one that says that nothing has changed. */
  let answer: { readonly etag: string; readonly pointer: Pointer } | undefined;
  let newest: Sight | undefined;
  /** What was loaded last, and what was loaded last and taken: the flags at hand are of one of them. */
  let offered: Sight | undefined;
  let taken: Sight | undefined;
  /** By how much the clock of the caches is ahead of this one. */
  let aheadMs = 0;
  /** A map that has been loaded, and may have to be offered again. */
  let loaded: { readonly object: string; readonly parsed: ParsedFlags } | undefined;

  const ageOf = ({ pointer, seenAt }: Sight) =>
    Math.max(
      0,
      platform.wallClock() + aheadMs - Date.parse(pointer.checkedAt),
      // Whatever the clocks say, it is at least as old as this.
      platform.now() - seenAt,
    );

  const send = async (name: string, controller: AbortController, init: RequestInit) => {
    const { signal } = controller;
    const cancel = platform.setTimer(
      () => controller.abort(new FlagsError('timeout', 'no answer in time')),
      target.requestTimeoutMs,
    );
    try {
      const request = platform.fetch(`${target.baseUrl}/${name}`, { ...init, signal });
      return await abortable(request, signal);
    } finally {
      cancel();
    }
  };

  /** Reads the pointer. `isAgain`: past every cache that heeds the request. */
  const askPointer = async (controller: AbortController, isAgain: boolean): Promise<Pointer> => {
    // Browsers keep the answer and its tag themselves. A header of ours would cost them another request, for CORS.
    const known = isAgain || isInBrowser() ? undefined : answer;
    const response = await send(POINTER, controller, {
      ...(known && { headers: { 'If-None-Match': known.etag } }),
      ...(isInBrowser() && { cache: isAgain ? 'reload' : 'no-cache' }),
    });

    const { status, headers } = response;
    if (status !== 200 && !(known && status === 304)) throw await refusalOf(target, response);
    const serverMs = Date.parse(headers.get('Date') ?? '') + Number(headers.get('Age')) * 1_000;
    aheadMs = serverMs ? serverMs - platform.wallClock() : 0;
    if (known && status === 304) return known.pointer;

    const pointer = readPointer(await readJson(target, response, controller));
    const etag = headers.get('ETag');
    answer = etag ? { etag, pointer } : undefined;
    return pointer;
  };

  /** Reads a map; `undefined` if it is not there. */
  const askObject = async (object: string, controller: AbortController) => {
    const response = await send(object, controller, {});
    if (isMissing(response)) return undefined;
    if (response.status !== 200) throw await refusalOf(target, response);
    const body = await readJson(target, response, controller);
    const isOurs = isRecord(body) && body.environment === target.environment;
    return readFlags(isOurs && body.flags);
  };

  const load = async (
    controller: AbortController,
    known: string | null | undefined,
    isAgain: boolean,
  ): Promise<Loaded> => {
    const pointer = await askPointer(controller, isAgain);
    const { object } = pointer;
    const isOld = !!newest && isOlder(pointer, newest.pointer);
    const isRepeated = pointer.checkedAt === newest?.pointer.checkedAt;
    if (!newest || !isOld)
      newest = { pointer, seenAt: newest && isRepeated ? newest.seenAt : platform.now() };

    const sight = newest;
    const freshMs = staleAge - ageOf(sight);
    // An old pointer says nothing of the flags at hand, which may be older than the newest one, too.
    const revision = isOld ? undefined : pointer.revision;
    const outcome = { revision, isCurrent: !isOld && freshMs > 0, freshMs };
    if (offered?.pointer.object === known) taken = offered;
    if (!isOld && object === known) offered = sight;
    if (isOld || object === known) {
      loaded = undefined;
      return { ...outcome, parsed: undefined, etag: known ?? null };
    }

    if (loaded?.object !== object) {
      const parsed = await askObject(object, controller);
      // A cache had an old pointer, and what that names was removed.
      if (!parsed && !isAgain) return await load(controller, known, true);
      if (!parsed) throw new FlagsError('invalid_response', `${object} is not there`);
      loaded = { object, parsed };
    }
    offered = sight;
    return { ...outcome, parsed: loaded.parsed, etag: object };
  };

  return {
    ageMs: (revision) => {
      // A pointer alone says nothing of the flags at hand: its object may not have come yet, or not be believed.
      const sight = offered?.pointer.revision === revision ? offered : taken;
      return sight && ageOf(sight);
    },
    load: async (controller, known) => {
      try {
        return await load(controller, known, false);
      } catch (thrown) {
        // Here, because the address is this one.
        throw toSafeError(target, thrown, 'network_error');
      }
    },
  };
}

/** Whether this is a page or a worker of one. */
function isInBrowser(): boolean {
  // Only pages and their workers have it.
  const { origin } = (globalThis as { location?: { origin?: string } }).location ?? {};
  return !!origin?.startsWith('http');
}

/** Whether a storage says that a file is not there: some do not say it to strangers. */
function isMissing({ status }: Response): boolean {
  return status === 404 || status === 403 || status === 410;
}

async function refusalOf(target: Target, response: Response): Promise<FlagsError> {
  response.body?.cancel().catch(() => {}); // it says nothing that is needed
  const { describeRefusal } = await import('../refusal.ts');
  const [code, message, details] = describeRefusal(target, response, undefined);
  return isMissing(response)
    ? new FlagsError('environment_not_found', `it is not published (${response.status})`, details)
    : new FlagsError(code, message, details);
}
