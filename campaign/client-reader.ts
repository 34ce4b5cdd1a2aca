import { join } from 'node:path';
import { startTcpProxy, type TcpProxy, within } from '@halyard/testing';
import { CLIENTS, prepareClient } from '../interop/clients.ts';
import { toolEnvironment } from '../interop/languages.ts';
import type { PreparedProgram } from '../interop/programs.ts';
import { ProviderProgram, type WatchedFlag } from '../interop/protocol.ts';
import type { Chance } from '../simulation/chance.ts';
import type { ClientSighting } from './checker/history.ts';
import { now } from './clock.ts';
import { COUNTER, type Place, type World } from './world.ts';

/** How often the load balancer chooses another node for new connections. */
const CHOOSES_EVERY_MS = 250;

/** A program with one of our client libraries, built and ready to start. */
export interface ClientProgram {
  /** Of the library. */
  readonly name: string;
  readonly command: readonly string[];
  readonly at: PreparedProgram;
}

/**
 * Builds the programs of our client libraries, that of JavaScript included. Tells of each one that this machine cannot build,
 * and leaves it out.
 */
export async function buildClients(tell: (line: string) => void): Promise<readonly ClientProgram[]> {
  const built = [javascriptClient()];
  for (const client of CLIENTS) {
    const at = await prepareClient(client);
    if (typeof at === 'string') tell(`no reader of ${client.folder}: ${at}`);
    else built.push({ name: client.folder, command: client.run, at });
  }
  return built;
}

/** The program of `@halyard/client`, which needs no building. */
export function javascriptClient(): ClientProgram {
  const at = { cwd: join(import.meta.dir, '../interop/halyard'), env: toolEnvironment() };
  return { name: '@halyard/client', command: [process.execPath, 'main.mjs'], at };
}

/**
 * A program that follows an environment with a client library, through a load balancer that leads each new connection to any
 * node. It records what the client shows.
 */
export class ClientReader implements AsyncDisposable {
  readonly name: string;
  readonly place: Place;
  readonly #program: ProviderProgram;
  readonly #balancer: TcpProxy;
  readonly #timer: Timer;
  readonly #record: (sighting: ClientSighting) => void;
  #last: ClientSighting | undefined;

  private constructor(
    name: string,
    place: Place,
    world: World,
    { program, balancer }: { readonly program: ProviderProgram; readonly balancer: TcpProxy },
  ) {
    this.name = name;
    this.place = place;
    this.#program = program;
    this.#balancer = balancer;
    this.#record = world.recorder.openClient(name, place.name);
    const random = world.random.fork();
    this.#timer = setInterval(() => balancer.lead({ port: anyPort(world, random) }), CHOOSES_EVERY_MS);
  }

  /** Starts a program, and waits until its client has the first map. */
  static async start(
    { name, command, at }: ClientProgram,
    place: Place,
    world: World,
  ): Promise<ClientReader> {
    const balancer = await startTcpProxy({ port: anyPort(world, world.random.fork()) });
    const { program } = await ProviderProgram.start(command, at).catch(async (error: unknown) => {
      await balancer.close();
      throw error;
    });
    const reader = new ClientReader(`a program with ${name}`, place, world, { program, balancer });
    try {
      await reader.#follow();
      return reader;
    } catch (error) {
      await reader[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** The revision of the last map that the client told of. */
  get reached(): number | undefined {
    return this.#last?.revision;
  }

  /** Ends the program. Safe to call twice. */
  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    await this.#program[Symbol.asyncDispose]();
    await this.#balancer.close();
  }

  async #follow(): Promise<void> {
    const { environment, key } = this.place;
    const base = `http://127.0.0.1:${this.#balancer.port}/environments/${environment}`;
    await this.#program.connect(base, { 'X-API-Key': key });

    const { promise: hasMap, resolve } = Promise.withResolvers<void>();
    await this.#program.watch(COUNTER, (flag) => {
      this.#see(flag);
      resolve();
    });
    await within(`${this.name} has a map`, hasMap);
  }

  #see({ value, revision }: WatchedFlag): void {
    const sighting = { at: now(), revision, ...(typeof value === 'number' && { writeId: value }) };
    this.#last = sighting;
    this.#record(sighting);
  }
}

/** The port of a node, running or not. */
function anyPort({ fleet }: World, random: Chance): number {
  return Number(new URL(random.pick(fleet.nodes).url).port);
}
