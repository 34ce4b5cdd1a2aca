import { useMemo } from 'react';
import type { ProjectRecord } from '../../api/types.ts';
import { useStored } from '../../browser/stored.ts';
import { useEnvironmentFilter } from '../../components/environment-filter.tsx';
import { type ColumnChoice, columnsOf, parseChoice } from './column-choice.ts';
import { extraColumnsOf } from './extra-columns.tsx';

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
          added: extraNames(project, true).filter((name) => names.includes(name)),
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
export function hideable(project: ProjectRecord): readonly string[] {
  return [...project.environments.map(({ name }) => name), ...extraNames(project, false)];
}

function extraNames(project: ProjectRecord, isOnRequest: boolean): readonly string[] {
  const columns = extraColumnsOf(project).filter((each) => (each.isOnRequest ?? false) === isOnRequest);
  return columns.map(({ name }) => name);
}
