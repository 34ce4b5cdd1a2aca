import { useEffect, useMemo, useState } from 'react';
import { useLocation } from 'wouter';
import { type SearchHit, useSearchHits } from '../../api/search.ts';
import type { Command } from '../commands.tsx';
import { links } from '../links.ts';

/** How long after the last key the server is asked, in milliseconds. */
const PAUSE_MS = 150;

/** What the server finds in other projects, and what of this one is no flag. */
export function useSearchCommands(project: string | undefined, text: string): readonly Command[] {
  const [, navigate] = useLocation();
  const [asked, setAsked] = useState('');
  useEffect(() => {
    const timer = setTimeout(() => setAsked(text.trim()), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  const { data } = useSearchHits(asked);
  return useMemo(() => {
    if (text.trim() === '') return [];
    // Flags of this project are known already, and projects stand under their own heading.
    const hits = (data ?? []).filter(({ kind, project: place }) =>
      kind === 'flag' ? place !== project : kind !== 'project',
    );
    return hits.map((hit) => ({
      id: `found.${hit.kind}.${hit.project}.${hit.key ?? hit.environment ?? hit.id ?? ''}`,
      title: titleOf(hit),
      group: 'Everywhere',
      run: () => navigate(addressOf(hit)),
    }));
  }, [data, text, project, navigate]);
}

function titleOf({ kind, project, environment, key, name }: SearchHit): string {
  switch (kind) {
    case 'flag':
      return `${key ?? ''} in ${project}`;
    case 'environment':
      return `Environment ${environment ?? ''} of ${project}`;
    case 'key':
      return `Project key ${name ?? ''} of ${project}`;
    case 'project':
      return project;
  }
}

function addressOf({ kind, project, key }: SearchHit): string {
  switch (kind) {
    case 'flag':
      return links.flag(project, key ?? '');
    case 'environment':
      return links.environments(project);
    case 'key':
      return links.keys(project);
    case 'project':
      return links.flags(project);
  }
}
