import { connect } from 'node:net';
import { type AnswerHead, AnswerParser } from './answer-parser.ts';
import { PATIENCE_MS } from './waiting.ts';

/** One answer to raw bytes. */
export interface RawAnswer extends AnswerHead {
  readonly body: Buffer;
  /** The body as UTF-8. */
  readonly text: string;
}

/** What {@link sendRaw} learned. */
export interface RawExchange {
  /** Whole answers, in order; 1xx answers are left out. */
  readonly answers: readonly RawAnswer[];
  /** Everything that came, unparsed. */
  readonly bytes: Buffer;
  /** `closed`: the server ended the connection; `reset`: it tore it down; `open`: it was still open when we left. */
  readonly ended: 'closed' | 'reset' | 'open';
}

/** How {@link sendRaw} waits. */
export interface SendRawOptions {
  /** Stop as soon as this many answers are whole. Without it: when the server closes, or at the time-out. */
  readonly answers?: number;
  /** Stop after so many milliseconds in any case. Default 30,000. */
  readonly timeoutMs?: number;
  /** Milliseconds between two pieces, when `pieces` is a list. Default 0. */
  readonly betweenMs?: number;
}

/**
 * Sends bytes of any kind to the host of `url` over a fresh TCP connection and reads what comes back. Several
 * `pieces` are sent one by one. Nothing is added or corrected: request line, headers and body are the caller's.
 * Rejects when the connection cannot be made or the answer is no HTTP.
 */
export async function sendRaw(
  url: string,
  pieces: string | Uint8Array | readonly (string | Uint8Array)[],
  options: SendRawOptions = {},
): Promise<RawExchange> {
  const { hostname, port } = new URL(url);
  const { promise, resolve, reject } = Promise.withResolvers<RawExchange>();
  const socket = connect({ host: hostname, port: Number(port || 80) });
  const answers: RawAnswer[] = [];
  const received: Buffer[] = [];

  const finish = (ended: RawExchange['ended']): void => {
    clearTimeout(timer);
    socket.destroy();
    resolve({ answers, bytes: Buffer.concat(received), ended });
  };
  const parser = collectAnswers(answers, () => {
    if (answers.length === options.answers) finish('open');
  });
  const timer = setTimeout(() => finish('open'), options.timeoutMs ?? PATIENCE_MS);

  socket.on('data', (bytes: Buffer) => {
    received.push(bytes);
    try {
      parser.push(bytes);
    } catch (cause) {
      clearTimeout(timer);
      socket.destroy();
      reject(new Error('the answer is no HTTP', { cause }));
    }
  });
  socket.on('end', () => {
    parser.end();
    finish('closed');
  });
  socket.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'ECONNRESET' || error.code === 'EPIPE') finish('reset');
    else {
      clearTimeout(timer);
      reject(error);
    }
  });
  socket.on('close', () => finish('closed'));
  socket.on('connect', () => {
    // A write that fails is reported by the socket's own 'error' event.
    void sendPieces(socket, pieces, options.betweenMs ?? 0);
  });

  return await promise;
}

async function sendPieces(
  socket: ReturnType<typeof connect>,
  pieces: string | Uint8Array | readonly (string | Uint8Array)[],
  betweenMs: number,
): Promise<void> {
  const list = typeof pieces === 'string' || pieces instanceof Uint8Array ? [pieces] : pieces;
  for (const [index, piece] of list.entries()) {
    if (index > 0) await Bun.sleep(betweenMs);
    if (!socket.writable) return;
    socket.write(piece);
  }
}

function collectAnswers(answers: RawAnswer[], onAnswer: () => void): AnswerParser {
  let head: AnswerHead | undefined;
  let body: Buffer[] = [];
  return new AnswerParser({
    onHead: (next) => {
      head = next;
      body = [];
    },
    onBody: (bytes) => body.push(bytes),
    onComplete: () => {
      if (head === undefined) return;
      const whole = Buffer.concat(body);
      answers.push({ ...head, body: whole, text: whole.toString('utf8') });
      onAnswer();
    },
  });
}
