/** Server-sent events: how every part of Halyard reads and writes them. */

/** The callbacks of a parser. It throws what they throw. */
export interface SseEvents {
  /** The data of an event and its name: `message`, unless it has one of its own. */
  readonly onData: (data: string, name: string) => void;
  /** A comment, which servers send as a keep-alive. */
  readonly onComment?: (text: string) => void;
  /** The server set the reconnection time, in milliseconds. */
  readonly onRetry?: (ms: number) => void;
  /** How many characters of an unfinished event are kept, after each piece: the place to refuse one without an end. */
  readonly onPending?: (length: number) => void;
}

/**
 * Creates a parser of server-sent events by the rules of the HTML standard: pass it decoded text, in any pieces. It takes
 * time in proportion to the text.
 */
export function createSseParser(events: SseEvents): (text: string) => void {
  let rest = '';
  let data = ''; // with a line feed after each line, as in the standard
  let name = '';
  let endsWithCr = false;

  const take = (line: string) => {
    // `RegExpExecArray`: every line matches.
    const [, field, value = ''] = /^([^:]*):? ?(.*)/s.exec(line) as RegExpExecArray;
    if (field === 'data') data += `${value}\n`;
    else if (field === 'event') name = value;
    else if (field === 'retry' && /^\d+$/.test(value)) events.onRetry?.(Number(value));
    else if (!field) events.onComment?.(value);
  };
  const dispatch = () => {
    // Frames have no event name; an event with another one is for those who ask for it. (Spec: S6.4)
    if (data) events.onData(data.slice(0, -1), name || 'message');
    data = name = '';
  };
  return (piece) => {
    const text = endsWithCr ? piece.replace(/^\n/, '') : piece;
    if (piece) endsWithCr = piece.endsWith('\r');
    rest += text;
    // Only new text is searched, and what was collected is joined once: a long line costs no more in many pieces.
    if (/[\r\n]/.test(text)) {
      const lines = rest.split(/\r\n|[\r\n]/);
      rest = lines.pop() ?? '';
      for (const line of lines) line ? take(line) : dispatch();
    }
    events.onPending?.(rest.length + data.length);
  };
}

/**
 * A comment line, which keeps proxies from closing the connection. The blank line after it ends the block: readers that
 * split the stream at blank lines would otherwise find the comment in front of the next frame's `data:`. (Spec: S12.6)
 */
export const KEEP_ALIVE = ':\n\n';

/** The event without a name that carries `data`: one `data:` line for each line of it. (Spec: S6.2) */
export function frame(data: string): string {
  return `data: ${data.replace(/\r\n|[\r\n]/g, '\ndata: ')}\n\n`;
}

/** The event called `name`, which is a single line, that carries `data`. */
export function event(name: string, data: string): string {
  return `event: ${name}\n${frame(data)}`;
}
