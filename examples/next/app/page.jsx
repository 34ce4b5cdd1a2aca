import { evaluateAll } from '@halyard/client';
import { Feature } from './feature.jsx';
import { PageFlags } from './page-flags.jsx';
import { flags } from './server-flags.js';

/** Rendered for each request, because it reads the query. Your application knows its user from the session. */
export default async function Page({ searchParams }) {
  const { user = null } = await searchParams;
  await flags.ready();
  return (
    <PageFlags bootstrap={evaluateAll(flags, user)}>
      <Feature />
    </PageFlags>
  );
}
