#!/usr/bin/env bun
/** `bun run simulate`: histories of the read plane in virtual time. */
import { parseArgs } from 'node:util';
import { plant, plantNamed, runPlants } from './planting.ts';
import { PLANTS } from './plants.ts';
import { FAULT_KINDS, type Fault, MODES } from './weather.ts';

const HELP = `bun run simulate [options]

  --seed <n>         the first seed; default random
  --histories <n>    how many histories, each with the next seed; default: as many as --minutes allows
  --minutes <n>      how long to go on; default 1
  --mode <mode>      ${MODES.join(', ')}; default: as each seed chooses
  --only <list>      only these faults, separated by commas: ${FAULT_KINDS.join(', ')}
  --followers <n>    so many relays more, in two tiers: 2000 take a minute and more for a history
  --weather <json>   these faults instead of drawn ones
  --log              print what the processes logged in histories that fail
  --plant <name>     break one line of the product first, and stop at the first history that fails;
                     "all" tries each: ${PLANTS.map(({ name }) => name).join(', ')}
`;

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    histories: { type: 'string' },
    minutes: { type: 'string', default: '1' },
    mode: { type: 'string' },
    only: { type: 'string' },
    followers: { type: 'string', default: '0' },
    weather: { type: 'string' },
    log: { type: 'boolean', default: false },
    plant: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});

if (values.help) process.stdout.write(HELP);
else if (values.plant === 'all') process.exitCode = await runPlants(Number(values.histories ?? 100));
else {
  if (values.plant !== undefined) plant(plantNamed(values.plant));
  // Only now, so that it gets the planted line.
  const { simulateMany } = await import('./many.ts');
  const { seed, histories, mode, only, weather } = values;
  process.exitCode = await simulateMany({
    seed: Number(seed ?? Math.floor(Math.random() * 1e9)),
    histories: Number(histories ?? (weather === undefined ? Number.POSITIVE_INFINITY : 1)),
    minutes: Number(values.minutes),
    followers: Number(values.followers),
    ...(mode === undefined ? {} : { mode: oneOf(MODES, mode) }),
    ...(only === undefined ? {} : { kinds: only.split(',').map((name) => oneOf(FAULT_KINDS, name)) }),
    ...(weather === undefined ? {} : { faults: JSON.parse(weather) as readonly Fault[] }),
    isLogged: values.log,
    isPlanted: values.plant !== undefined,
  });
}

function oneOf<Name extends string>(names: readonly Name[], name: string): Name {
  const found = names.find((each) => each === name);
  if (found === undefined) throw new Error(`there is no ${name}: choose among ${names.join(', ')}`);
  return found;
}
