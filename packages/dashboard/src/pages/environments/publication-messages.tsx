import type { ReactNode } from 'react';

/** The texts of published environments on the screen "Environments". */
export const messages = {
  title: 'Published environments',
  intro:
    'Nodes write the flags of a published environment to storage, where a CDN serves them. Readers need no key.',
  notPublished: 'not published',
  waiting: 'not written yet',
  waitingWhy: 'Nodes need HALYARD_PUBLISH_URL to write it.',
  published: 'up to date',
  behind: (revisions: number) => `${revisions} ${revisions === 1 ? 'revision' : 'revisions'} behind`,
  writtenAt: (revision: number, when: ReactNode) => (
    <>
      revision {revision}, written {when}
    </>
  ),
  copyPath: (name: string) => `Copy the path of ${name}`,

  // Publishing
  publish: 'Publish',
  publishEnvironment: (name: string) => `Publish ${name}`,
  publishing: (name: string) => ({
    title: `Publish ${name}?`,
    body: (
      <>
        <p>
          <strong>Published flags need no key.</strong> Everyone who knows the address reads all flags of{' '}
          {name} with their values and rollouts, now and after each change.
        </p>
        <p className="mt-2">Publish only what may be in the page of every visitor.</p>
      </>
    ),
    action: 'Publish without a key',
    done: `${name} will be published`,
    failed: `${name} could not be published`,
  }),
  // Withdrawing
  withdraw: 'Withdraw',
  withdrawEnvironment: (name: string) => `Withdraw ${name}`,
  withdrawing: (name: string) => ({
    title: `Withdraw ${name}?`,
    body: (
      <p>
        The files of {name} are removed. Their readers keep the flags that they have, and get no changes.
        Copies elsewhere, such as in a CDN, stay.
      </p>
    ),
    action: 'Withdraw',
    done: `${name} will be withdrawn`,
    failed: `${name} could not be withdrawn`,
  }),
} as const;
