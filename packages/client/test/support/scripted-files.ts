import type { Fetch } from '../../src/platform.ts';
import type { FakePlatform } from './fake-platform.ts';

/** A request for a file. */
export interface SeenFile {
  readonly url: string;
  readonly name: string;
  readonly headers: Headers;
  readonly init: RequestInit;
}

/** The files of a published environment, in memory, as a node writes them. */
export class ScriptedFiles {
  readonly requests: SeenFile[] = [];
  readonly files = new Map<string, string>();
  environmentId = 'environment-2';
  revision = 1;
  flags: Record<string, unknown> = { a: { enabled: true, value: 1 } };
  /** Headers of every answer. */
  headers: Record<string, string> = {};
  /** Answers instead of the files. */
  interfere: (request: SeenFile) => Response | undefined | Promise<Response | undefined> = () => undefined;
  platform: Pick<FakePlatform, 'wallClock'> = { wallClock: () => Date.UTC(2026, 0, 1) };

  readonly fetch: Fetch = async (url, init) => {
    const name = url.slice(url.lastIndexOf('/') + 1);
    const request = { url, name, headers: new Headers(init.headers), init };
    this.requests.push(request);
    const answer = await this.interfere(request);
    if (answer) return answer;

    const text = this.files.get(name);
    if (text === undefined) return new Response('<Error/>', { status: 403 });
    const etag = `"${Bun.hash(text)}"`;
    const isKnown = request.headers.get('If-None-Match') === etag;
    return new Response(isKnown ? null : text, {
      status: isKnown ? 304 : 200,
      headers: { ETag: etag, ...this.headers },
    });
  };

  /** How often a file was asked for. */
  count(name: string): number {
    return this.requests.filter((request) => request.name === name).length;
  }

  /** Writes the flags, as a node does that is current; `ageMs` ago. */
  publish(flags = this.flags, revision = this.revision, ageMs = 0): void {
    this.flags = flags;
    this.revision = revision;
    const object = `${revision}-${Bun.hash(JSON.stringify(flags)).toString(16)}.json`;
    this.files.set(object, JSON.stringify({ environment: 'production', flags }));
    this.files.set(
      'pointer.json',
      JSON.stringify({
        version: 1,
        environmentId: this.environmentId,
        revision,
        checkedAt: new Date(this.platform.wallClock() - ageMs).toISOString(),
        object,
      }),
    );
  }
}
