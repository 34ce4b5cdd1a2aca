import { within } from './waiting.ts';

/** The output of a process, as it arrives. */
export class ProcessLog {
  /** Everything so far. */
  text = '';
  #onMore: (() => void) | undefined;

  /** Reads an output of the process until it ends. */
  async read(stream: ReadableStream<Uint8Array>): Promise<void> {
    const decoder = new TextDecoder();
    for await (const bytes of stream) {
      this.text += decoder.decode(bytes, { stream: true });
      this.#onMore?.();
    }
  }

  /**
   * The `url` of the log line whose `msg` is `listening`, in JSON or for people, as soon as it is there. Rejects when the
   * process exits first or `timeoutMs` pass.
   */
  async listeningUrl(exited: Promise<number>, timeoutMs: number): Promise<string> {
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    const look = () => {
      const url = findListeningUrl(this.text);
      if (url !== undefined) resolve(url);
    };
    this.#onMore = look;
    look();
    void exited.then((code) => reject(new Error(`it exited with code ${code}`)));
    try {
      return await within('the process says where it listens', promise, timeoutMs);
    } finally {
      this.#onMore = undefined;
    }
  }
}

function findListeningUrl(text: string): string | undefined {
  const [, forPeople] = /^[\d:]+ info +listening url=(\S+)/m.exec(text) ?? [];
  if (forPeople !== undefined) return forPeople.replace(/\/$/, '');
  for (const line of text.split('\n')) {
    if (!line.includes('"listening"')) continue;
    try {
      const entry: unknown = JSON.parse(line);
      if (typeof entry === 'object' && entry !== null && 'url' in entry && typeof entry.url === 'string') {
        return entry.url.replace(/\/$/, '');
      }
    } catch {
      // Half a line, or a banner that happens to hold the word: the next line may be the one.
    }
  }
  return undefined;
}
