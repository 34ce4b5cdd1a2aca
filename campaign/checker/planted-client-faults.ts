import type { ClientSighting } from './history.ts';
import type { PlantedFault } from './planted-faults.ts';
import { missing, type Plant, pickFrom, replaced } from './planting.ts';

/** Changes the sightings of a client that has at least so many. */
function inClient(
  least: number,
  change: (sightings: readonly ClientSighting[], choice: number) => readonly ClientSighting[],
): Plant {
  return (history, choice) => {
    const clients = history.clients ?? [];
    const view = pickFrom(clients, choice, ({ sightings }) => sightings.length >= least);
    if (view === undefined) return undefined;
    const sightings = change(view.sightings, choice);
    return { ...history, clients: replaced(clients, view, { ...view, sightings }) };
  };
}

/** Ends the record ten minutes later, when every change is overdue. */
function muchLater(plant: Plant): Plant {
  return (history, choice) => {
    const spoiled = plant(history, choice);
    return spoiled && { ...spoiled, endedAt: history.endedAt + 600_000 };
  };
}

/** Every kind of fault of a client library that the checker must catch. */
export const CLIENT_FAULTS: readonly PlantedFault[] = [
  {
    name: 'a client goes back to an older map',
    caughtAs: ['went-back'],
    plant: inClient(2, (sightings, choice) => [
      ...sightings,
      sightings[choice % (sightings.length - 1)] ?? missing(),
    ]),
  },
  {
    name: 'a client says a revision that was never made',
    caughtAs: ['phantom'],
    plant: inClient(1, (sightings) => [
      ...sightings,
      { at: sightings.at(-1)?.at ?? missing(), revision: 999_999 },
    ]),
  },
  {
    name: 'a client shows what was never written',
    caughtAs: ['phantom'],
    plant: inClient(1, (sightings) => [
      ...sightings,
      { ...(sightings.at(-1) ?? missing()), writeId: 999_999 },
    ]),
  },
  {
    name: 'a client ends without the newest change',
    caughtAs: ['not-converged'],
    plant: inClient(2, (sightings) => sightings.slice(0, -1)),
  },
  {
    name: 'a client shows a change after minutes',
    caughtAs: ['stuck'],
    plant: muchLater(
      inClient(2, (sightings) => {
        const last = sightings.at(-1) ?? missing();
        return [...sightings.slice(0, -1), { ...last, at: last.at + 300_000 }];
      }),
    ),
  },
];
