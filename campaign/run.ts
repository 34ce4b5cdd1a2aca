#!/usr/bin/env bun
/** `bun run campaign`: writes, reads and breaks a fleet for minutes and judges what was recorded. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { type CampaignOptions, runCampaign } from './campaign.ts';
import { checkHistory } from './checker/check-history.ts';
import { buildClients } from './client-reader.ts';
import { ENGINES, type Engine } from './fleet.ts';
import { PATRONI } from './patroni.ts';
import { PGBOUNCER } from './pgbouncer.ts';
import { summarise } from './summary.ts';

const HELP = `bun run campaign [options]

  --engine <name> postgres (three nodes), sqlite (one node), sqlite-shared (three nodes on one file),
                  workers (one node with three workers, on PostgreSQL), sqlite-workers (the same on SQLite);
                  relay (a node and two relays in a row), relay-tree (two nodes, and relays with workers and
                  two upstreams each, whose token is replaced), balancer (two nodes, and relays that a load
                  balancer moves between them), standby (nodes on a standby that is cut off), cold-start (nodes that start without PostgreSQL),
                  failover (a primary and its synchronous standby), pooler (PgBouncer, if it is installed),
                  published (nodes that publish to a storage, and its readers),
                  patroni and patroni-async (three servers that Patroni and etcd keep, if they are installed);
                  default all of them, one after the other
  --seconds <n>   how long faults happen; default 600 for PostgreSQL, and a fifth of it for the others
  --rate <n>      writes per second; default 60
  --streams <n>   streams per node; default 12
  --seed <n>      repeats a plan; default random
  --faults <list> only these kinds, separated by commas, in this order; '' for none
  --clients       a program of each language's client reads too, where its tools are installed
  --logs <folder> keep what the nodes wrote
`;

const { values } = parseArgs({
  options: {
    engine: { type: 'string' },
    seconds: { type: 'string', default: '600' },
    rate: { type: 'string', default: '60' },
    streams: { type: 'string', default: '12' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 1e9)) },
    faults: { type: 'string' },
    clients: { type: 'boolean', default: false },
    logs: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});

if (values.help) say(HELP);
else process.exitCode = await run();

async function run(): Promise<number> {
  const engines = values.engine === undefined ? ENGINES : [engineOf(values.engine)];
  let failed = 0;
  let leftOut = 0;
  const clients = values.clients ? await buildClients((line) => say(`${line}\n`)) : [];
  for (const engine of engines) {
    const missing = missingFor(engine);
    if (missing !== undefined) {
      say(`\n${engine}: left out, because ${missing} is not installed\n`);
      leftOut += 1;
      continue;
    }
    const seconds = Number(values.seconds) / (values.engine === undefined && engine !== 'postgres' ? 5 : 1);
    failed += await runOne({
      drillsRestore: true,
      engine,
      clients,
      seconds,
      seed: Number(values.seed),
      rate: Number(values.rate),
      streams: Number(values.streams),
      ...(values.faults === undefined
        ? {}
        : { faults: values.faults.split(',').filter((kind) => kind !== '') }),
      tell: (line) => say(`  ${line}\n`),
    });
  }
  say(`\n${engines.length - leftOut - failed} passed, ${failed} failed\n`);
  return failed === 0 ? 0 : 1;
}

/** Returns 1 for a campaign that found violations or could not be carried out, else 0. */
async function runOne(options: CampaignOptions): Promise<0 | 1> {
  say(`\n${options.engine}: ${options.seconds} s, seed ${options.seed}\n`);
  const result = await runCampaign(options).catch((error: unknown) => {
    say(`\nnot carried out: ${error instanceof Error ? error.message : error}\n`);
  });
  if (result === undefined) return 1;
  const { history, faults, logs, afterwards } = result;
  if (values.logs !== undefined) keepLogs(values.logs, options.engine, logs);
  const violations = [...checkHistory(history), ...afterwards];
  say(`\n${summarise(history, faults, violations)}\n`);
  return violations.length === 0 ? 0 : 1;
}

function keepLogs(folder: string, engine: string, logs: ReadonlyMap<string, string>): void {
  mkdirSync(folder, { recursive: true });
  for (const [node, text] of logs) writeFileSync(`${folder}/${engine}-${node}.log`, text);
}

/** A program that this engine needs and this machine lacks. */
function missingFor(engine: Engine): string | undefined {
  if (engine === 'pooler' && PGBOUNCER === null) return 'pgbouncer';
  const needsPatroni = engine === 'patroni' || engine === 'patroni-async';
  return needsPatroni && PATRONI === undefined ? 'patroni, etcd or postgresql' : undefined;
}

function engineOf(name: string): Engine {
  const engine = ENGINES.find((each) => each === name);
  if (engine === undefined) throw new Error(`--engine must be one of ${ENGINES.join(', ')}, not ${name}`);
  return engine;
}

function say(text: string): void {
  process.stdout.write(text);
}
