import type { ReactNode } from 'react';
import { Page } from '../../components/page.tsx';
import { AppearanceForm } from './appearance-form.tsx';
import { PasswordForm } from './password-form.tsx';
import { Profile } from './profile.tsx';
import { SignOutSection } from './sign-out-section.tsx';

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
