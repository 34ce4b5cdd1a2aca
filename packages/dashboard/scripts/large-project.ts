import { parseArgs } from 'node:util';
import { Person } from './person.ts';

/** How much a large project holds. */
export interface LargeProjectSize {
  readonly environments: number;
  readonly flags: number;
  /** Changes of single states, after the flags were created. */
  readonly changes: number;
}

const PASSWORD = 'a long sentence to sign in';

const FIRST_ENVIRONMENTS = ['development', 'staging', 'production', 'qa', 'production-eu', 'load-test'];
const COLORS = ['gray', 'blue', 'red', 'violet', 'amber', 'teal', 'green', 'pink'];

const COLLEAGUES = [
  'Grace Hopper',
  'Linus Pauling',
  'Margaret Hamilton',
  'Donald Knuth',
  'Barbara Liskov',
  'Edsger Dijkstra',
  'Frances Allen',
  'Tony Hoare',
  'Radia Perlman',
  'Ken Thompson',
  'Adele Goldberg',
];

const AREAS = ['checkout', 'search', 'analytics', 'payments', 'recommendations', 'mail', 'billing', 'maps'];
const SUBJECTS = ['provider-migration', 'rate-limits', 'new-layout', 'cache', 'retry-policy', 'experiment'];
const TAGS = [
  'release',
  'experiment',
  'operations',
  'permanent',
  'mobile',
  'web',
  'compliance',
  'kill-switch',
];
const OWNERS = [
  'Team Checkout',
  'Team Search',
  'Team Data',
  'grace@harbour.example',
  'donald@harbour.example',
];
const DESCRIPTIONS = [
  'Switches reads to the new provider. Remove it when every region has moved and the old contract has ended.',
  'Limits requests per customer. Keep it: support raises the limit during incidents.',
  'The layout that won the last test, for everyone who has not opted out.',
  '',
];

/**
 * Creates a project as large companies have: hundreds of flags with long keys, tags and owners, six or more environments
 * of which a third are protected, twelve people and thousands of changes. Deterministic for a size.
 */
export async function makeLargeProject(
  url: string,
  admin: { readonly email: string; readonly password: string },
  { name, environments, flags, changes }: LargeProjectSize & { readonly name: string },
): Promise<void> {
  const ada = await Person.signIn(url, admin);
  const people = await peopleOf(ada, url);
  await ada.send('POST', 'projects', { body: { name } });
  const places = await environmentsOf(ada, name, environments);
  const keys = Array.from({ length: flags }, (_, index) => keyOf(index));
  await inParallel(keys, (key, index) =>
    pick(people, index).send('POST', `projects/${name}/flags`, {
      body: { key, ...textsOf(index), states: {} },
    }),
  );
  for (const [column, place] of places.entries()) {
    const steps = keys.map((key, row) => ({ key, state: stateOf(row, column) }));
    const known = steps.filter(({ state }) => state !== undefined);
    await ada.send('POST', `projects/${name}/environments/${place}/changes`, {
      body: { changes: known },
      confirmed: place,
    });
  }
  await inParallel(Array.from({ length: changes }), (_, index) => {
    const [place, key] = [pick(places, index * 7), pick(keys, index * 31)];
    return pick(people, index * 5).send('PATCH', `projects/${name}/environments/${place}/flags/${key}`, {
      body: index % 3 === 0 ? { rolloutPct: (index * 13) % 101 } : { enabled: index % 2 === 0 },
      confirmed: place,
      ...(index % 11 === 0 ? { note: `Ticket ${1_000 + index}` } : {}),
    });
  });
}

/** Key, tags and texts of a flag: short ones and long ones, as they are in practice. */
function keyOf(index: number): string {
  const [area, subject] = [pick(AREAS, index), pick(SUBJECTS, index * 5)];
  const number = String(index).padStart(3, '0');
  return index % 4 === 0 ? `${area}-${number}` : `${area}-${subject}-for-returning-customers-${number}`;
}

