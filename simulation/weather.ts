import { Chance } from './chance.ts';

/** One fault: what happens where, when, and for how long. Drawn before the history begins, so that a list can be shortened. */
export interface Fault {
  readonly kind: FaultKind;
  readonly at: number;
  /** How long it lasts, where it lasts, in milliseconds. */
  readonly ms: number;
  /** Chooses among what is there, modulo its count. */
  readonly where: number;
  /** Another number for the details. */
  readonly how: number;
}

/** Everything that can go wrong, and what operators do meanwhile. */
export const FAULT_KINDS = [
  'hole',
  'slow',
  'reset',
  'half open',
  'slow then dead',
  'kill',
  'power cut',
  'cold start',
  'disk full',
  'disk rots',
  'stop',
  'stop early',
  'pause',
  'database away',
  'sessions lost',
  'wake lost',
  'history lost',
  'pruned',
  'rotate',
  'move',
  'move behind',
  'failover',
  'key revoked',
  'key expires',
  'environment',
  'project',
  'usage switched',
] as const;

export type FaultKind = (typeof FAULT_KINDS)[number];

/**
 * What becomes of the faults. `heals`: in the end everything works again, and every process must. `safety`: nothing is
 * healed, and only what is shown counts. `stays`: some faults stay, and one node and what follows it must work all the same.
 */
export const MODES = ['heals', 'safety', 'stays'] as const;

export type Mode = (typeof MODES)[number];

/** The mode of a seed, where none is asked for: most histories heal. */
export function modeOf(seed: number): Mode {
  const mode = MODES[Math.max(0, (seed % 6) - 3)];
  return mode ?? 'heals';
}

/** The faults of a history: some kinds are more likely than others, and some come together, so that rare ones meet. */
export function drawWeather(
  seed: number,
  seconds: number,
  kinds: readonly FaultKind[] = FAULT_KINDS,
): Fault[] {
  const chance = Chance.of(seed, 'weather');
  const chosen = kinds.filter(() => kinds.length < 4 || chance.happens(0.6));
  const faults: Fault[] = [];
  for (let at = chance.between(2_000, 5_000); at < seconds * 1_000; at += chance.between(200, 6_000)) {
    if (chosen.length === 0) break;
    faults.push(...drawPattern(chance, at, chosen));
  }
  faults.push(...drawRare(Chance.of(seed, 'rare weather'), seconds * 1_000, kinds));
  return faults.filter(({ at }) => at < seconds * 1_000).sort((a, b) => a.at - b.at);
}

/** What takes several things at one moment. Drawn by itself, so that it changes nothing else of a history. */
function drawRare(chance: Chance, ms: number, kinds: readonly FaultKind[]): Fault[] {
  if (kinds.length < FAULT_KINDS.length || chance.happens(0.5)) return [];
  const at = chance.between(3_000, ms);
  const [where, how] = [chance.whole(0, 1_000), chance.next()];

  // Clients hear nothing for long: their link is the first one.
  const what = chance.next();
  if (what < 0.3) return [{ kind: 'hole', at, ms: 30_000, where: 0, how }];

  // A process is stopped while its snapshot is on its way.
  if (what < 0.6) return [{ kind: 'stop early', at, ms: chance.between(50, 2_500), where, how }];

  // A row is lost behind a pooler, and others take its place before any node looks.
  return [
    { kind: 'wake lost', at, ms: 1_500, where, how: 1 },
    { kind: 'history lost', at: at + chance.between(0, 300), ms: 0, where: 2 * where, how: 0.1 },
  ];
}

function drawPattern(chance: Chance, at: number, chosen: readonly FaultKind[]): Fault[] {
  const draw = (kind: FaultKind, from: number, ms = drawMs(chance)): Fault => {
    return { kind, at: from, ms, where: chance.whole(0, 1_000), how: chance.next() };
  };

  const pattern = chance.next();
  const has = (kind: FaultKind) => chosen.includes(kind);
  // Links fail one by one and heal in any order.
  if (pattern < 0.1 && has('hole'))
    return Array.from({ length: 5 }, (_, index) =>
      draw('hole', at + 300 * index, chance.between(500, 8_000)),
    );

  // Several faults in one moment.
  if (pattern < 0.25)
    return Array.from({ length: chance.whole(2, 5) }, () =>
      draw(chance.pick(chosen), at + chance.between(0, 60)),
    );

  // A part of the history is lost while everything comes back.
  if (pattern < 0.35 && has('history lost')) {
    const awayMs = chance.between(500, 6_000);
    return [draw('database away', at, awayMs), draw('history lost', at + awayMs + chance.between(-100, 150))];
  }

  // The same while a relay is led to a node that does not notice.
  if (pattern < 0.39 && has('history lost') && has('move behind'))
    return [draw('move behind', at), draw('history lost', at + chance.between(0, 600))];

  // A process begins on a link that is slow for a moment.
  if (pattern < 0.45 && has('rotate'))
    return [{ ...draw('slow', at, 2_600), how: 0.85 }, draw('rotate', at + 10), draw('kill', at + 20, 30)];

  // A token is used before every node knows it.
  if (pattern < 0.49 && has('rotate') && has('wake lost'))
    return [
      { ...draw('wake lost', at, 2_000), how: 1 },
      { ...draw('rotate', at + 20), how: 0.9 },
    ];

  // A process is stopped in the moment in which it begins.
  if (pattern < 0.51 && has('kill') && has('stop')) {
    const killed = { ...draw('kill', at), ms: 30 };
    return [killed, { ...draw('stop', at + 30 + chance.between(0, 80)), where: killed.where }];
  }
  // A link is slow, and steady: answers come within their limits, and proofs just so.
  if (pattern < 0.56 && has('slow'))
    return [{ ...draw('slow', at, chance.between(5_000, 12_000)), how: chance.between(0.3, 0.6) }];

  return [draw(chance.pick(chosen), at)];
}

function drawMs(chance: Chance): number {
  return chance.happens(0.3) ? chance.between(3_000, 15_000) : chance.between(50, 2_500);
}
