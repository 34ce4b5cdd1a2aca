/** Takes the steps of the contract's scenarios with our OpenFeature provider for servers and the client below it. */
import { join } from 'node:path';
import { type TemporaryFolder, temporaryFolder, until, within } from '@halyard/testing';
import {
  type Client,
  type EvaluationDetails,
  type FlagValue,
  OpenFeature,
  ProviderEvents,
} from '@openfeature/server-sdk';
import type { OpenOptions, ReadStep, Step } from '../../../../conformance/clients/scenario.ts';
import { createClientOn } from '../../src/client.ts';
import type { FlagsClient } from '../../src/index.ts';
import { HalyardProvider } from '../../src/openfeature/server.ts';
import { type Platform, systemPlatform } from '../../src/platform.ts';
import { fileStorage, keepFlags, storedFlags } from '../../src/store.ts';

/** Where a run is, as the contract server says it. */
export interface RunAddress {
  readonly id: string;
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly environment: string;
}

/** An event of the provider. */
interface SeenEvent {
  readonly type: string;
  readonly keys: readonly string[];
}

/** The methods of OpenFeature's client by type of read; JavaScript has one type of number. */
const METHODS = {
  boolean: 'getBooleanDetails',
  string: 'getStringDetails',
  integer: 'getNumberDetails',
  float: 'getNumberDetails',
  object: 'getObjectDetails',
} as const;

/** One run of a scenario. */
export class ContractSteps implements AsyncDisposable {
  readonly #control: string;
  readonly #run: RunAddress;
  readonly #events: SeenEvent[] = [];
  /** Everything that the client reports and logs. */
  readonly #said: unknown[] = [];
  #folder: TemporaryFolder | undefined;
  #client: FlagsClient | undefined;
  #features: Client | undefined;
  #initialized: Promise<unknown> = Promise.resolve();

  constructor(control: string, run: RunAddress) {
    this.#control = control;
    this.#run = run;
  }

  /** Takes one step. Rejects when it does not hold. */
  async take(step: Step): Promise<void> {
    switch (step.do) {
      case 'open':
        return this.#open(step.options ?? {});
      case 'ready':
        return await this.#ready(step.expect, step.withinMs);
      case 'read':
        return await this.#expectRead(step);
      case 'steady':
        return await this.#expectSteady(step.read, step.forMs);
      case 'status':
        await until(`the status ${step.expect}`, () => this.#opened.status === step.expect, step.withinMs);
        return;
      case 'event':
        return await this.#expectEvent(step);
      case 'act':
        return await this.#act(step.name, step.withinMs);
      case 'close':
        return await this.#client?.close();
      case 'verdict':
        return await this.#verdict();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#client?.close();
  }

  get #opened(): FlagsClient {
    if (!this.#client) throw new Error('a scenario opens a client first');
    return this.#client;
  }

  #open({ timeScale = 1, statePath, stateMaxAgeMs, insecure, bootstrap, ...options }: OpenOptions): void {
    const environment = options.environment ?? this.#run.environment;
    this.#folder ??= statePath ? temporaryFolder() : undefined;
    const storage = this.#folder && fileStorage(join(this.#folder.path, 'flags.txt'));
    const limit = stateMaxAgeMs === undefined ? undefined : { maxAgeMs: stateMaxAgeMs };
    const stored = storage && storedFlags(storage, environment, limit);
    const given = stored?.bootstrap ?? bootstrap;

    const client = createClientOn(scaled(timeScale), {
      ...options,
      apiKey: this.#fill(options.apiKey ?? '{key}'),
      baseUrl: this.#fill(options.baseUrl ?? this.#run.baseUrl),
      environment,
      // `never`: a scenario may give anything as a bootstrap.
      ...(given !== undefined && { bootstrap: given as never }),
      ...(insecure === true && { allowInsecureHttp: true }),
      onError: (error) => this.#said.push(error),
      logger: { warn: (text) => this.#said.push(text), debug: (text) => this.#said.push(text) },
    });
    this.#client = client;
    if (storage) keepFlags(client, storage);

    const domain = `${this.#run.id} ${crypto.randomUUID()}`;
    this.#features = OpenFeature.getClient(domain);
    this.#initialized = OpenFeature.setProviderAndWait(domain, new HalyardProvider(client)).catch(() => {});
    this.#events.length = 0;
    for (const type of Object.values(ProviderEvents))
      this.#features.addHandler(type, (details) => {
        // The union of the events' details has the keys of changes in one member only.
        const { flagsChanged = [] } = (details ?? {}) as { readonly flagsChanged?: readonly string[] };
        this.#events.push({ type, keys: flagsChanged });
      });
  }

