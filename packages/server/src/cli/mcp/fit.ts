/** Most bytes of an answer: hosts cut long ones, and every byte costs the agent attention. */
export const MAX_ANSWER_BYTES = 8 * 1024;

/** What is kept of an answer, tried in turn until it fits: characters of a text, items of a list, members of a record. */
const STEPS = [
  { text: 1024, items: 100, members: 100 },
  { text: 300, items: 50, members: 50 },
  { text: 120, items: 20, members: 20 },
  { text: 60, items: 8, members: 12 },
  { text: 40, items: 3, members: 6 },
] as const;

/** How deep an answer may be; what is below is left out. */
const MAX_DEPTH = 12;

type Step = (typeof STEPS)[number];

/**
 * An answer as JSON of at most {@link MAX_ANSWER_BYTES}: long texts are cut, then long lists and records, and `shortened` says so.
 * The one place that every answer passes.
 */
export function fitAnswer(answer: object): string {
  for (const step of STEPS) {
    const cuts = { count: 0 };
    const kept = shorten(answer, { step, cuts, depth: 0 });
    const note = { shortened: 'Long texts and lists are cut. Ask for less, or read the rest with the CLI.' };
    // The first is an object, because an object was given.
    const text = JSON.stringify(cuts.count === 0 ? kept : { ...(kept as object), ...note });
    if (Buffer.byteLength(text) <= MAX_ANSWER_BYTES) return text;
  }
  return JSON.stringify({ shortened: 'The answer is too long to be shown. Read it with the CLI.' });
}

/** Whether an answer fits with no more than its longest texts cut. */
export function fits(answer: object): boolean {
  const kept = shorten(answer, { step: STEPS[0], cuts: { count: 0 }, depth: 0 });
  return Buffer.byteLength(JSON.stringify(kept)) <= MAX_ANSWER_BYTES - ROOM_FOR_NOTE;
}

/** What the note about cuts takes, in bytes. */
const ROOM_FOR_NOTE = 128;

interface Cutting {
  readonly step: Step;
  readonly cuts: { count: number };
  readonly depth: number;
}

function shorten(value: unknown, { step, cuts, depth }: Cutting): unknown {
  if (typeof value === 'string') {
    if (value.length <= step.text) return value;
    cuts.count++;
    return `${value.slice(0, step.text)}… (${value.length} characters)`;
  }
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= MAX_DEPTH) {
    cuts.count++;
    return '…';
  }

  const below = { step, cuts, depth: depth + 1 };
  if (Array.isArray(value)) {
    if (value.length > step.items) cuts.count++;
    return value.slice(0, step.items).map((each) => shorten(each, below));
  }
  const members = Object.entries(value).filter(([, each]) => each !== undefined);
  if (members.length > step.members) cuts.count++;
  // `fromEntries` makes own members also of names such as `__proto__`.
  return Object.fromEntries(
    members.slice(0, step.members).map(([name, each]) => [name, shorten(each, below)]),
  );
}
