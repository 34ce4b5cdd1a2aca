import { useMemo } from 'react';
import type { ProjectRecord } from '../../api/types.ts';
import { useStored } from '../../browser/stored.ts';
import { useEnvironmentFilter } from '../../components/environment-filter.tsx';
import { CHANGED, type ColumnChoice, columnsOf, OWNER, parseChoice, READ } from './column-choice.ts';

/** The columns of a project's flag table, and functions to change them. They outlive the page. */
export function useColumns(project: ProjectRecord) {
  const [text, store] = useStored(`columns.${project.name}`);
  const choice = useMemo(() => parseChoice(text), [text]);
  const [only] = useEnvironmentFilter(project.name);
  const columns = useMemo(() => columnsOf(project, choice, only), [project, choice, only]);
  const actions = useMemo(() => {
    const set = (change: Partial<ColumnChoice>) => store(JSON.stringify({ ...choice, ...change }));
    return {
      /** Shows exactly these columns. */
      show: (names: readonly string[]) =>
        set({
          hidden: hideable(project).filter((name) => !names.includes(name)),
          added: names.includes(OWNER) ? [OWNER] : [],
        }),
      togglePin: (name: string) => {
        const others = choice.pinned.filter((each) => each !== name);
        const isPinned = others.length < choice.pinned.length;
        set({
          pinned: isPinned ? others : [...others, name],
          hidden: choice.hidden.filter((each) => each !== name),
        });
      },
    };
  }, [choice, project, store]);
  return { columns, choice, ...actions };
}

/** The columns of a project that are shown until the person hides them. */
export function hideable({ environments, usageSince }: ProjectRecord): readonly string[] {
  return [...environments.map(({ name }) => name), ...(usageSince === undefined ? [] : [READ]), CHANGED];
}