  /** A text of a scenario with the run's key and port in it. */
  #fill(text: string): string {
    const { apiKey, baseUrl } = this.#run;
    return text.replace('{key}', apiKey).replace('{port}', new URL(baseUrl).port);
  }

  async #ready(expected: string, withinMs: number): Promise<void> {
    const isSo = async () => (await this.#opened.ready()).status === expected;
    await until(`ready() says ${expected}`, isSo, withinMs);
    await within('the provider is initialized', this.#initialized);
  }

  async #read({
    key,
    type,
    default: fallback,
    targetingKey,
  }: ReadStep): Promise<EvaluationDetails<FlagValue>> {
    // The four methods differ in the type of the default only, which is that of the step.
    const method = METHODS[type] as 'getStringDetails';
    const context = targetingKey === undefined ? {} : { targetingKey };
    return (await this.#features?.[method](key, fallback as string, context)) as EvaluationDetails<FlagValue>;
  }

  /** What differs from the expectation; nothing if the answer is as it should be. */
  async #difference(read: ReadStep): Promise<string | undefined> {
    const details: Record<string, unknown> = { ...(await this.#read(read)) };
    const answer: Record<string, unknown> = {
      ...details,
      errorCode: details.errorCode ?? null,
      metadata: details.flagMetadata,
    };
    const names = Object.keys(read.expect) as (keyof ReadStep['expect'])[]; // its own keys
    const isSame = names.every((name) => Bun.deepEquals(answer[name], read.expect[name]));
    return isSame
      ? undefined
      : `${read.key} is ${JSON.stringify(answer)}, not ${JSON.stringify(read.expect)}`;
  }

  async #expectRead(read: ReadStep): Promise<void> {
    let difference = await this.#difference(read);
    if (difference === undefined) return;
    if (read.withinMs === undefined) throw new Error(difference);
    const look = async () => {
      difference = await this.#difference(read);
      return difference === undefined;
    };
    await until('a read', look, read.withinMs).catch(() => Promise.reject(new Error(difference)));
  }

  async #expectSteady(read: ReadStep, forMs: number): Promise<void> {
    for (const end = performance.now() + forMs; performance.now() < end; await Bun.sleep(5)) {
      const difference = await this.#difference(read);
      if (difference !== undefined) throw new Error(difference);
    }
  }

  async #expectEvent({ expect: { type, keys }, withinMs }: Extract<Step, { do: 'event' }>): Promise<void> {
    const find = () => this.#events.findIndex((seen) => seen.type === type) + 1;
    const count = await until(`the event ${type}`, find, withinMs);

    const seen = this.#events.splice(0, count).at(-1);
    if (keys && !Bun.deepEquals([...(seen?.keys ?? [])].sort(), [...keys].sort()))
      throw new Error(`${JSON.stringify(seen)} instead of ${keys}`);
  }

  async #act(name: string, withinMs: number): Promise<void> {
    const url = `${this.#control}/runs/${this.#run.id}/acts/${name}`;
    const answer = await within(`the act ${name}`, fetch(url, { method: 'POST' }), withinMs);
    if (!answer.ok) throw new Error(`${name}: ${await answer.text()}`);
  }

  async #verdict(): Promise<void> {
    const answer = await fetch(`${this.#control}/runs/${this.#run.id}/verdict`);
    // As README.md of the contract server says; a wrong answer fails here.
    const { ok, problems = [] } = (await answer.json()) as { ok: boolean; problems?: string[] };
    const said = this.#said.map((each) => Bun.inspect(each)).join('\n');
    if (said.includes(this.#run.apiKey)) problems.push('the key is in an error or a line of the log');
    if (!ok || problems.length > 0) throw new Error(problems.join('; '));
  }
}

/** The runtime with a clock that runs 1/`timeScale` times as fast. */
function scaled(timeScale: number): Platform {
  return {
    ...systemPlatform,
    now: () => systemPlatform.now() / timeScale,
    setTimer: (callback, ms, held) => systemPlatform.setTimer(callback, ms * timeScale, held),
  };
}
