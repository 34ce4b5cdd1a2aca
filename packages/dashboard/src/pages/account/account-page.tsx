import type { ReactNode } from 'react';
import { useOperator, useSession, useSso } from '../../api/session.ts';
import { useStoredChoice } from '../../browser/stored.ts';
import { useTheme } from '../../browser/theme.ts';
import { SINGLE_KEYS } from '../../browser/use-shortcut.ts';
import { useSignOut } from '../../components/actions.tsx';
import { Button } from '../../components/button.tsx';
import { classNames } from '../../components/class-names.ts';
import { ChoiceField } from '../../components/field.tsx';
import { lazyPart } from '../../components/lazy-part.ts';
import { Page } from '../../components/page.tsx';
import { SectionPart } from '../../components/parts.tsx';
import { RightsText } from '../../components/permission-fields.tsx';
import { TimeAgo } from '../../components/time-ago.tsx';
import { messages } from './messages.ts';
import { PasswordForm } from './password-form.tsx';

const OwnTokens = lazyPart(() => import('../secrets/own-tokens.tsx'), 'OwnTokens');

/** The screen "Account": profile, appearance, password, access tokens and signing out. */
export function AccountPage() {
  const { signIn } = useOperator();
  return (
    <Page title={messages.title}>
      <div className="flex flex-col gap-4">
        <Section title={messages.profile}>
          <Profile />
        </Section>
        <Section title={messages.appearance}>
          <AppearanceForm />
        </Section>
        {signIn === 'password' && (
          <Section title={messages.password}>
            <PasswordForm />
          </Section>
        )}
        <Section title={messages.tokens} isWide>
          <SectionPart rows={2}>
            <OwnTokens />
          </SectionPart>
        </Section>
        <Section title={messages.signOut}>
          <SignOutSection />
        </Section>
      </div>
    </Page>
  );
}

function Section({
  title,
  isWide = false,
  children,
}: {
  title: string;
  /** A table needs more room than a form. */
  isWide?: boolean;
  children: ReactNode;
}) {
  return (
    <section
      className={classNames('rounded-lg border border-line bg-surface p-4 sm:p-5', !isWide && 'max-w-3xl')}
    >
      <h2 className="mb-3 text-base font-semibold">{title}</h2>
      {children}
    </section>
  );
}

/** Name, e-mail and role, which only administrators can change. */
function Profile() {
  const sso = useSso();
  const operator = useOperator();
  const { name, email, signIn, role, canChangeProtected } = operator;
  return (
    <dl className="grid grid-cols-[auto_1fr] gap-x-6 gap-y-2">
      <Line term={messages.name}>{name}</Line>
      <Line term={messages.email}>{email}</Line>
      <Line term={messages.role}>
        <RightsText rights={operator} />
        <span className="block text-xs text-ink-3">
          {messages.permissions[role]}{' '}
          {role === 'editor' && (canChangeProtected ? messages.withProtected : messages.withoutProtected)}
          {signIn === 'sso' && sso !== undefined && ` ${messages.roleFromGroups(sso.label)}`}
        </span>
      </Line>
    </dl>
  );
}

function Line({ term, children }: { term: string; children: ReactNode }) {
  return (
    <>
      <dt className="text-ink-3">{term}</dt>
      <dd className="min-w-0 break-words">{children}</dd>
    </>
  );
}

/** Signs out here, and explains how to sign out in other browsers. */
function SignOutSection() {
  const { data: session } = useSession();
  const signOut = useSignOut();

  return (
    <>
      <p className="text-ink-2">
        {session?.expiresAt !== undefined && (
          <>
            {messages.sessionEndsBefore}
            <TimeAgo at={session.expiresAt} />.{' '}
          </>
        )}
        {session?.operator?.signIn === 'password' && messages.signOutHint}
      </p>
      <Button className="mt-3" disabled={signOut.isPending} onClick={() => signOut.mutate()}>
        {messages.signOutHere}
      </Button>
    </>
  );
}

const DENSITIES = ['comfortable', 'compact'] as const;

/** The theme, the density and the single-key shortcuts of this browser. */
function AppearanceForm() {
  const [theme, setTheme] = useTheme();
  const [singleKeys, setSingleKeys] = useStoredChoice('single-keys', SINGLE_KEYS, 'on');
  const [density, setDensity] = useStoredChoice('density', DENSITIES, 'comfortable');

  return (
    <div className="flex flex-col gap-4">
      <ChoiceField
        layout="boxes"
        legend={messages.theme}
        choices={messages.themes}
        selected={theme}
        onSelect={setTheme}
      />
      <ChoiceField
        layout="boxes"
        legend={messages.density}
        choices={messages.densities}
        selected={density}
        onSelect={setDensity}
      />
      <ChoiceField
        layout="boxes"
        legend={messages.singleKeys}
        choices={messages.singleKeyChoices}
        selected={singleKeys}
        onSelect={setSingleKeys}
      />
      <p className="text-xs text-ink-3">{messages.storedHere}</p>
    </div>
  );
}
