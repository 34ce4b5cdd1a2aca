/** What a process wrote, as it comes. */
export class ProcessLog {
  /** Everything so far. */
  text = '';
  #listeners: (() => void)[] = [];

  /** Reads an output of the process until it ends. */
  async read(stream: ReadableStream<Uint8Array>): Promise<void> {
    const decoder = new TextDecoder();
    for await (const bytes of stream) {
      this.text += decoder.decode(bytes, { stream: true });
      for (const listener of this.#listeners.splice(0)) listener();
    }
  }

  /**
   * The `url` of the log line whose `msg` is `listening`, as soon as it is there. Rejects when the process exits first
   * or `deadline` (epoch milliseconds) passes.
   */
  async listeningUrl(exited: Promise<number>, deadline: number): Promise<string> {
    let code: number | undefined;
    const gone = exited.then((value) => {
      code = value;
    });
    for (;;) {
      const url = findListeningUrl(this.text);
      if (url !== undefined) return url;
      if (code !== undefined) throw new Error(`it exited with code ${code}`);
      if (Date.now() > deadline) throw new Error('it never said that it listens');
      const more = new Promise<void>((resolve) => this.#listeners.push(resolve));
      await Promise.race([more, gone, Bun.sleep(Math.max(1, deadline - Date.now()))]);
    }
  }
}

function findListeningUrl(text: string): string | undefined {
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
