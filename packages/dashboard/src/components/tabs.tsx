import { type KeyboardEvent, type ReactNode, useId, useRef, useState } from 'react';
import { classNames } from './class-names.ts';

/** One tab and the panel below it. */
export interface Tab {
  /** Its name in the address. */
  readonly name: string;
  readonly label: ReactNode;
  readonly panel: ReactNode;
}

/** The step of each arrow key; Home and End go to the ends. */
const STEPS: Readonly<Record<string, number>> = { ArrowRight: 1, ArrowLeft: -1 };

/**
 * Tabs with one panel each, with the keys that tabs have: arrows, Home and End. A panel is rendered when it is first
 * shown, and then only hidden, so that drafts in it survive.
 */
export function Tabs({
  label,
  tabs,
  selected,
  onSelect,
}: {
  /** Names the row of tabs. */
  label: string;
  tabs: readonly Tab[];
  /** The name of a tab; anything else shows the first. */
  selected: string | undefined;
  onSelect: (name: string) => void;
}) {
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  const current = tabs.find(({ name }) => name === selected) ?? tabs[0];
  const [visited, setVisited] = useState<readonly string[]>([]);
  if (current !== undefined && !visited.includes(current.name)) setVisited([...visited, current.name]);

  function onKeyDown(event: KeyboardEvent): void {
    const at = current === undefined ? -1 : tabs.indexOf(current);
    const step = STEPS[event.key];
    const next =
      step !== undefined
        ? (at + step + tabs.length) % tabs.length
        : { Home: 0, End: tabs.length - 1 }[event.key];
    const tab = next === undefined ? undefined : tabs[next];
    if (tab === undefined) return;

    event.preventDefault();
    onSelect(tab.name);
    list.current?.querySelectorAll<HTMLElement>('[role=tab]')[next ?? 0]?.focus();
  }

  return (
    <>
      <div
        ref={list}
        role="tablist"
        aria-label={label}
        className="mb-4 flex gap-1 overflow-x-auto border-b border-line scroll-edges [--edge:var(--bg)]"
      >
        {tabs.map((tab) => {
          const isSelected = tab === current;

          return (
            <button
              key={tab.name}
              id={`${id}-${tab.name}`}
              type="button"
              role="tab"
              aria-selected={isSelected}
              aria-controls={visited.includes(tab.name) ? `${id}-${tab.name}-panel` : undefined}
              tabIndex={isSelected ? 0 : -1}
              className={classNames(
                '-mb-px flex h-9 items-center gap-1.5 border-b-2 px-3 font-medium whitespace-nowrap focus-visible:-outline-offset-2',
                isSelected ? 'border-accent text-ink' : 'border-transparent text-ink-2 hover:text-ink',
                !isSelected && 'forced-colors:border-[Canvas]',
              )}
              onClick={() => onSelect(tab.name)}
              onKeyDown={onKeyDown}
            >
              {tab.label}
            </button>
          );
        })}
      </div>

      {tabs
        .filter(({ name }) => visited.includes(name))
        .map((tab) => (
          <div
            key={tab.name}
            id={`${id}-${tab.name}-panel`}
            role="tabpanel"
            aria-labelledby={`${id}-${tab.name}`}
            hidden={tab !== current}
          >
            {tab.panel}
          </div>
        ))}
    </>
  );
}
