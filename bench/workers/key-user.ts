import { AnswerCounter } from '../answer-counter.ts';
import { rawRequest } from '../raw-request.ts';
import { serveCommands } from '../worker-commands.ts';

/** A read to be sent once with every secret. */
export interface KeyUsePlan {
  readonly url: string;
  readonly secrets: readonly string[];
}

/** The commands of this worker. */
export type KeyUserCommands = { run(plan: KeyUsePlan): Promise<number> };

serveCommands({ run } satisfies KeyUserCommands);

const CONNECTIONS = 32;

/** Returns how many reads were answered; rejects when one is refused. */
async function run({ url, secrets }: KeyUsePlan): Promise<number> {
  let next = 0;
  let answered = 0;
  const send = async (): Promise<void> => {
    const connection = await connect(url);
    for (let index = next++; index < secrets.length; index = next++) {
      await connection.ask(rawRequest({ url, headers: { 'X-Service-Key': secrets[index] ?? '' } }));
      answered++;
    }
    connection.close();
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, send));
  return answered;
}

async function connect(url: string) {
  const { hostname, port } = new URL(url);
  const counter = new AnswerCounter();
  let waiting = Promise.withResolvers<void>();

  const socket = await Bun.connect({
    hostname,
    port: Number(port),
    socket: {
      data(_socket, chunk) {
        try {
          if (counter.take(chunk) > 0) waiting.resolve();
        } catch (error) {
          waiting.reject(error);
        }
      },
      close: () => waiting.reject(new Error('the connection was closed')),
    },
  });

  return {
    ask: (request: Uint8Array): Promise<void> => {
      waiting = Promise.withResolvers();
      socket.write(request);
      return waiting.promise;
    },
    close: () => {
      waiting.promise.catch(() => {
        // It is ours to close now.
      });
      socket.terminate();
    },
  };
}