function textsOf(index: number): Record<string, unknown> {
  const tags = Array.from({ length: index % 4 }, (_, step) => pick(TAGS, index + step * 3));
  return { description: pick(DESCRIPTIONS, index), tags: [...new Set(tags)], owner: pick(OWNERS, index * 2) };
}

/** On, off, partly rolled out, with a value of a few bytes or a kilobyte, or not set. */
function stateOf(row: number, column: number): Record<string, unknown> | undefined {
  const kind = (row * 7 + column * 3) % 9;
  if (kind === 8 && column > 0) return undefined;
  const enabled = (row + column) % 3 !== 0;
  if (kind < 3) return { enabled };
  if (kind < 5) return { enabled, rolloutPct: [5, 25, 33.333, 50, 90][(row + column) % 5] };
  if (kind === 5) return { enabled, value: row * 10 };
  if (kind === 6) return { enabled, value: `variant-${pick(['a', 'b', 'control'], row + column)}` };
  const hosts = Array.from({ length: 12 }, (_, index) => ({
    host: `eu-${index}.harbour.example`,
    weight: index,
  }));
  return { enabled, rolloutPct: 25, value: { provider: 'northwind', limit: row, hosts } };
}

async function environmentsOf(ada: Person, project: string, count: number): Promise<string[]> {
  const names = Array.from(
    { length: count },
    (_, index) => FIRST_ENVIRONMENTS[index] ?? `customer-${String(index).padStart(3, '0')}`,
  );
  // A new project has the first three, of which production is protected.
  for (const [index, name] of names.entries()) {
    if (index < 3) continue;
    await ada.send('POST', `projects/${project}/environments`, {
      body: { name, color: pick(COLORS, index), protected: index % 3 === 1 },
    });
  }
  return names;
}

/** Signs in the colleagues; a second project has the same ones. */
async function peopleOf(ada: Person, url: string): Promise<readonly Person[]> {
  const { operators } = (await ada.send('GET', 'operators')) as {
    operators: readonly { readonly email: string }[];
  };
  const known = new Set(operators.map(({ email }) => email));
  const people: Person[] = [ada];
  for (const name of COLLEAGUES) {
    const account = { email: `${name.split(' ')[0]?.toLowerCase()}@harbour.example`, password: PASSWORD };
    const rights = { ...account, name, role: 'editor', canChangeProtected: true } as const;
    people.push(known.has(account.email) ? await Person.signIn(url, account) : await ada.invite(rights));
  }
  return people;
}

function pick<Item>(list: readonly Item[], index: number): Item {
  const item = list[index % list.length];
  if (item === undefined) throw new Error('the list is empty');
  return item;
}

/** How many requests are under way at a time. */
const AT_ONCE = 8;

async function inParallel<Item>(
  items: readonly Item[],
  run: (item: Item, index: number) => Promise<unknown>,
): Promise<void> {
  let next = 0;
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      while (next < items.length) {
        const index = next++;
        // The index is below the length.
        await run(items[index] as Item, index);
      }
    }),
  );
}

const USAGE =
  'bun packages/dashboard/scripts/large-project.ts <url> --email <e-mail> --password <password> [--name <project>] [--environments 6] [--flags 585] [--changes 3000]';

if (import.meta.main) {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      email: { type: 'string' },
      password: { type: 'string' },
      name: { type: 'string', default: 'harbour' },
      environments: { type: 'string', default: '6' },
      flags: { type: 'string', default: '585' },
      changes: { type: 'string', default: '3000' },
    },
  });
  const [url] = positionals;
  const { email, password, name } = values;
  if (url === undefined || email === undefined || password === undefined) throw new Error(`Usage: ${USAGE}`);
  const [environments, flags, changes] = [values.environments, values.flags, values.changes].map(Number) as [
    number,
    number,
    number,
  ];
  await makeLargeProject(url, { email, password }, { name, environments, flags, changes });
}
