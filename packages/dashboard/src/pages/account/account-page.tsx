import { type ReactNode, useId } from 'react';
import { useOperator, useSession, useSignOut } from '../../api/session.ts';
import type { Role } from '../../api/types.ts';
import { Button } from '../../components/button.tsx';
import { RefusalNote } from '../../components/form.tsx';
import { Page } from '../../components/page.tsx';
import { ROLE_NAMES } from '../../components/permission-fields.tsx';
import { TimeAgo } from '../../components/time-ago.tsx';
import { SINGLE_KEYS } from '../../components/use-shortcut.ts';
import { type Theme, useStoredChoice, useTheme } from '../../shell/preferences.ts';
import { PasswordForm } from './password-form.tsx';

/** The person who is signed in: who they are, their password, how things look, and the way out. */
export function AccountPage() {
  return (
    <Page title="Account">
      <div className="flex max-w-3xl flex-col gap-4">
        <Section title="You">
          <Profile />
        </Section>
        <Section title="Appearance">
          <AppearanceForm />
        </Section>
        <Section title="Password">
          <PasswordForm />
        </Section>
        <Section title="Signing out">
          <SignOutSection />
        </Section>
      </div>
    </Page>
  );
}

function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className="rounded-lg border border-line bg-surface p-4 sm:p-5">
      <h2 className="mb-3 text-base font-semibold">{title}</h2>
      {children}
    </section>
  );
}

const MAY: Readonly<Record<Role, string>> = {
  viewer: 'You see everything and change nothing.',
  editor: 'You change flags, their states and schedules.',
  admin: 'You may do everything.',
};

/** Name, e-mail and role, which administrators change. */
function Profile() {
  const { name, email, role, canChangeProtected } = useOperator();
  return (
    <dl className="grid grid-cols-[auto_1fr] gap-x-6 gap-y-2">
      <Line term="Name">{name}</Line>
      <Line term="E-mail">{email}</Line>
      <Line term="Role">
        {ROLE_NAMES[role]}
        <span className="block text-xs text-ink-3">
          {MAY[role]}{' '}
          {role === 'editor' &&
            (canChangeProtected
              ? 'Protected environments too.'
              : 'Not in protected environments: an administrator can allow it.')}
        </span>
      </Line>
    </dl>
  );
}

function Line({ term, children }: { term: string; children: React.ReactNode }) {
  return (
    <>
      <dt className="text-ink-3">{term}</dt>
      <dd className="min-w-0 break-words">{children}</dd>
    </>
  );
}

/** The way out of this browser, and how to end the others. */
function SignOutSection() {
  const { data: session } = useSession();
  const signOut = useSignOut();
  return (
    <>
      <p className="text-ink-2">
        {session?.expiresAt !== undefined && (
          <>
            This session ends <TimeAgo at={session.expiresAt} /> if you do nothing.{' '}
          </>
        )}
        To sign out in every other browser, change your password.
      </p>
      {signOut.error !== null && (
        <div className="mt-3">
          <RefusalNote error={signOut.error} />
        </div>
      )}
      <Button className="mt-3" disabled={signOut.isPending} onClick={() => signOut.mutate()}>
        Sign out here
      </Button>
    </>
  );
}

const THEMES: readonly (readonly [Theme, string])[] = [
  ['system', 'As the system'],
  ['light', 'Light'],
  ['dark', 'Dark'],
];

const DENSITIES = ['comfortable', 'compact'] as const;
const DENSITY_NAMES = [
  ['comfortable', 'Comfortable'],
  ['compact', 'Compact'],
] as const;

const SINGLE_KEY_NAMES = [
  ['on', 'On'],
  ['off', 'Off'],
] as const;

/** How the dashboard looks in this browser, and whether single keys do anything. */
function AppearanceForm() {
  const [theme, setTheme] = useTheme();
  const [singleKeys, setSingleKeys] = useStoredChoice('single-keys', SINGLE_KEYS, 'on');
  const [density, setDensity] = useStoredChoice('density', DENSITIES, 'comfortable');
  return (
    <div className="flex flex-col gap-4">
      <Choice legend="Theme" choices={THEMES} chosen={theme} onChoose={setTheme} />
      <Choice
        legend="Rows of the flag table"
        choices={DENSITY_NAMES}
        chosen={density}
        onChoose={setDensity}
      />
      <Choice
        legend="Single-key shortcuts, such as n and j"
        choices={SINGLE_KEY_NAMES}
        chosen={singleKeys}
        onChoose={setSingleKeys}
      />
      <p className="text-xs text-ink-3">Kept in this browser.</p>
    </div>
  );
}

function Choice<Value extends string>({
  legend,
  choices,
  chosen,
  onChoose,
}: {
  legend: string;
  choices: readonly (readonly [value: Value, label: string])[];
  chosen: Value;
  onChoose: (value: Value) => void;
}) {
  const name = useId();
  return (
    <fieldset>
      <legend className="mb-1 font-medium">{legend}</legend>
      <div className="flex flex-wrap gap-1.5">
        {choices.map(([value, label]) => (
          <label
            key={value}
            className="flex min-h-8 items-center gap-2 rounded-md border border-line px-2.5 has-checked:border-accent has-checked:bg-accent-soft"
          >
            <input
              type="radio"
              name={name}
              className="size-4 accent-accent"
              checked={chosen === value}
              onChange={() => onChoose(value)}
            />
            {label}
          </label>
        ))}
      </div>
    </fieldset>
  );
}
