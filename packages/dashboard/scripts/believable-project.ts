import { BELIEVABLE_FLAGS } from './believable-flags.ts';
import { Person } from './person.ts';

const PROJECT = 'projects/harbour-shop';
const ENVIRONMENTS = ['development', 'staging', 'production'] as const;

/** The project `harbour-shop` and who works on it. */
export interface BelievableProject {
  /** Reads every environment. */
  readonly key: string;
  readonly grace: Person;
  readonly linus: Person;
}

/** Makes the project with flags, people and a schedule. */
export async function makeBelievableProject(
  url: string,
  admin: { readonly email: string; readonly password: string },
): Promise<BelievableProject> {
  const ada = await Person.signIn(url, admin);
  const [grace, linus] = await inviteColleagues(ada);
  await ada.send('POST', 'projects', { body: { name: 'harbour-shop' } });
  for (const { states, ...flag } of BELIEVABLE_FLAGS) {
    const known = ENVIRONMENTS.map((name, index) => [name, states[index]] as const);
    await ada.send('POST', `${PROJECT}/flags`, {
      body: {
        ...flag,
        valueKind: kindOf(states),
        states: Object.fromEntries(known.filter(([, state]) => state !== undefined)),
      },
    });
  }
  const { key } = await ada.send('POST', `${PROJECT}/keys`, {
    body: { name: 'storefront', environments: ENVIRONMENTS },
  });
  await linus.send('POST', `${PROJECT}/schedules`, {
    body: {
      environment: 'production',
      dueAt: new Date(Date.now() + 26 * 3_600_000).toISOString(),
      changes: [{ key: 'price-alerts', state: { enabled: true, rolloutPct: 10 } }],
      note: 'After the press release',
    },
  });
  return { key: String(key), grace, linus };
}

/** A few changes of an ordinary day. */
export async function changeThings({ grace, linus }: BelievableProject): Promise<void> {
  const states = `${PROJECT}/environments`;
  await linus.send('PATCH', `${states}/staging/flags/search-v2`, { body: { rolloutPct: 100 } });
  await grace.send('PATCH', `${states}/production/flags/new-checkout`, {
    body: { rolloutPct: 50 },
    note: 'Conversion holds at 25 %',
  });
  await linus.send('POST', `${states}/production/copy`, {
    body: { from: 'staging', keys: ['recommendations', 'image-avif', 'review-pictures'] },
    note: 'Release 41',
  });
  await grace.send('PATCH', `${states}/production/flags/banner-text`, {
    body: { value: 'Free shipping until Sunday' },
  });
  await grace.send('PATCH', `${states}/production/flags/express-payment`, {
    body: { enabled: true, rolloutPct: 5 },
  });
}

async function inviteColleagues(admin: Person): Promise<[Person, Person]> {
  const rights = {
    role: 'editor',
    canChangeProtected: true,
    password: 'a long sentence to sign in',
  } as const;
  return [
    await admin.invite({ ...rights, email: 'grace@harbour.example', name: 'Grace Hopper' }),
    await admin.invite({ ...rights, email: 'linus@harbour.example', name: 'Linus Pauling' }),
  ];
}

/** The kind of value that a flag's states have. */
function kindOf(states: readonly ({ readonly value?: unknown } | undefined)[]): string {
  const value = states.find((state) => state?.value !== undefined)?.value;
  return value === undefined
    ? 'none'
    : typeof value === 'string'
      ? 'text'
      : typeof value === 'number'
        ? 'number'
        : 'json';
}
